#include "edgewise/util/file.h"
#include "fuzz_support.h"

// The first byte chooses between a gzip stream and a raw DEFLATE stream of a claimed size.
// libFuzzer fixes the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edgewise;
  if (size < 3) {
    return 0;
  }
  const std::string_view rest = fuzzing::asText(data, size).substr(3);
  fuzzing::allowDataErrors([&] {
    if (data[0] == 'g') {
      (void)gunzip(rest, "fuzz.gz");
    } else {
      (void)inflateRaw(rest, data[1] + 256U * data[2], "fuzz.zip");
    }
  });
  return 0;
}
