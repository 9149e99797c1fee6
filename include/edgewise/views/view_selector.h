// The selector g_θ: scores every view of a pair by the pair's own representation under that view,
// so that it can choose for pairs it has never seen; by option also by how many neighbours the ends
// have, and then it may add to the pair's own score what these say of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "edgewise/nn/encoder.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/nn/predictor.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/views/encoded_pairs.h"
#include "edgewise/views/selector_options.h"
#include "edgewise/views/view_choice.h"

namespace edgewise {

// What a selector looks at.
struct SelectorContext {
  std::size_t depth = 0;
  std::int64_t width = 0;
  // Representations are both ends side by side; else their products.
  bool concatenate = false;
  // Undirected pairs are judged the same both ways.
  bool symmetric = true;
  // Pairs are learned from by comparing them with others of the same source: what is said of that
  // alone is never learned, and so not said.
  bool within_source = false;
};

// How views are weighed. They are scored by kernels that hold no view of all pairs; where the
// gradient will be differentiated again, by operations that can be, at nine times the memory for
// three layers.
struct MixtureOptions {
  // All views count the same, nobody is asked and nothing added.
  bool alike = false;
  double temperature = 1;
  // One over it, [], where only a device knows it; undefined: `temperature` holds.
  at::Tensor inverse_temperature = {};
  // Whether what is said of pairs apart from views comes along.
  bool rewarded = true;
  GradientUse use = GradientUse::kOnce;
};

// What a selector says of pairs.
struct ViewVerdict {
  // [views, pairs].
  at::Tensor scores;
  // [pairs], added to the pairs' own scores; undefined: nothing is.
  at::Tensor bonus = {};
};

class ViewSelector {
 public:
  // Its parameters go into a layout of their own.
  ViewSelector(const SelectorOptions& options, const SelectorContext& context,
               ParameterLayout& layout);

  [[nodiscard]] std::span<const LayerPair> views() const { return views_; }
  // Whether it looks at the ends' degrees, which the pairs must come with then.
  [[nodiscard]] bool seesDegrees() const { return degrees_.has_value(); }
  [[nodiscard]] ViewVerdict judge(const Parameters& selector, const EncodedPairs& pairs,
                                  GradientUse use = GradientUse::kOnce) const;
  // How much each view of a pair counts: softmax over its scores.
  [[nodiscard]] ViewMixture mix(const Parameters& selector, const EncodedPairs& pairs,
                                const MixtureOptions& options) const;
  // The best views of each pair by the options; of equals those first in views(), seen from the
  // lower of both ends where pairs have no direction.
  [[nodiscard]] ViewChoice choose(const Parameters& selector, const EncodedPairs& pairs) const;

 private:
  [[nodiscard]] at::Tensor scoresOneWay(const Parameters& selector, const LayerOutputs& layers,
                                        const std::shared_ptr<const PairIndex>& pairs,
                                        GradientUse use) const;
  // By representations alone.
  [[nodiscard]] at::Tensor scoresOf(const Parameters& selector, const EncodedPairs& pairs,
                                    GradientUse use) const;
  // By degrees alone.
  [[nodiscard]] ViewVerdict byDegrees(const Parameters& selector, const at::Tensor& degrees) const;

  std::size_t depth_;
  bool concatenate_;
  bool symmetric_;
  bool both_ways_;
  std::size_t top_;
  double temperature_;
  std::vector<LayerPair> views_;
  // Whether a pair's score is added to.
  bool rewards_;
  bool within_source_;
  // [what is made of degrees, views or one more].
  std::optional<ParameterId> degrees_;
  Mlp mlp_;
};

}  // namespace edgewise
