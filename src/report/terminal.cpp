#include "edgewise/report/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace edgewise {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read once at start
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string_view escapeCode(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return "1";
    case Ink::kDim:
      return "2";
    case Ink::kGood:
      return "32";
    case Ink::kBad:
      return "31";
    case Ink::kWarn:
      return "33";
    case Ink::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::string TerminalStyle::paint(std::string_view text, Ink ink) const {
  if (!colour || ink == Ink::kPlain) {
    return std::string(text);
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", escapeCode(ink), text);
}

TerminalStyle detectTerminal(int descriptor) {
  TerminalStyle style;
  style.interactive = ::isatty(descriptor) == 1 && environment("TERM") != "dumb";
  style.colour = style.interactive && environment("NO_COLOR").empty();
  winsize size{};
  if (style.interactive && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  return style;
}

}  // namespace edgewise
