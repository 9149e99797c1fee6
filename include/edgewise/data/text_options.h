// What all readers of tables in text form let the user say about a file: how its fields are kept
// apart and whether its first row names the columns. Everything is found out from the first rows
// unless it is given here.
#pragma once

#include <cstdint>
#include <string_view>

namespace edgewise {

// `kSpaces` takes any run of spaces and tabs as one separator; the others take each separator for
// itself, so that fields may be empty.
enum class Delimiter : std::uint8_t { kAuto, kComma, kTab, kSemicolon, kSpaces };

enum class HeaderRule : std::uint8_t { kAuto, kYes, kNo };

// "auto", "comma", "tab", "semicolon", "space", or the character itself. Throws ConfigError
// otherwise.
[[nodiscard]] Delimiter parseDelimiter(std::string_view name);
// "auto", "yes" or "no". Throws ConfigError otherwise.
[[nodiscard]] HeaderRule parseHeaderRule(std::string_view name);

}  // namespace edgewise
