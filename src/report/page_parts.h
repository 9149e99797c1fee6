// What every report carries besides its content, put into the library by the build.
#pragma once

#include <string_view>

namespace edgewise {

struct PageParts {
  // web/report: ours.
  std::string_view style;
  std::string_view script;
  // The chart library: name with version, code, style and licence; all empty in a build without it.
  std::string_view chart_name;
  std::string_view chart_script;
  std::string_view chart_style;
  std::string_view chart_licence;
};

[[nodiscard]] const PageParts& pageParts();

}  // namespace edgewise
