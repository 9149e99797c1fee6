#include "data/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/printable.h"
#include "edgewise/data/number_array.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// As a JSON string.
std::string quoted(const std::string& text, const std::filesystem::path& path) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw DataError(FilePlace{path}, fmt::format("cannot store {}: not UTF-8", printable(text)),
                    "name tensors and write metadata in UTF-8");
  }
}

}  // namespace

std::optional<std::uint64_t> tensorBytes(TensorType type, std::span<const std::int64_t> shape) {
  if (shape.size() > kMaxDimensions) {
    return std::nullopt;
  }
  auto bytes = static_cast<std::int64_t>(byteWidth(type));
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    is_empty = is_empty || size == 0;
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) {
      return std::nullopt;
    }
  }
  return is_empty ? 0 : static_cast<std::uint64_t>(bytes);
}

std::string shapeText(std::span<const std::int64_t> shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

std::vector<std::size_t> positionsByName(std::span<const TensorEntry> tensors,
                                         const std::filesystem::path& path) {
  std::vector<std::size_t> positions(tensors.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  const auto name_at = [&](std::size_t position) -> std::string_view {
    return tensors[position].name;
  };
  std::ranges::sort(positions, {}, name_at);
  const auto twice = std::ranges::adjacent_find(positions, {}, name_at);
  if (twice != positions.end()) {
    throw DataError(FilePlace{path},
                    fmt::format("tensor {} stands in the header twice", printable(name_at(*twice))),
                    "give every tensor a name of its own");
  }
  return positions;
}

std::string safetensorsHeaderText(const SafetensorsHeader& header,
                                  const std::filesystem::path& path) {
  std::vector<std::string> entries;
  entries.reserve(header.tensors.size() + 1);
  if (!header.metadata.empty()) {
    std::vector<std::string> pairs;
    pairs.reserve(header.metadata.size());
    for (const auto& [key, value] : header.metadata) {
      pairs.push_back(quoted(key, path) + ":" + quoted(value, path));
    }
    entries.push_back(fmt::format("\"{}\":{{{}}}", kSafetensorsMetadata, fmt::join(pairs, ",")));
  }
  for (const TensorEntry& tensor : header.tensors) {
    entries.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  quoted(tensor.name, path), typeName(tensor.type),
                                  fmt::join(tensor.shape, ","), tensor.begin, tensor.end));
  }
  std::string text = fmt::format("{{{}}}", fmt::join(entries, ","));
  constexpr std::size_t kPreamble = 8;
  constexpr std::size_t kAlignment = 64;
  text.append((kAlignment - (kPreamble + text.size()) % kAlignment) % kAlignment, ' ');
  if (text.size() > kMaxSafetensorsHeader) {
    throw DataError(FilePlace{path},
                    fmt::format("cannot store a header of {} bytes; the format allows {}",
                                text.size(), kMaxSafetensorsHeader),
                    "store fewer tensors or less metadata in one file");
  }
  return text;
}

}  // namespace edgewise
