// Numbers and dates in the fields of text tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgewise {

// A finite number that a float holds (tiny ones become 0), or nothing.
[[nodiscard]] std::optional<float> parseFiniteFloat(std::string_view text);
// A finite number, or nothing.
[[nodiscard]] std::optional<double> parseFiniteDouble(std::string_view text);

// Days since 1970-01-01 for 2020-01-31, 2020-01-31T12:30 or 2020-01-31T12:30:59 (a space for T and
// a final Z are accepted), or nothing when it is no such date or not in the calendar.
[[nodiscard]] std::optional<double> parseIsoDate(std::string_view text);

// Why the two number parsers refused a text: "is not a number", "is not finite", ....
[[nodiscard]] std::string whyNotFinite(std::string_view text);

}  // namespace edgewise
