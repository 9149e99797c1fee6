// The three ways pickles spell strings as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgewise {

// Undoes Python's quoting of a byte string: 'a\x00b\n'. Nothing when it is malformed.
[[nodiscard]] std::optional<std::string> unquotePython(std::string_view quoted);
// Python's raw-unicode-escape (Latin-1 with \uXXXX) to UTF-8. Nothing when it is malformed.
[[nodiscard]] std::optional<std::string> decodeRawUnicode(std::string_view text);
// UTF-8 to Latin-1, the detour by which Python 3 stores bytes in old protocols. Nothing for
// malformed UTF-8 or a character beyond U+00FF.
[[nodiscard]] std::optional<std::string> encodeLatin1(std::string_view utf8);

}  // namespace edgewise
