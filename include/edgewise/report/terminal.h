// What the program's terminal can show. Colours and bars appear only on a real terminal, and not
// when NO_COLOR is set or TERM is dumb; everything degrades to plain text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace edgewise {

enum class Ink { kPlain, kBold, kDim, kGood, kBad, kWarn };

struct TerminalStyle {
  bool interactive = false;
  bool colour = false;
  std::size_t width = 100;

  // The text in this ink, or unchanged where colours are off.
  [[nodiscard]] std::string paint(std::string_view text, Ink ink) const;
};

// Looks at the stream behind a file descriptor (1: stdout, 2: stderr) and the environment.
[[nodiscard]] TerminalStyle detectTerminal(int descriptor);

}  // namespace edgewise
