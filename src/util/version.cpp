#include "edgewise/util/version.h"

#include <fmt/format.h>

#include "edgewise_revision.h"

namespace edgewise {

std::string_view version() { return EDGEWISE_VERSION; }

std::string_view revision() { return EDGEWISE_REVISION; }

std::string versionText() {
  return revision().empty() ? std::string(version())
                            : fmt::format("{} ({})", version(), revision());
}

}  // namespace edgewise
