#include "data/feature_arrays.h"
#include "edgewise/data/npy.h"
#include "fuzz_support.h"

// libFuzzer fixes the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edgewise;
  fuzzing::allowDataErrors([&] {
    const NpyArray array = readNpy(fuzzing::asText(data, size), "fuzz.npy");
    fuzzing::allowDataErrors([&] { (void)array.integers(); });
    fuzzing::allowDataErrors([&] { (void)denseFeatures(array); });
  });
  return 0;
}
