#include "edgewise/util/markup.h"

#include <cstddef>

namespace edgewise {
namespace {

constexpr std::string_view kUnreadable = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byteAt(std::string_view text, std::size_t position) {
  return position < text.size() ? static_cast<unsigned char>(text[position]) : 0;
}

bool continues(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

// The length of the UTF-8 character that begins here, 0 for none: no overlong forms, no surrogates,
// nothing above U+10FFFF.
std::size_t characterLength(std::string_view text, std::size_t at) {
  const unsigned char first = byteAt(text, at);
  const unsigned char second = byteAt(text, at + 1);
  if (first < 0x80U) {
    return 1;
  }
  if (first >= 0xC2U && first <= 0xDFU) {
    return continues(second) ? 2 : 0;
  }
  const bool tail = continues(second) && continues(byteAt(text, at + 2));
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool overlong = first == 0xE0U && second < 0xA0U;
    const bool surrogate = first == 0xEDU && second >= 0xA0U;
    return tail && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool overlong = first == 0xF0U && second < 0x90U;
    const bool beyond = first == 0xF4U && second >= 0x90U;
    return tail && continues(byteAt(text, at + 3)) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void addEscaped(char letter, std::string& result) {
  switch (letter) {
    case '&':
      result += "&amp;";
      return;
    case '<':
      result += "&lt;";
      return;
    case '>':
      result += "&gt;";
      return;
    case '"':
      result += "&quot;";
      return;
    case '\'':
      result += "&#39;";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(letter);
  const bool blank = letter == '\n' || letter == '\t';
  result += (code < 0x20U && !blank) || code == 0x7FU ? kUnreadable : std::string_view(&letter, 1);
}

}  // namespace

std::string escapeMarkup(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = characterLength(text, at);
    if (length == 1) {
      addEscaped(text[at], result);
    } else {
      result += length == 0 ? kUnreadable : text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace edgewise
