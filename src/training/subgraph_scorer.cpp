#include "edgewise/training/subgraph_scorer.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "edgewise/ops/device.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/util/interrupt.h"
#include "training/made_ahead.h"

namespace edgewise {
namespace {

HopView swappedView(HopView view) { return {view.target, view.source}; }

// A GPU is asked for about so many nodes at a time: small batches would keep it waiting for calls.
std::size_t pairsAtOnce(const SubgraphModel& model, const Parameters& parameters,
                        std::size_t least) {
  constexpr std::int64_t kNodes = 1 << 17;
  constexpr std::int64_t kMost = 2048;
  if (!onDevice(parameters.flat())) {
    return least;
  }
  return std::max(least,
                  static_cast<std::size_t>(std::min(kMost, kNodes / model.network().keptNodes())));
}

}  // namespace

HopView hopView(HopView nearest, LayerPair view) {
  return {nearest.source + view.source, nearest.target + view.target};
}

ViewedPairs ViewedPairs::drawn(std::span<const Edge> pairs, const ViewChoices& choice,
                               HopView nearest, const CounterRng& lots, std::uint64_t epoch) {
  ViewedPairs viewed{.pairs = {pairs.begin(), pairs.end()}, .views = {}};
  viewed.views.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    viewed.views.push_back(
        hopView(nearest, choice.drawn(i, lots.uniform(edgeKey(canonical(pairs[i])), epoch))));
  }
  return viewed;
}

ViewedPairs ViewedPairs::alike(std::span<const Edge> pairs, HopView view, bool swapped) {
  return {.pairs = {pairs.begin(), pairs.end()},
          .views = std::vector<HopView>(pairs.size(), swapped ? swappedView(view) : view)};
}

void ViewedPairs::turn() {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].dst < pairs[i].src) {
      pairs[i] = reversed(pairs[i]);
      views[i] = swappedView(views[i]);
    }
  }
}

ViewedPairs ViewedPairs::part(std::size_t begin, std::size_t count) const {
  const auto first = static_cast<std::ptrdiff_t>(begin);
  const auto last = static_cast<std::ptrdiff_t>(begin + count);
  return {.pairs = {pairs.begin() + first, pairs.begin() + last},
          .views = {views.begin() + first, views.begin() + last}};
}

WeighedPairs WeighedPairs::chosen(std::span<const Edge> pairs, const ViewChoices& choice,
                                  HopView nearest, std::size_t rank) {
  WeighedPairs weighed;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto share = static_cast<double>(choice.weights(i)[rank]);
    if (share > 0) {
      weighed.viewed.pairs.push_back(pairs[i]);
      weighed.viewed.views.push_back(hopView(nearest, choice.views(i)[rank]));
      weighed.places.push_back(i);
      weighed.shares.push_back(share);
    }
  }
  return weighed;
}

WeighedPairs WeighedPairs::alike(ViewedPairs viewed, double share) {
  const std::size_t count = viewed.pairs.size();
  WeighedPairs weighed{.viewed = std::move(viewed),
                       .places = std::vector<std::size_t>(count),
                       .shares = std::vector<double>(count, share)};
  std::iota(weighed.places.begin(), weighed.places.end(), std::size_t{0});
  return weighed;
}

SubgraphCutter::SubgraphCutter(const SubgraphModel& model, CsrGraph graph,
                               const ExtractionOptions& options)
    : model_(model),
      graph_(std::make_unique<const CsrGraph>(std::move(graph))),
      extractor_(*graph_, options) {}

SubgraphInput SubgraphCutter::cut(const ViewedPairs& pairs, std::size_t kept) const {
  return model_.network().prepare(extractor_.extract(pairs.pairs, pairs.views, kept));
}

SubgraphScorer::SubgraphScorer(const SubgraphModel& model, const Parameters& parameters,
                               std::shared_ptr<const SubgraphCutter> cutter, Sight sight)
    : model_(model), parameters_(parameters), cutter_(std::move(cutter)), sight_(std::move(sight)) {
  sight_.batch = pairsAtOnce(model_, parameters_, sight_.batch);
}

ViewChoice SubgraphScorer::viewsOf(std::span<const Edge> pairs) const {
  return sight_.chooser ? chooseViews(*sight_.chooser, pairs, cutter_->graph().nodeCount())
                        : nullptr;
}

std::vector<std::vector<double>> SubgraphScorer::scoreByView(std::span<const Edge>) const {
  return {};
}

void SubgraphScorer::addScores(WeighedPairs pairs, std::vector<double>& scores,
                               ProgressTask& task) const {
  if (sight_.pairs.symmetric) {
    pairs.viewed.turn();
  }
  const std::size_t all = pairs.places.size();
  const std::size_t batch = sight_.batch;
  detail::MadeAhead<SubgraphInput> inputs(
      detail::hasCoreToSpare(!parameters_.flat().device().is_cpu()), (all + batch - 1) / batch,
      [&](std::size_t number) {
        const std::size_t begin = number * batch;
        return cutter_->cut(pairs.viewed.part(begin, std::min(batch, all - begin)));
      });
  std::size_t done = 0;
  std::vector<double> some;
  while (const auto input = inputs.next()) {
    throwIfInterrupted();
    some.clear();
    appendScores(model_.network().logits(parameters_, *input, Noise()), some);
    for (const double score : some) {
      scores[pairs.places[done]] += pairs.shares[done] * score;
      ++done;
    }
    task.advance(some.size());
  }
  task.advance(scores.size() - all);
}

std::vector<double> SubgraphScorer::score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const {
  const WithoutGradients guard;
  std::vector<double> scores(pairs.size(), 0.0);
  const ViewChoice choice = viewsOf(pairs);
  const PairSight& sight = sight_.pairs;
  const std::size_t looks = choice ? choice->perPair() : sight.twoWays() ? 2 : 1;
  ProgressTask task(progress, "scoring", looks * pairs.size());
  for (std::size_t look = 0; look < looks && !pairs.empty(); ++look) {
    addScores(choice ? WeighedPairs::chosen(pairs, *choice, sight.nearest, look)
                     : WeighedPairs::alike(ViewedPairs::alike(pairs, sight.view, look == 1),
                                           1 / static_cast<double>(looks)),
              scores, task);
  }
  return scores;
}

void SubgraphScorer::scoreSources(std::span<const NodeId> sources, std::span<double> out,
                                  ProgressSink& progress) const {
  const std::size_t nodes = cutter_->graph().nodeCount();
  std::vector<Edge> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    pairs.clear();
    for (std::uint32_t node = 0; node < nodes; ++node) {
      if (NodeId{node} != sources[i]) {
        pairs.push_back({sources[i], NodeId{node}});
      }
    }
    std::vector<double> scores = score(pairs, progress);
    scores.insert(scores.begin() + static_cast<std::ptrdiff_t>(index(sources[i])),
                  std::numeric_limits<double>::lowest());
    std::ranges::copy(scores, out.begin() + static_cast<std::ptrdiff_t>(i * nodes));
  }
}

}  // namespace edgewise
