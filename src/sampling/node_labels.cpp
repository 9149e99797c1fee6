#include "edgewise/sampling/node_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::array<std::pair<NodeLabelling, std::string_view>, 3> kLabellings = {{
    {NodeLabelling::kDrnl, "drnl"},
    {NodeLabelling::kDistances, "de"},
    {NodeLabelling::kZeroOne, "zo"},
}};

}  // namespace

std::string_view labellingName(NodeLabelling labelling) {
  return std::ranges::find(kLabellings, labelling, &decltype(kLabellings)::value_type::first)
      ->second;
}

NodeLabelling parseLabelling(std::string_view name) {
  std::vector<std::string> known;
  known.reserve(kLabellings.size());
  for (const auto& [labelling, labelling_name] : kLabellings) {
    if (name == labelling_name) {
      return labelling;
    }
    known.emplace_back(labelling_name);
  }
  throw ConfigError(fmt::format("unknown node labelling '{}'", name), suggestName(name, known));
}

std::size_t labelWidth(const LabelOptions& options) {
  return options.labelling == NodeLabelling::kDistances ? 2 : 1;
}

std::size_t labelCount(const LabelOptions& options) {
  switch (options.labelling) {
    case NodeLabelling::kDrnl:
      return std::size_t{options.max_label} + 1;
    case NodeLabelling::kDistances:
      return std::size_t{options.max_distance} + 2;
    case NodeLabelling::kZeroOne:
      break;
  }
  return 2;
}

}  // namespace edgewise
