// The selector g_θ: scores every view of a pair by the pair's own representation under that view,
// so that it can choose for pairs it has never seen.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "edgewise/nn/encoder.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/nn/predictor.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/views/pair_batch.h"
#include "edgewise/views/selector_options.h"

namespace edgewise {

// How a mixture is made. Views are scored and mixed by kernels that hold no view of all pairs;
// where the gradient will be differentiated again, by operations that can be, at nine times the
// memory for three layers.
struct MixtureOptions {
  double temperature = 1;
  GradientUse use = GradientUse::kOnce;
};

class ViewSelector {
 public:
  // For the views of `depth` layers of this width. Its parameters go into a layout of their own.
  ViewSelector(const SelectorOptions& options, std::size_t depth, std::int64_t width,
               ParameterLayout& layout);

  [[nodiscard]] std::span<const LayerPair> views() const { return views_; }
  // [views, pairs]. Differentiable once.
  [[nodiscard]] at::Tensor scores(const Parameters& selector, const LayerOutputs& layers,
                                  const std::shared_ptr<const PairIndex>& pairs) const;
  // The soft representation of the search, [pairs, width].
  [[nodiscard]] at::Tensor mixture(const Parameters& selector, const LayerOutputs& layers,
                                   const std::shared_ptr<const PairIndex>& pairs,
                                   const MixtureOptions& options) const;
  // The best view of each pair; the first of equals in the order of views().
  [[nodiscard]] ViewChoice choose(const Parameters& selector, const LayerOutputs& layers,
                                  const std::shared_ptr<const PairIndex>& pairs) const;

 private:
  [[nodiscard]] at::Tensor twiceDifferentiableMixture(const Parameters& selector,
                                                      const LayerOutputs& layers,
                                                      const std::shared_ptr<const PairIndex>& pairs,
                                                      double temperature) const;

  std::vector<LayerPair> views_;
  Mlp mlp_;
};

}  // namespace edgewise
