#include "training/view_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace edgewise::detail {
namespace {

std::vector<double> sharesOf(std::span<const LayerPair> views, std::size_t depth) {
  std::vector<double> shares(depth * depth, 0.0);
  for (const LayerPair& view : views) {
    shares[view.source * depth + view.target] += 1.0 / static_cast<double>(views.size());
  }
  return shares;
}

double effectiveViews(std::vector<double> shares, std::size_t depth, bool directed) {
  for (std::size_t i = 0; i < depth && !directed; ++i) {
    for (std::size_t j = i + 1; j < depth; ++j) {
      shares[i * depth + j] += std::exchange(shares[j * depth + i], 0.0);
    }
  }
  double entropy = 0;
  for (const double share : shares) {
    entropy -= share > 0 ? share * std::log(share) : 0;
  }
  return std::exp(entropy);
}

bool tellsClass(const EdgeClass& known, LayerPair view) {
  const HopPair hops{static_cast<int>(view.source) + 1, static_cast<int>(view.target) + 1};
  return std::ranges::find(known.views, hops) != known.views.end();
}

}  // namespace

ViewUse summariseViews(std::span<const LayerPair> views, std::size_t depth,
                       const EdgeTable& positive, const Dataset& dataset) {
  const bool directed = dataset.direction == Direction::kDirected;
  const auto of_positives = views.first(positive.size());
  ViewUse use{.depth = depth,
              .test_positive = sharesOf(of_positives, depth),
              .test_negative = sharesOf(views.subspan(positive.size()), depth),
              .effective = 0,
              .agreement = {}};
  use.effective = effectiveViews(use.test_positive, depth, directed);
  for (std::size_t i = 0; i < dataset.edge_classes.size(); ++i) {
    const EdgeClass& known = dataset.edge_classes[i];
    std::size_t all = 0;
    std::size_t right = 0;
    for (std::size_t row = 0; row < of_positives.size(); ++row) {
      if (positive.edge_class[row] == i) {
        ++all;
        right += tellsClass(known, of_positives[row]) ? 1 : 0;
      }
    }
    if (known.target && all > 0) {
      use.agreement.emplace_back(known.name, static_cast<double>(right) / static_cast<double>(all));
    }
  }
  return use;
}

std::string viewsText(const ViewUse& use) {
  std::string text = "hops_source,hops_target,test_positive,test_negative\n";
  for (std::size_t i = 0; i < use.depth; ++i) {
    for (std::size_t j = 0; j < use.depth; ++j) {
      text += fmt::format("{},{},{},{}\n", i + 1, j + 1, use.test_positive[i * use.depth + j],
                          use.test_negative[i * use.depth + j]);
    }
  }
  return text;
}

}  // namespace edgewise::detail
