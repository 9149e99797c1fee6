// Which edgewise this is. Runs store it, so that a result can be traced to the code that made it.
#pragma once

#include <string>
#include <string_view>

namespace edgewise {

// The released number, "0.1.0".
[[nodiscard]] std::string_view version();
// The commit the library was built from, as `git describe` names it ("v0.1.0-12-g1a2b3c4", with
// "-dirty" for uncommitted changes); empty when built outside git.
[[nodiscard]] std::string_view revision();
// Both for people: "0.1.0 (v0.1.0-12-g1a2b3c4)", or the number alone.
[[nodiscard]] std::string versionText();

}  // namespace edgewise
