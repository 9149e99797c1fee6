#include <string>

#include "edgewise/data/torch_file.h"
#include "fuzz_support.h"

// libFuzzer fixes the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edgewise;
  fuzzing::allowDataErrors([&] {
    const TorchFile file(FileBytes::own(std::string(fuzzing::asText(data, size))), "fuzz.pt");
    for (const std::string& name : file.names()) {
      fuzzing::allowDataErrors([&] { (void)file.read(name).integers(); });
    }
  });
  return 0;
}
