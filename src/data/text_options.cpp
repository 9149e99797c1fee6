#include "edgewise/data/text_options.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "data/named_choice.h"

namespace edgewise {

Delimiter parseDelimiter(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Delimiter>, 9> kChoices = {{
      {"auto", Delimiter::kAuto},
      {"comma", Delimiter::kComma},
      {"tab", Delimiter::kTab},
      {"semicolon", Delimiter::kSemicolon},
      {"space", Delimiter::kSpaces},
      {",", Delimiter::kComma},
      {"\t", Delimiter::kTab},
      {";", Delimiter::kSemicolon},
      {" ", Delimiter::kSpaces},
  }};
  return namedChoice<Delimiter>("delimiter", name, kChoices);
}

HeaderRule parseHeaderRule(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, HeaderRule>, 3> kChoices = {{
      {"auto", HeaderRule::kAuto},
      {"yes", HeaderRule::kYes},
      {"no", HeaderRule::kNo},
  }};
  return namedChoice<HeaderRule>("header", name, kChoices);
}

}  // namespace edgewise
