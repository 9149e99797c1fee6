#include "views/pair_representation.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "edgewise/ops/device.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/views/decoder.h"

namespace edgewise::detail {
namespace {

std::vector<LayerPair> bestViews(const ViewChoices& choice) {
  std::vector<LayerPair> views;
  for (std::size_t pair = 0; pair < choice.pairCount(); ++pair) {
    views.push_back(choice.best(pair));
  }
  return views;
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
  if (onDevice(layers.front()) || choice.perPair() > 1) {
    const std::vector<LayerPair> views = allViews(layers.size());
    const at::Tensor shares = choice.shares(layers.size(), layers.front().options());
    return concatenate ? mixViews(representPairs(layers, pairs, views, true), shares)
                       : mixedPairs(layers, pairs, views, shares);
  }
  const std::vector<LayerPair> views = bestViews(choice);
  return concatenate
             ? concatenateChosen(layers, *pairs, views)
             : chosenPairs(layers, pairs, std::make_shared<const std::vector<LayerPair>>(views));
}

at::Tensor mixedDots(std::span<const at::Tensor> layers,
                     const std::shared_ptr<const PairIndex>& pairs,
                     std::span<const LayerPair> views, const at::Tensor& shares) {
  return columnSum(at::stack(viewDots(layers, pairs, views), 0) * shares);
}

at::Tensor meanOf(std::span<const at::Tensor> parts) {
  at::Tensor sum = parts[0];
  for (const at::Tensor& part : parts.subspan(1)) {
    sum = sum + part;
  }
  return sum / static_cast<double>(parts.size());
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
