#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>

#include "edgewise/serving/explanation.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/markup.h"

namespace edgewise {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 420;
constexpr double kMargin = 48;
// Beyond these a picture of this size says nothing.
constexpr std::size_t kMostDrawn = 120;

struct Point {
  double x = 0;
  double y = 0;
};

// Further than any path.
constexpr int kNoPath = 1'000'000;

int hops(const std::optional<int>& distance) { return distance.value_or(kNoPath); }

// How far across the picture a node stands: 0 at the source, 1 at the target.
double across(const ExplainedSubgraph::Node& node) {
  const int source = hops(node.from_source);
  const int target = hops(node.from_target);
  if (source == kNoPath || target == kNoPath) {
    // Beside the only end that it reaches.
    return target == kNoPath ? 0.12 : 0.88;
  }
  return static_cast<double>(source) / static_cast<double>(std::max(1, source + target));
}

// The nodes that mattered and those nearest to the ends, the ends first.
std::vector<std::size_t> drawnNodes(const std::vector<ExplainedSubgraph::Node>& nodes) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin() + std::min<std::ptrdiff_t>(2, std::ssize(order)), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     const auto near = [&](std::size_t i) {
                       return std::pair(!nodes[i].change,
                                        std::min(hops(nodes[i].from_source), kNoPath / 4) +
                                            std::min(hops(nodes[i].from_target), kNoPath / 4));
                     };
                     return near(a) < near(b);
                   });
  order.resize(std::min(order.size(), kMostDrawn));
  return order;
}

// Nodes of one column of the picture are spread over its height; the ends stand in the middle.
std::map<std::size_t, Point> placed(const std::vector<ExplainedSubgraph::Node>& nodes,
                                    const std::vector<std::size_t>& drawn) {
  std::map<double, std::vector<std::size_t>> columns;
  std::map<std::size_t, Point> points;
  for (const std::size_t node : drawn) {
    if (node < 2) {
      points[node] = {node == 0 ? kMargin : kWidth - kMargin, kHeight / 2};
    } else {
      columns[across(nodes[node])].push_back(node);
    }
  }
  for (const auto& [place, members] : columns) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(members.size());
      // Full columns swing from side to side, so that names do not cover each other.
      const double swing = members.size() > 6 ? (i % 2 == 0 ? -14.0 : 14.0) : 0.0;
      points[members[i]] = {2 * kMargin + place * (kWidth - 4 * kMargin) + swing,
                            kMargin / 2 + share * (kHeight - kMargin)};
    }
  }
  return points;
}

std::string labelText(const std::vector<std::uint32_t>& label) {
  return label.size() == 1 ? fmt::format("{}", label[0]) : fmt::format("{}", fmt::join(label, ","));
}

// Blue for the link, red against it.
std::string_view inkOf(double change) { return change < 0 ? "#1f6fb4" : "#c0392b"; }

std::string nameSvg(std::string_view name, Point at, std::string_view style) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" {}>{}</text>", at.x,
                     at.y, style, escapeMarkup(name));
}

std::string nodeSvg(const ExplainedSubgraph::Node& node, Point at, bool end) {
  std::string title = fmt::format("{}: label {}", escapeMarkup(node.id), labelText(node.label));
  std::string stroke = "stroke=\"#334\"";
  std::string name;
  if (end) {
    name = nameSvg(node.id, {at.x, at.y + 28}, "font-weight=\"bold\"");
  } else if (node.change) {
    title += fmt::format("; without it the score changes by {:+.4g}", *node.change);
    stroke = fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", inkOf(*node.change));
    name = nameSvg(fmt::format("{} {:+.3g}", node.id, *node.change), {at.x, at.y + 20},
                   fmt::format("fill=\"{}\" font-weight=\"bold\" stroke=\"white\" "
                               "stroke-width=\"3\" paint-order=\"stroke\"",
                               inkOf(*node.change)));
  }
  return fmt::format(
      "<g><title>{0}</title><circle cx=\"{1:.1f}\" cy=\"{2:.1f}\" r=\"{3}\" fill=\"{4}\" "
      "{5}/><text x=\"{1:.1f}\" y=\"{6:.1f}\" text-anchor=\"middle\">{7}</text>{8}</g>\n",
      title, at.x, at.y, end ? 13 : 9, end ? "#f2b134" : "#cfe3f7", stroke, at.y + 3.5,
      labelText(node.label), name);
}

