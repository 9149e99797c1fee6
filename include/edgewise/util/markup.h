// Text on its way into HTML or SVG. Whatever comes from a user's files (ids, paths, names of
// datasets) passes through here.
#pragma once

#include <string>
#include <string_view>

namespace edgewise {

// Text as content of an element or, between quotes, of an attribute. The result is valid UTF-8
// whatever comes in: other bytes and control characters become U+FFFD.
[[nodiscard]] std::string escapeMarkup(std::string_view text);

}  // namespace edgewise
