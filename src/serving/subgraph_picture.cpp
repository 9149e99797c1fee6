#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "edgewise/serving/explanation.h"
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

// The nodes nearest to the ends, the ends first.
std::vector<std::size_t> drawnNodes(const std::vector<ExplainedSubgraph::Node>& nodes) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin() + std::min<std::ptrdiff_t>(2, std::ssize(order)), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     const auto near = [&](std::size_t i) {
                       return std::min(hops(nodes[i].from_source), kNoPath / 4) +
                              std::min(hops(nodes[i].from_target), kNoPath / 4);
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

std::string nodeSvg(const ExplainedSubgraph::Node& node, Point at, bool end) {
  return fmt::format(
      "<g><title>{0}: label {1}</title><circle cx=\"{2:.1f}\" cy=\"{3:.1f}\" r=\"{4}\" "
      "fill=\"{5}\" stroke=\"#334\"/><text x=\"{2:.1f}\" y=\"{6:.1f}\" "
      "text-anchor=\"middle\">{1}</text>{7}</g>\n",
      escapeMarkup(node.id), labelText(node.label), at.x, at.y, end ? 13 : 9,
      end ? "#f2b134" : "#cfe3f7", at.y + 3.5,
      end ? fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
                        "font-weight=\"bold\">{}</text>",
                        at.x, at.y + 28, escapeMarkup(node.id))
          : "");
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
      "<title>{2} - {3}: {4} nodes, {5} edges</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight, escapeMarkup(nodes.at(0).id), escapeMarkup(nodes.at(1).id), nodes.size(),
      edges.size());
  svg += "<g stroke=\"#99a\" stroke-width=\"0.8\" stroke-opacity=\"0.7\">\n";
  for (const auto& [one, other] : edges) {
    const auto from = points.find(one);
    const auto to = points.find(other);
    if (from != points.end() && to != points.end()) {
      svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                         from->second.x, from->second.y, to->second.x, to->second.y);
    }
  }
  svg += "</g>\n";
  for (const auto& [node, point] : points) {
    svg += nodeSvg(nodes[node], point, node < 2);
  }
  if (drawn.size() < nodes.size()) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\">and {} nodes more</text>\n", kMargin / 4,
                       kHeight - 6, nodes.size() - drawn.size());
  }
  return svg + "</svg>\n";
}

}  // namespace edgewise
