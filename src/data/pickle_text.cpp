#include "data/pickle_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace edgewise {
namespace {

std::optional<std::uint32_t> parseDigits(std::string_view digits, int base) {
  std::uint32_t value = 0;
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  const auto [stop, failure] = std::from_chars(begin, end, value, base);
  if (digits.empty() || failure != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

bool appendUtf8(std::uint32_t code, std::string& text) {
  constexpr std::uint32_t kLastCode = 0x10FFFF;
  if (code > kLastCode) {
    return false;
  }
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

// One escape after its backslash: appends what it stands for and returns how many characters it
// took; 0 when it is malformed.
std::size_t unescape(std::string_view rest, std::string& text) {
  constexpr std::string_view kNames = "\\'\"abfnrtv";
  constexpr std::string_view kBytes = "\\'\"\a\b\f\n\r\t\v";
  const char kind = rest.empty() ? '\0' : rest.front();
  const std::size_t named = kind == '\0' ? std::string_view::npos : kNames.find(kind);
  if (named != std::string_view::npos) {
    text += kBytes[named];
    return 1;
  }
  if (kind == 'x') {
    const auto value = parseDigits(rest.substr(1, 2), 16);
    if (!value || rest.size() < 3) {
      return 0;
    }
    text += static_cast<char>(*value);
    return 3;
  }
  const std::size_t digits =
      std::min<std::size_t>(3, std::min(rest.find_first_not_of("01234567"), rest.size()));
  const auto value = parseDigits(rest.substr(0, digits), 8);
  if (!value) {
    return 0;
  }
  text += static_cast<char>(*value & 0xFF);
  return digits;
}

}  // namespace

std::optional<std::string> unquotePython(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != quoted.back() ||
      (quoted.front() != '\'' && quoted.front() != '"')) {
    return std::nullopt;
  }
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string text;
  for (std::size_t at = 0; at < quoted.size();) {
    if (quoted[at] != '\\') {
      text += quoted[at++];
      continue;
    }
    const std::size_t used = unescape(quoted.substr(at + 1), text);
    if (used == 0) {
      return std::nullopt;
    }
    at += used + 1;
  }
  return text;
}

std::optional<std::string> decodeRawUnicode(std::string_view text) {
  std::string utf8;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool is_short = rest.starts_with("\\u");
    if (!is_short && !rest.starts_with("\\U")) {
      appendUtf8(static_cast<unsigned char>(text[at++]), utf8);
      continue;
    }
    const std::size_t digits = is_short ? 4 : 8;
    const auto code = parseDigits(rest.substr(2, digits), 16);
    if (!code || rest.size() < 2 + digits || !appendUtf8(*code, utf8)) {
      return std::nullopt;
    }
    at += 2 + digits;
  }
  return utf8;
}

std::optional<std::string> encodeLatin1(std::string_view utf8) {
  std::string bytes;
  bytes.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const auto lead = static_cast<unsigned char>(utf8[at]);
    if (lead < 0x80) {
      bytes += utf8[at];
      continue;
    }
    // U+0080..U+00FF are exactly the pairs that start with C2 or C3.
    if ((lead & 0xFE) != 0xC2 || at + 1 == utf8.size() ||
        (static_cast<unsigned char>(utf8[at + 1]) & 0xC0) != 0x80) {
      return std::nullopt;
    }
    bytes += static_cast<char>(((lead & 0x03) << 6) | (utf8[++at] & 0x3F));
  }
  return bytes;
}

}  // namespace edgewise
