#include "edgewise/data/pickle.h"
#include "fuzz_support.h"

// libFuzzer fixes the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edgewise;
  fuzzing::allowDataErrors([&] {
    const PickleDocument document = readPickle(fuzzing::asText(data, size), "fuzz.pkl");
    (void)pickleText(document.root());
    fuzzing::allowDataErrors([&] { (void)pickledArray(document.root(), "root"); });
    if (const auto* mapping = document.root().as<PickleMapping>()) {
      (void)findKey(*mapping, "edge");
    }
  });
  return 0;
}
