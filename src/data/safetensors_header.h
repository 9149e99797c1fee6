// The header of a safetensors file: a JSON object that says of each tensor what it is and where its
// bytes lie in the data that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/safetensors.h"

namespace edgewise {

// The official readers' limit.
inline constexpr std::size_t kMaxSafetensorsHeader = 100'000'000;
// The one key that is no tensor.
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

struct TensorEntry {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<std::int64_t> shape;
  // From the first byte of data.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};

struct SafetensorsHeader {
  // In the order of the text.
  std::vector<TensorEntry> tensors;
  std::map<std::string, std::string> metadata;

  friend bool operator==(const SafetensorsHeader&, const SafetensorsHeader&) = default;
};

// Bytes of a tensor, or nothing for a negative size, too many dimensions, or a product beyond 64
// signed bits. Sizes of 0 count as 1 there: whoever computes steps between rows multiplies the
// others all the same.
[[nodiscard]] std::optional<std::uint64_t> tensorBytes(TensorType type,
                                                       std::span<const std::int64_t> shape);
// "(3, 4)"
[[nodiscard]] std::string shapeText(std::span<const std::int64_t> shape);

// Positions of the tensors, sorted by name. Throws DataError for two of one name.
[[nodiscard]] std::vector<std::size_t> positionsByName(std::span<const TensorEntry> tensors,
                                                       const std::filesystem::path& path);

// Parses the JSON text, blanks at its end included. Each tensor's offsets span what its shape
// takes; names may still repeat and offsets may point anywhere. Throws DataError.
[[nodiscard]] SafetensorsHeader parseSafetensorsHeader(std::string_view text,
                                                       const std::filesystem::path& path);

// The JSON text, with blanks at its end so that the data behind it start at a multiple of 64 bytes.
// Throws DataError for text that is not UTF-8 or a header too long.
[[nodiscard]] std::string safetensorsHeaderText(const SafetensorsHeader& header,
                                                const std::filesystem::path& path);

}  // namespace edgewise
