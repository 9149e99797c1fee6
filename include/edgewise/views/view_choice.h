// Which views of each pair are looked at, and how much each of them counts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/ops/gradients.h"
#include "edgewise/ops/view_pairs.h"

namespace edgewise {

// How much each view of a pair counts, [views, pairs] (undefined: all the same), and what is added
// to its score, [pairs], where something is; the loss can be differentiated through both, as often
// as `use` says.
struct ViewMixture {
  at::Tensor shares = {};
  at::Tensor bonus = {};
  GradientUse use = GradientUse::kOnce;

  // Scores [pairs] with what is added to them.
  [[nodiscard]] at::Tensor rewarded(const at::Tensor& scores) const;
};

// The same number of views for every pair, best first. What is not chosen counts for nothing.
class ViewChoices {
 public:
  explicit ViewChoices(std::size_t per_pair) : per_pair_(per_pair) {}
  // Of so many pairs, each to be set.
  ViewChoices(std::size_t per_pair, std::size_t pairs)
      : per_pair_(per_pair),
        views_(per_pair * pairs),
        weights_(per_pair * pairs),
        confidence_(pairs) {}
  // Made on a device, where alone they are known: shares [views, pairs] of at most so many views a
  // pair, and the bonus [pairs] of pairs that have one.
  static std::shared_ptr<const ViewChoices> onDevice(at::Tensor shares, std::size_t per_pair,
                                                     at::Tensor bonus = {});

  // One pair more. `weights` add up to 1; `confidence` is the share of the first among all views.
  void add(std::span<const LayerPair> views, std::span<const float> weights, float confidence);
  // The same of a pair that is there; several threads may set different pairs.
  void set(std::size_t pair, std::span<const LayerPair> views, std::span<const float> weights,
           float confidence);
  // What is added to the scores of all pairs so far.
  void setBonus(std::vector<float> bonus);
  void append(const ViewChoices& more);
  [[nodiscard]] ViewChoices select(std::span<const std::uint32_t> pairs) const;

  [[nodiscard]] std::size_t pairCount() const { return confidence_.size(); }
  [[nodiscard]] std::size_t perPair() const { return per_pair_; }
  // The view that counts most.
  [[nodiscard]] LayerPair best(std::size_t pair) const { return views_[pair * per_pair_]; }
  [[nodiscard]] std::span<const LayerPair> views(std::size_t pair) const {
    return std::span(views_).subspan(pair * per_pair_, per_pair_);
  }
  [[nodiscard]] std::span<const float> weights(std::size_t pair) const {
    return std::span(weights_).subspan(pair * per_pair_, per_pair_);
  }
  // The view that `lot`, uniform in [0, 1), falls on: each as often as it counts.
  [[nodiscard]] LayerPair drawn(std::size_t pair, double lot) const;
  [[nodiscard]] float confidence(std::size_t pair) const { return confidence_[pair]; }
  // How much each view of `depth` layers counts, [views, pairs], where `options` say.
  [[nodiscard]] at::Tensor shares(std::size_t depth, const at::TensorOptions& options) const;
  // What is added to the pairs' scores, [pairs], where `options` say; undefined: nothing.
  [[nodiscard]] at::Tensor bonus(const at::TensorOptions& options) const;
  // Scores [pairs] with it.
  [[nodiscard]] at::Tensor rewarded(const at::Tensor& scores) const;

 private:
  std::size_t per_pair_;
  std::vector<LayerPair> views_;
  std::vector<float> weights_;
  std::vector<float> confidence_;
  // One a pair, or none at all.
  std::vector<float> bonus_;
  at::Tensor shares_;
  at::Tensor device_bonus_;
};

using ViewChoice = std::shared_ptr<const ViewChoices>;

// One view for each pair, for sure.
[[nodiscard]] ViewChoice singleViews(std::span<const LayerPair> views);

}  // namespace edgewise
