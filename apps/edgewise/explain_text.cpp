#include "explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "edgewise/util/count_text.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

// More common neighbours than these are counted, not listed.
constexpr std::size_t kMostListed = 10;
// And more nodes of a subgraph than these.
constexpr std::size_t kMostNodes = 20;

std::string hopsText(int hops) { return countText(static_cast<std::uint64_t>(hops), "hop"); }

std::string nodesText(std::size_t nodes) { return countText(nodes, "node"); }

std::string scoreText(const Explanation& explanation) {
  if (!explanation.probability) {
    return fmt::format("{:.6g}", explanation.score);
  }
  std::string text = fmt::format("{:.4f}, a link with probability {:.1f}%", explanation.score,
                                 100 * *explanation.probability);
  if (explanation.by_degrees) {
    text += fmt::format(" ({:+.4f} of the score for the ends' degrees)", *explanation.by_degrees);
  }
  return text;
}

std::string viewText(const Explanation& explanation) {
  const std::vector<ViewShare>& views = explanation.views;
  if (explanation.view) {
    return fmt::format("{} around {}, {} around {}", hopsText(explanation.view->source),
                       explanation.source.id, hopsText(explanation.view->target),
                       explanation.target.id);
  }
  // A fixed view of undirected pairs: both ways round.
  if (views.size() == 2) {
    return fmt::format("{} around one end, {} around the other, averaged over both ways",
                       hopsText(views.front().view.source), hopsText(views.front().view.target));
  }
  if (explanation.selector == "ps2") {
    const auto used =
        std::ranges::count_if(views, [](const ViewShare& share) { return share.weight > 0; });
    return fmt::format("{} of {} views, weighted for this pair by the selector", used,
                       views.size());
  }
  return fmt::format("all {} views, {}", views.size(),
                     explanation.selector == "mean" ? "averaged"
                                                    : "mixed in the same learned "
                                                      "shares for every pair");
}

std::string formulaText(const Explanation& explanation) {
  if (explanation.model == "pa") {
    return fmt::format("degree {} times degree {}", groupedCount(explanation.source.degree),
                       groupedCount(explanation.target.degree));
  }
  if (!explanation.source.hops) {
    return "a sum over walks through the whole graph: no part of it can be shown alone";
  }
  return "a sum over the common neighbours";
}

std::string endText(const ExplainedEnd& end) {
  std::string text = fmt::format("degree {}", groupedCount(end.degree));
  if (end.hops) {
    text += fmt::format(", {} within {}", nodesText(end.nodes), hopsText(*end.hops));
  }
  return text;
}

std::string partText(const std::string& part) {
  if (part == "train") {
    return "training";
  }
  if (part == "valid") {
    return "validation";
  }
  return part == "test"                ? "test"
         : part == "revealed_at_valid" ? "validation node's"
                                       : "test node's";
}

std::string knownText(const Explanation& explanation) {
  if (explanation.parts.empty()) {
    return "no: the data has no such edge";
  }
  std::vector<std::string> parts;
  parts.reserve(explanation.parts.size());
  for (const std::string& part : explanation.parts) {
    parts.push_back(partText(part));
  }
  std::string text = fmt::format("yes, a {} edge", joinText(parts, " and "));
  if (explanation.left_out) {
    text += "; left out of the messages, so that it does not explain itself";
  }
  return text;
}

const ViewShare* shareOf(const Explanation& explanation, HopPair view) {
  const auto found = std::ranges::find(explanation.views, view, &ViewShare::view);
  return found == explanation.views.end() ? nullptr : &*found;
}

TextTable::Cell shareCell(const Explanation& explanation, const ViewShare* share) {
  if (share == nullptr) {
    return "-  ";
  }
  std::string text = fmt::format("{:.1f}%", 100 * share->weight);
  if (share->score) {
    text += fmt::format(" ({:.3f})", *share->score);
  }
  const bool chosen = explanation.view == share->view;
  return {text + (chosen ? " *" : "  "), chosen ? Ink::kBold : Ink::kPlain};
}

// 0 where nodes themselves are a view, else 1.
int nearest(const Explanation& explanation) {
  const bool own = std::ranges::any_of(explanation.views, [](const ViewShare& share) {
    return share.view.source == 0 || share.view.target == 0;
  });
  return own ? 0 : 1;
}

int deepest(const Explanation& explanation) {
  int depth = 0;
  for (const ViewShare& share : explanation.views) {
    depth = std::max({depth, share.view.source, share.view.target});
  }
  return depth;
}

// Whether the score is a sum over common neighbours, so that leaving one out takes away what it
// adds.
bool addsUp(const Explanation& explanation) {
  return explanation.model == "cn" || explanation.model == "aa" || explanation.model == "ra";
}

std::string whoseText(const NeighbourChange& change, const Explanation& explanation) {
  if (change.of_source && change.of_target) {
    return "both";
  }
  return change.of_source ? explanation.source.id : explanation.target.id;
}

std::string triedText(const NeighbourChanges& told) {
  if (told.tried == told.count) {
    return countText(told.count, "neighbour");
  }
  return fmt::format(
      "{} of {} (common ones first, then those with the fewest edges; --neighbours {} takes all)",
      groupedCount(told.tried), countText(told.count, "neighbour"), told.count);
}

}  // namespace

