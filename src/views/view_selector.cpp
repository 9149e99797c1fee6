#include "edgewise/views/view_selector.h"

#include <ATen/Functions.h>

#include "edgewise/ops/view_mixture.h"
#include "edgewise/ops/view_scores.h"
#include "edgewise/views/decoder.h"

namespace edgewise {
namespace {

std::vector<std::int64_t> widthsOf(const SelectorOptions& options, std::int64_t width) {
  std::vector<std::int64_t> widths = {width};
  for (std::int64_t i = 1; i < options.layers; ++i) {
    widths.push_back(options.hidden);
  }
  widths.push_back(1);
  return widths;
}

// Row of the largest score in each column; the first of equals.
template <class Real>
std::vector<LayerPair> bestViews(const at::Tensor& scores, std::span<const LayerPair> views) {
  const auto pairs = static_cast<std::size_t>(scores.size(1));
  const Real* values = scores.data_ptr<Real>();
  std::vector<LayerPair> best(pairs, views.front());
  for (std::size_t p = 0; p < pairs; ++p) {
    std::size_t row = 0;
    for (std::size_t view = 1; view < views.size(); ++view) {
      if (values[view * pairs + p] > values[row * pairs + p]) {
        row = view;
      }
    }
    best[p] = views[row];
  }
  return best;
}

}  // namespace

ViewSelector::ViewSelector(const SelectorOptions& options, std::size_t depth, std::int64_t width,
                           ParameterLayout& layout)
    : views_(allViews(depth)), mlp_("selector", widthsOf(options, width), 0, layout) {}

at::Tensor ViewSelector::scores(const Parameters& selector, const LayerOutputs& layers,
                                const std::shared_ptr<const PairIndex>& pairs) const {
  return viewScores(layers, pairs, views_, mlp_.weights(selector), mlp_.biases(selector));
}

at::Tensor ViewSelector::mixture(const Parameters& selector, const LayerOutputs& layers,
                                 const std::shared_ptr<const PairIndex>& pairs,
                                 const MixtureOptions& options) const {
  if (options.use == GradientUse::kAgain) {
    return twiceDifferentiableMixture(selector, layers, pairs, options.temperature);
  }
  return mixedPairs(layers, pairs, views_,
                    viewSoftmax(scores(selector, layers, pairs), options.temperature));
}

at::Tensor ViewSelector::twiceDifferentiableMixture(const Parameters& selector,
                                                    const LayerOutputs& layers,
                                                    const std::shared_ptr<const PairIndex>& pairs,
                                                    double temperature) const {
  const std::vector<at::Tensor> z = viewPairs(layers, pairs, views_);
  const at::Tensor values = mlp_.apply(selector, at::cat(z, 0), Noise())
                                .view({static_cast<std::int64_t>(views_.size()), -1});
  return mixViews(z, viewSoftmax(values, temperature));
}

ViewChoice ViewSelector::choose(const Parameters& selector, const LayerOutputs& layers,
                                const std::shared_ptr<const PairIndex>& pairs) const {
  const WithoutGradients guard;
  const at::Tensor values = scores(selector, layers, pairs);
  return std::make_shared<const std::vector<LayerPair>>(values.scalar_type() == at::kDouble
                                                            ? bestViews<double>(values, views_)
                                                            : bestViews<float>(values, views_));
}

}  // namespace edgewise
