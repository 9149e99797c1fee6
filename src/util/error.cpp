#include "edgewise/util/error.h"

#include <fmt/format.h>

namespace edgewise {

std::string toString(const FilePlace& place) {
  if (place.line == 0) {
    return place.path.string();
  }
  return fmt::format("{}:{}", place.path.string(), place.line);
}

void throwBrokenInvariant(std::string_view what, const std::source_location& where) {
  throw std::logic_error(
      fmt::format("{}:{}: invariant broken: {}", where.file_name(), where.line(), what));
}

}  // namespace edgewise
