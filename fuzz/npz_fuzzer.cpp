#include <string>

#include "edgewise/data/npy.h"
#include "fuzz_support.h"

// libFuzzer fixes the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edgewise;
  fuzzing::allowDataErrors([&] {
    const NpzFile file(FileBytes::own(std::string(fuzzing::asText(data, size))), "fuzz.npz");
    (void)featuresFromNpz(file);
  });
  return 0;
}
