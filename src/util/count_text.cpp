#include "edgewise/util/count_text.h"

#include <fmt/format.h>

#include "edgewise/util/text.h"

namespace edgewise {

std::string countText(std::uint64_t count, std::string_view one) {
  return countText(count, one, fmt::format("{}s", one));
}

std::string countText(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", groupedCount(count), count == 1 ? one : many);
}

}  // namespace edgewise
