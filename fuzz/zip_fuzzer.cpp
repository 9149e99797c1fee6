#include <string>

#include "edgewise/data/zip_archive.h"
#include "fuzz_support.h"

// libFuzzer fixes the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edgewise;
  fuzzing::allowDataErrors([&] {
    const ZipArchive archive(fuzzing::asText(data, size), "fuzz.zip");
    for (const std::string& name : archive.names()) {
      (void)isSafeRelativePath(name);
      fuzzing::allowDataErrors([&] { (void)archive.read(name); });
    }
  });
  return 0;
}