// Between an end and a neighbour that mattered in that one's colour.
std::string edgeSvg(const std::vector<ExplainedSubgraph::Node>& nodes,
                    std::pair<std::size_t, std::size_t> edge, Point from, Point to) {
  const std::optional<double>& change = nodes[edge.second].change;
  const std::string style =
      edge.first < 2 && change
          ? fmt::format(" stroke=\"{}\" stroke-width=\"2\" stroke-opacity=\"1\"", inkOf(*change))
          : "";
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}/>\n", from.x,
                     from.y, to.x, to.y, style);
}

// What the colours and numbers mean, where there are any, and what is missing.
std::string captionSvg(const std::vector<ExplainedSubgraph::Node>& nodes, std::size_t left_out) {
  std::string caption;
  if (std::ranges::any_of(nodes, [](const auto& node) { return node.change.has_value(); })) {
    caption =
        "numbers: how the score changes without that neighbour; blue spoke for the link, red "
        "against it";
  }
  if (left_out > 0) {
    caption +=
        fmt::format("{}and {}", caption.empty() ? "" : "; ", countText(left_out, "more node"));
  }
  return caption.empty() ? ""
                         : fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kMargin / 4,
                                       kHeight - 6, caption);
}

}  // namespace

nlohmann::ordered_json ExplainedSubgraph::toJson() const {
  nlohmann::ordered_json json;
  json["labels"] = labelling;
  json["nodes"] = nlohmann::ordered_json::array();
  const auto or_null = [](const std::optional<int>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  for (const Node& node : nodes) {
    json["nodes"].push_back(
        {{"id", node.id},
         {"label", node.label.size() == 1 ? nlohmann::ordered_json(node.label[0])
                                          : nlohmann::ordered_json(node.label)},
         {"from_source", or_null(node.from_source)},
         {"from_target", or_null(node.from_target)}});
  }
  json["edges"] = nlohmann::ordered_json::array();
  for (const auto& [one, other] : edges) {
    json["edges"].push_back(nlohmann::ordered_json::array({nodes[one].id, nodes[other].id}));
  }
  return json;
}

std::string ExplainedSubgraph::toSvg() const {
  const std::vector<std::size_t> drawn = drawnNodes(nodes);
  const std::map<std::size_t, Point> points = placed(nodes, drawn);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"9\" role=\"img\">\n"
      "<title>{2} - {3}: {4}, {5}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight, escapeMarkup(nodes.at(0).id), escapeMarkup(nodes.at(1).id),
      countText(nodes.size(), "node"), countText(edges.size(), "edge"));
  svg += "<g stroke=\"#99a\" stroke-width=\"0.8\" stroke-opacity=\"0.7\">\n";
  for (const auto& [one, other] : edges) {
    const auto from = points.find(one);
    const auto to = points.find(other);
    if (from != points.end() && to != points.end()) {
      svg += edgeSvg(nodes, {one, other}, from->second, to->second);
    }
  }
  svg += "</g>\n";
  // What mattered lies on top.
  for (const bool mattered : {false, true}) {
    for (const auto& [node, point] : points) {
      if (nodes[node].change.has_value() == mattered) {
        svg += nodeSvg(nodes[node], point, node < 2);
      }
    }
  }
  svg += captionSvg(nodes, nodes.size() - drawn.size());
  return svg + "</svg>\n";
}

}  // namespace edgewise
