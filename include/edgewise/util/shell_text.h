// Commands that are shown so that they can be pasted into a shell.
#pragma once

#include <string>
#include <string_view>

namespace edgewise {

// As a shell takes it: in single quotes where a blank or another sign asks for them.
[[nodiscard]] std::string shellWord(std::string_view text);

}  // namespace edgewise
