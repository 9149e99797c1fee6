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

ViewTally::ViewTally(const PairModel& model, const EdgeTable& positive, std::size_t pairs,
                     const Dataset& dataset)
    : first_hops_(model.firstHops()),
      depth_(model.depth()),
      positive_(positive),
      dataset_(dataset),
      links_(positive.size(), depth_),
      others_(pairs - positive.size(), depth_),
      classes_(dataset.edge_classes.size()) {}

ViewTally::Part::Part(std::size_t count, std::size_t depth)
    : pairs(static_cast<double>(count)), shares(depth * depth, 0.0) {}

void ViewTally::Part::add(const ViewChoices& choice, std::size_t pair, std::size_t depth) {
  for (std::size_t rank = 0; rank < choice.perPair(); ++rank) {
    const LayerPair view = choice.views(pair)[rank];
    shares[view.source * depth + view.target] += choice.weights(pair)[rank] / pairs;
  }
  confidence += choice.confidence(pair);
}

double ViewTally::Part::meanConfidence() const { return pairs > 0 ? confidence / pairs : 1; }

void ViewTally::add(const ViewChoices& choice) {
  for (std::size_t pair = 0; pair < choice.pairCount(); ++pair, ++seen_) {
    if (seen_ < positive_.size()) {
      links_.add(choice, pair, depth_);
      addToClass(choice.best(pair));
    } else {
      others_.add(choice, pair, depth_);
    }
  }
}

// Of the positive that is looked at.
void ViewTally::addToClass(LayerPair view) {
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (positive_.edge_class[seen_] == i) {
      ++classes_[i].all;
      classes_[i].right += tellsClass(dataset_.edge_classes[i], hopsOf(view, first_hops_)) ? 1 : 0;
    }
  }
}

ViewUse ViewTally::result() const {
  ViewUse use{.depth = depth_,
              .first_hops = first_hops_,
              .test_positive = links_.shares,
              .test_negative = others_.shares,
              .effective = effectiveViews(links_.shares, depth_, dataset_.hasOrderedPairs()),
              .confidence_positive = links_.meanConfidence(),
              .confidence_negative = others_.meanConfidence(),
              .agreement = {}};
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const EdgeClass& known = dataset_.edge_classes[i];
    if (known.target && classes_[i].all > 0) {
      use.agreement.emplace_back(known.name, static_cast<double>(classes_[i].right) /
                                                 static_cast<double>(classes_[i].all));
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
