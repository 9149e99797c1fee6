#include "edgewise/data/pickle.h"

#include <fmt/format.h>

#include <optional>

#include "data/pickle_machine.h"
#include "edgewise/util/error.h"

namespace edgewise {

PickleDocument readPickle(std::string_view bytes, const std::filesystem::path& path) {
  return PickleMachine(bytes, path).run();
}

std::string_view pickleText(const PickleValue& value) {
  const auto* text = value.as<PickleText>();
  return text == nullptr ? std::string_view() : text->bytes;
}

PickleRef findKey(const PickleMapping& mapping, std::string_view key) {
  for (auto item = mapping.items.rbegin(); item != mapping.items.rend(); ++item) {
    const auto* text = item->first->as<PickleText>();
    if (text != nullptr && text->bytes == key) {
      return item->second;
    }
  }
  return nullptr;
}

NumberArray pickledArray(const PickleValue& value, const std::string& name) {
  const auto* array = value.as<std::unique_ptr<PickleArray>>();
  if (array == nullptr) {
    throw DataError(fmt::format("{}: is not a numpy array", name));
  }
  const PickleArray& content = **array;
  const std::optional<std::size_t> count = elementCount(content.layout.shape);
  const std::size_t width = byteWidth(content.layout.type);
  if (!count || content.data.size() % width != 0 || content.data.size() / width != *count) {
    throw DataError(fmt::format("{}: {} bytes do not fill an array of shape {}", name,
                                content.data.size(), shapeText(content.layout.shape)),
                    "the file is damaged; copy or download it again");
  }
  return NumberArray::fromBytes(content.data, content.layout, name);
}

}  // namespace edgewise
