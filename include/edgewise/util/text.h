// Small text helpers: exact number parsing, nearest names for suggestions, numbers as people read
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edgewise {

// The whole text as a number, or nothing (no blanks, no rest). Decimal only; floats accept nan and
// inf.
[[nodiscard]] std::optional<std::int64_t> parseInteger(std::string_view text);
[[nodiscard]] std::optional<double> parseReal(std::string_view text);

// Without blanks and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::vector<std::string_view> splitText(std::string_view text, char separator);
[[nodiscard]] std::string joinText(std::span<const std::string> parts, std::string_view separator);
[[nodiscard]] std::string lowerCase(std::string_view text);

// The known name closest to `name` by edit distance, if it is close enough to be a likely slip.
[[nodiscard]] std::optional<std::string> nearestName(std::string_view name,
                                                     std::span<const std::string> known);
// "did you mean 'x'?", or the list of all names when nothing is near.
[[nodiscard]] std::string suggestName(std::string_view name, std::span<const std::string> known);

// As one field of a CSV file: in quotes where a comma, a quote or a line break asks for it.
[[nodiscard]] std::string csvField(std::string_view text);

// 1234567 -> "1,234,567".
[[nodiscard]] std::string groupedCount(std::uint64_t value);
// 1536 -> "1.5 KiB".
[[nodiscard]] std::string readableBytes(std::uint64_t bytes);
// 75.2 -> "1m15s", 0.0123 -> "12 ms".
[[nodiscard]] std::string readableSeconds(double seconds);

}  // namespace edgewise
