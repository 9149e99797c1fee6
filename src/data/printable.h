// Text from a file, made fit for an error message: quoted, shortened, nothing that could upset a
// terminal.
#pragma once

#include <string>
#include <string_view>

namespace edgewise {

[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string shown = "'";
  for (const char c : text.substr(0, kLongest)) {
    const bool plain =
        static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F;
    shown += plain ? c : '?';
  }
  shown += text.size() > kLongest ? "...'" : "'";
  return shown;
}

}  // namespace edgewise
