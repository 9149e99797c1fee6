// Cuts of compressed rows into blocks of about equal work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace edgewise::detail {

// First rows of consecutive blocks, with the number of rows at the end; a block has about
// `work` entries and rows together.
[[nodiscard]] inline std::vector<std::uint32_t> cutIntoBlocks(
    std::span<const std::uint64_t> offsets, std::uint64_t work) {
  std::vector<std::uint32_t> first = {0};
  std::uint64_t begin = 0;
  const auto rows = static_cast<std::uint32_t>(offsets.size() - 1);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint64_t so_far = offsets[row + std::size_t{1}] + row + 1;
    if (so_far - begin >= work) {
      first.push_back(row + 1);
      begin = so_far;
    }
  }
  if (first.back() != rows) {
    first.push_back(rows);
  }
  return first;
}

}  // namespace edgewise::detail
