// Counts as people say them: "1 edge", "4,488 edges".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace edgewise {

// The count, grouped in thousands, with its noun: `one` for 1, else `one` with an s.
[[nodiscard]] std::string countText(std::uint64_t count, std::string_view one);
// For nouns that are more than a letter apart: "1 entry", "2 entries".
[[nodiscard]] std::string countText(std::uint64_t count, std::string_view one,
                                    std::string_view many);

}  // namespace edgewise
