#include "views/pair_representation.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "edgewise/ops/device.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/views/decoder.h"

namespace edgewise::detail {
namespace {

std::vector<LayerPair> viewsOfRank(const ViewChoices& choice, std::size_t rank) {
  std::vector<LayerPair> views;
  for (std::size_t pair = 0; pair < choice.pairCount(); ++pair) {
    views.push_back(choice.views(pair)[rank]);
  }
  return views;
}

at::Tensor weightsOfRank(const ViewChoices& choice, std::size_t rank,
                         const at::TensorOptions& options) {
  at::Tensor weights = at::empty({static_cast<std::int64_t>(choice.pairCount())}, at::kFloat);
  auto* out = weights.data_ptr<float>();
  for (std::size_t pair = 0; pair < choice.pairCount(); ++pair) {
    out[pair] = choice.weights(pair)[rank];
  }
  return weights.to(options.requires_grad(false));
}

// Ends of layers stacked one under the other: node v of layer k is row k * nodes + v.
at::Tensor concatenateChosen(std::span<const at::Tensor> layers, const PairIndex& pairs,
                             std::span<const LayerPair> views) {
  const auto nodes = static_cast<std::uint32_t>(pairs.nodeCount());
  std::vector<Edge> rows;
  for (std::size_t p = 0; p < views.size(); ++p) {
    const Edge pair = pairs.pairs()[p];
    rows.push_back(makeEdge(views[p].source * nodes + index(pair.src),
                            views[p].target * nodes + index(pair.dst)));
  }
  const at::Tensor stacked = at::cat(at::TensorList(layers.data(), layers.size()), 0);
  const auto ends = PairIndex::make(rows, pairs.nodeCount() * layers.size());
  return at::cat(
      {gatherEnd(stacked, ends, PairEnd::kSource), gatherEnd(stacked, ends, PairEnd::kTarget)}, 1);
}

}  // namespace

std::vector<at::Tensor> representPairs(std::span<const at::Tensor> layers,
                                       const std::shared_ptr<const PairIndex>& pairs,
                                       std::span<const LayerPair> views, bool concatenate) {
  if (!concatenate) {
    return viewPairs(layers, pairs, views);
  }
  // Each end of each layer is gathered once, however many views use it.
  std::vector<at::Tensor> sources(layers.size());
  std::vector<at::Tensor> targets(layers.size());
  std::vector<at::Tensor> result;
  for (const LayerPair& view : views) {
    at::Tensor& source = sources[view.source];
    at::Tensor& target = targets[view.target];
    if (!source.defined()) {
      source = gatherEnd(layers[view.source], pairs, PairEnd::kSource);
    }
    if (!target.defined()) {
      target = gatherEnd(layers[view.target], pairs, PairEnd::kTarget);
    }
    result.push_back(at::cat({source, target}, 1));
  }
  return result;
}

at::Tensor representTurned(std::span<const at::Tensor> layers,
                           const std::shared_ptr<const PairIndex>& pairs, LayerPair view,
                           bool concatenate) {
  if (!concatenate) {
    const LayerPair back{view.target, view.source};
    return viewPairs(layers, pairs, std::span(&back, 1))[0];
  }
  return at::cat({gatherEnd(layers[view.source], pairs, PairEnd::kTarget),
                  gatherEnd(layers[view.target], pairs, PairEnd::kSource)},
                 1);
}

at::Tensor representChosen(std::span<const at::Tensor> layers,
                           const std::shared_ptr<const PairIndex>& pairs, const ViewChoices& choice,
                           bool concatenate) {
  if (onDevice(layers.front())) {
    const std::vector<LayerPair> views = allViews(layers.size());
    const at::Tensor shares = choice.shares(layers.size(), layers.front().options());
    return concatenate ? mixViews(representPairs(layers, pairs, views, true), shares)
                       : mixedPairs(layers, pairs, views, shares);
  }
  at::Tensor sum;
  for (std::size_t rank = 0; rank < choice.perPair(); ++rank) {
    const std::vector<LayerPair> views = viewsOfRank(choice, rank);
    at::Tensor z = concatenate ? concatenateChosen(layers, *pairs, views)
                               : chosenPairs(layers, pairs,
                                             std::make_shared<const std::vector<LayerPair>>(views));
    if (choice.perPair() > 1) {
      z = z * expandColumns(weightsOfRank(choice, rank, z.options()), z.size(1));
    }
    sum = rank == 0 ? z : sum + z;
  }
  return sum;
}

at::Tensor endsExchanged(const at::Tensor& z) {
  const std::int64_t width = z.size(1) / 2;
  return at::cat({z.narrow(1, width, width), z.narrow(1, 0, width)}, 1);
}

std::shared_ptr<const PairIndex> turned(const PairIndex& pairs) {
  if (!pairs.onHost()) {
    return PairIndex::makeOnDevice(pairs.endsThere().flip(1).contiguous(), pairs.nodeCount());
  }
  std::vector<Edge> back;
  for (const Edge& pair : pairs.pairs()) {
    back.push_back(reversed(pair));
  }
  return PairIndex::make(back, pairs.nodeCount());
}

}  // namespace edgewise::detail