TextTable explanationTable(const Explanation& explanation) {
  const bool formula = explanation.selector.empty();
  TextTable table(
      {{"pair"}, {fmt::format("{} - {}", explanation.source.id, explanation.target.id)}});
  table.addRow({"model", formula ? explanation.model
                                 : fmt::format("{} {}", explanation.model, explanation.selector)});
  table.addRow({"score", {scoreText(explanation), Ink::kBold}});
  table.addRow(
      {formula ? "made of" : "view", formula ? formulaText(explanation) : viewText(explanation)});
  table.addRow({explanation.source.id, endText(explanation.source)});
  table.addRow({explanation.target.id, endText(explanation.target)});
  if (explanation.source.hops) {
    table.addRow({"together", nodesText(explanation.nodes)});
  }
  table.addRow({"known", knownText(explanation)});
  table.addRow({"messages", fmt::format("{}: {}", countText(explanation.message_edges, "edge"),
                                        explanation.carried)});
  return table;
}

std::string viewTableTitle(const Explanation& explanation) {
  const auto scored = std::ranges::any_of(
      explanation.views, [](const ViewShare& share) { return share.score.has_value(); });
  return fmt::format("weight of each view{}, hops around {} down, around {} across{}",
                     scored ? " (and its score)" : "", explanation.source.id, explanation.target.id,
                     explanation.view ? "; * is the one chosen" : "");
}

std::optional<TextTable> viewTable(const Explanation& explanation) {
  if (explanation.views.size() < 2) {
    return std::nullopt;
  }
  const int depth = deepest(explanation);
  const int first = nearest(explanation);
  std::vector<TextTable::Column> columns = {{""}};
  for (int target = first; target <= depth; ++target) {
    columns.push_back({hopsText(target) + "  ", Align::kRight});
  }
  TextTable table(std::move(columns));
  for (int source = first; source <= depth; ++source) {
    std::vector<TextTable::Cell> cells = {hopsText(source)};
    for (int target = first; target <= depth; ++target) {
      cells.push_back(shareCell(explanation, shareOf(explanation, {source, target})));
    }
    table.addRow(std::move(cells));
  }
  return table;
}

std::string subgraphTitle(const ExplainedSubgraph& subgraph) {
  return fmt::format("the enclosing subgraph: {}, {}, labels {}", nodesText(subgraph.nodes.size()),
                     countText(subgraph.edges.size(), "edge"), subgraph.labelling);
}

std::optional<TextTable> subgraphTable(const Explanation& explanation) {
  if (!explanation.subgraph) {
    return std::nullopt;
  }
  const ExplainedSubgraph& subgraph = *explanation.subgraph;
  std::vector<std::vector<std::string>> neighbours(subgraph.nodes.size());
  for (const auto& [one, other] : subgraph.edges) {
    neighbours[one].push_back(subgraph.nodes[other].id);
    neighbours[other].push_back(subgraph.nodes[one].id);
  }
  TextTable table({{"node"},
                   {"label", Align::kRight},
                   {"hops from " + explanation.source.id, Align::kRight},
                   {"from " + explanation.target.id, Align::kRight},
                   {"edges to"}});
  const auto hops = [](const std::optional<int>& distance) {
    return distance ? fmt::format("{}", *distance) : std::string("-");
  };
  const std::size_t count = subgraph.nodes.size();
  for (std::size_t i = 0; i < std::min(kMostNodes, count); ++i) {
    const ExplainedSubgraph::Node& node = subgraph.nodes[i];
    constexpr std::size_t kMostNamed = 6;
    const std::size_t named = std::min(kMostNamed, neighbours[i].size());
    std::string others = joinText(std::span(neighbours[i]).first(named), ", ");
    if (named < neighbours[i].size()) {
      others += fmt::format(" and {} more", neighbours[i].size() - named);
    }
    table.addRow({node.id, fmt::format("{}", fmt::join(node.label, ",")), hops(node.from_source),
                  hops(node.from_target), others.empty() ? "-" : others});
  }
  if (count > kMostNodes) {
    table.addRow({fmt::format("and {} more", groupedCount(count - kMostNodes))});
  }
  return table;
}

std::optional<TextTable> neighbourTable(const Explanation& explanation) {
  if (!explanation.neighbours || explanation.neighbours->most.empty() || addsUp(explanation)) {
    return std::nullopt;
  }
  TextTable table({{"neighbour"},
                   {"of"},
                   {"degree", Align::kRight},
                   {"score without", Align::kRight},
                   {"change", Align::kRight}});
  for (const NeighbourChange& one : explanation.neighbours->most) {
    table.addRow({one.id, whoseText(one, explanation), groupedCount(one.degree),
                  fmt::format("{:.4g}", one.score), fmt::format("{:+.4g}", one.change)});
  }
  return table;
}

std::string neighbourTitle(const Explanation& explanation) {
  if (!explanation.neighbours || addsUp(explanation)) {
    return "";
  }
  const NeighbourChanges& told = *explanation.neighbours;
  if (told.count == 0) {
    return "neither end has another neighbour that messages come from";
  }
  if (told.most.empty()) {
    return fmt::format("the score stays the same whichever of {} is left out", triedText(told));
  }
  return fmt::format("the neighbours that mattered most, {} left out one at a time",
                     triedText(told));
}

std::optional<TextTable> commonTable(const Explanation& explanation) {
  if (explanation.common.empty()) {
    return std::nullopt;
  }
  const std::size_t count = explanation.common.size();
  TextTable table(
      {{countText(count, "common neighbour")}, {"degree", Align::kRight}, {"adds", Align::kRight}});
  for (const CommonNeighbour& node :
       std::span(explanation.common).first(std::min(kMostListed, count))) {
    table.addRow(
        {node.id, groupedCount(node.degree), node.adds ? fmt::format("{:.6g}", *node.adds) : "-"});
  }
  if (count > kMostListed) {
    table.addRow({fmt::format("and {} more", groupedCount(count - kMostListed))});
  }
  return table;
}

}  // namespace edgewise::app
