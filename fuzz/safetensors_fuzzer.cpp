#include <string>

#include "data/safetensors_header.h"
#include "edgewise/data/safetensors.h"
#include "fuzz_support.h"

namespace {

// Finds every tensor by its name and reads each of its bytes; what was read can be written, and
// means the same again.
void use(const edgewise::SafetensorsFile& file) {
  using namespace edgewise;
  SafetensorsHeader header;
  header.metadata = file.metadata();
  std::uint64_t at = 0;
  for (const TensorView& tensor : file.tensors()) {
    invariant(&file.at(tensor.name) == &tensor, "a tensor is found by its name");
    invariant(tensorBytes(tensor.type, tensor.shape) == tensor.bytes.size(), "bytes fill a shape");
    // Volatile, or the reads would be left out.
    volatile std::byte last{};
    for (const std::byte value : tensor.bytes) {
      last = value;
    }
    (void)last;
    header.tensors.push_back({.name = tensor.name,
                              .type = tensor.type,
                              .shape = tensor.shape,
                              .begin = at,
                              .end = at + tensor.bytes.size()});
    at += tensor.bytes.size();
  }
  const std::string text = safetensorsHeaderText(header, "fuzz.safetensors");
  invariant(parseSafetensorsHeader(text, "fuzz.safetensors") == header, "a header is read back");
}

}  // namespace

// libFuzzer fixes the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edgewise;
  std::optional<SafetensorsFile> file;
  fuzzing::allowDataErrors([&] {
    file = SafetensorsFile::parse(FileBytes::own(std::string(fuzzing::asText(data, size))),
                                  "fuzz.safetensors");
  });
  if (file) {
    // Outside, because a file that was accepted has no excuse left.
    use(*file);
  }
  return 0;
}
