#include "training/view_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "edgewise/training/model_scorer.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/error.h"

namespace edgewise::detail {
namespace {

// Some of the pairs of a choice.
struct PairRange {
  std::size_t begin;
  std::size_t end;
  [[nodiscard]] auto size() const { return static_cast<double>(end - begin); }
};

std::vector<double> sharesOf(const ViewChoices& choice, PairRange pairs, std::size_t depth) {
  std::vector<double> shares(depth * depth, 0.0);
  for (std::size_t pair = pairs.begin; pair < pairs.end; ++pair) {
    for (std::size_t rank = 0; rank < choice.perPair(); ++rank) {
      const LayerPair view = choice.views(pair)[rank];
      shares[view.source * depth + view.target] += choice.weights(pair)[rank] / pairs.size();
    }
  }
  return shares;
}

double meanConfidence(const ViewChoices& choice, PairRange pairs) {
  double sum = 0;
  for (std::size_t pair = pairs.begin; pair < pairs.end; ++pair) {
    sum += choice.confidence(pair);
  }
  return pairs.begin < pairs.end ? sum / pairs.size() : 1;
}

double effectiveViews(std::vector<double> shares, std::size_t depth, bool ordered) {
  for (std::size_t i = 0; i < depth && !ordered; ++i) {
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

bool tellsClass(const EdgeClass& known, HopPair hops) {
  return std::ranges::find(known.views, hops) != known.views.end();
}

}  // namespace

ViewUse summariseViews(const ViewChoices& choice, const PairModel& model, const EdgeTable& positive,
                       const Dataset& dataset) {
  const std::size_t depth = model.depth();
  const PairRange positives{0, positive.size()};
  const PairRange negatives{positive.size(), choice.pairCount()};
  ViewUse use{.depth = depth,
              .first_hops = model.firstHops(),
              .test_positive = sharesOf(choice, positives, depth),
              .test_negative = sharesOf(choice, negatives, depth),
              .effective = 0,
              .confidence_positive = meanConfidence(choice, positives),
              .confidence_negative = meanConfidence(choice, negatives),
              .agreement = {}};
  use.effective = effectiveViews(use.test_positive, depth, dataset.hasOrderedPairs());
  for (std::size_t i = 0; i < dataset.edge_classes.size(); ++i) {
    const EdgeClass& known = dataset.edge_classes[i];
    std::size_t all = 0;
    std::size_t right = 0;
    for (std::size_t row = 0; row < positive.size(); ++row) {
      if (positive.edge_class[row] == i) {
        ++all;
        right += tellsClass(known, hopsOf(choice.best(row), model.firstHops())) ? 1 : 0;
      }
    }
    if (known.target && all > 0) {
      use.agreement.emplace_back(known.name, static_cast<double>(right) / static_cast<double>(all));
    }
  }
  return use;
}

std::shared_ptr<const ViewChooser> oracleChooser(const Dataset& dataset, std::size_t depth) {
  std::vector<KindsView> known;
  for (const EdgeClass& each : dataset.edge_classes) {
    if (each.kinds && !each.views.empty()) {
      const HopPair best = each.views.front();
      known.push_back({each.kinds->source,
                       each.kinds->target,
                       {static_cast<std::uint32_t>(best.source - 1),
                        static_cast<std::uint32_t>(best.target - 1)}});
    }
  }
  if (known.empty() || dataset.node_kinds.empty()) {
    throw ConfigError("nobody knows which views serve the pairs of " + dataset.name,
                      "selector oracle is for generated data, such as --dataset planted");
  }
  return makeOracleChooser(dataset.node_kinds, known, depth);
}

std::string viewsText(const ViewUse& use) {
  std::string text = "hops_source,hops_target,test_positive,test_negative\n";
  for (std::size_t i = 0; i < use.depth; ++i) {
    for (std::size_t j = 0; j < use.depth; ++j) {
      const auto hops = [&](std::size_t layer) { return static_cast<int>(layer) + use.first_hops; };
      text += fmt::format("{},{},{},{}\n", hops(i), hops(j), use.test_positive[i * use.depth + j],
                          use.test_negative[i * use.depth + j]);
    }
  }
  return text;
}

}  // namespace edgewise::detail
