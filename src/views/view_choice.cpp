#include "edgewise/views/view_choice.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <utility>

#include "edgewise/util/error.h"

namespace edgewise {

at::Tensor ViewMixture::rewarded(const at::Tensor& scores) const {
  return bonus.defined() ? scores + bonus : scores;
}

void ViewChoices::add(std::span<const LayerPair> views, std::span<const float> weights,
                      float confidence) {
  invariant(views.size() == per_pair_ && weights.size() == per_pair_,
            "every pair has as many views as the others");
  views_.insert(views_.end(), views.begin(), views.end());
  weights_.insert(weights_.end(), weights.begin(), weights.end());
  confidence_.push_back(confidence);
}

void ViewChoices::set(std::size_t pair, std::span<const LayerPair> views,
                      std::span<const float> weights, float confidence) {
  invariant(pair < pairCount() && views.size() == per_pair_ && weights.size() == per_pair_,
            "a pair that is there, and as many views as the others have");
  std::ranges::copy(views, views_.begin() + static_cast<std::ptrdiff_t>(pair * per_pair_));
  std::ranges::copy(weights, weights_.begin() + static_cast<std::ptrdiff_t>(pair * per_pair_));
  confidence_[pair] = confidence;
}

void ViewChoices::setBonus(std::vector<float> bonus) {
  invariant(bonus.size() == pairCount(), "every pair has a bonus, or none");
  bonus_ = std::move(bonus);
}

void ViewChoices::append(const ViewChoices& more) {
  invariant(more.per_pair_ == per_pair_, "choices of different sizes do not go together");
  invariant(pairCount() == 0 || more.pairCount() == 0 || bonus_.empty() == more.bonus_.empty(),
            "every pair has a bonus, or none");
  invariant(!shares_.defined() && !more.shares_.defined(), "a device's choices stay there");
  views_.insert(views_.end(), more.views_.begin(), more.views_.end());
  weights_.insert(weights_.end(), more.weights_.begin(), more.weights_.end());
  confidence_.insert(confidence_.end(), more.confidence_.begin(), more.confidence_.end());
  bonus_.insert(bonus_.end(), more.bonus_.begin(), more.bonus_.end());
}

ViewChoices ViewChoices::select(std::span<const std::uint32_t> pairs) const {
  invariant(!shares_.defined(), "a device's choices stay there");
  ViewChoices some(per_pair_);
  for (const std::uint32_t pair : pairs) {
    some.add(views(pair), weights(pair), confidence(pair));
    if (!bonus_.empty()) {
      some.bonus_.push_back(bonus_[pair]);
    }
  }
  return some;
}

LayerPair ViewChoices::drawn(std::size_t pair, double lot) const {
  const std::span<const float> shares = weights(pair);
  for (std::size_t rank = 0; rank < per_pair_; ++rank) {
    lot -= static_cast<double>(shares[rank]);
    if (lot < 0) {
      return views(pair)[rank];
    }
  }
  // Rounded weights may add up to a little less than 1.
  return best(pair);
}

std::shared_ptr<const ViewChoices> ViewChoices::onDevice(at::Tensor shares, std::size_t per_pair,
                                                         at::Tensor bonus) {
  auto choices = std::make_shared<ViewChoices>(per_pair);
  choices->shares_ = std::move(shares);
  choices->device_bonus_ = std::move(bonus);
  return choices;
}

at::Tensor ViewChoices::shares(std::size_t depth, const at::TensorOptions& options) const {
  const at::TensorOptions there = options.requires_grad(false);
  if (shares_.defined()) {
    return shares_.to(there);
  }
  const std::size_t pairs = pairCount();
  at::Tensor result = at::zeros(
      {static_cast<std::int64_t>(depth * depth), static_cast<std::int64_t>(pairs)}, at::kFloat);
  auto* const out = result.data_ptr<float>();
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    for (std::size_t rank = 0; rank < per_pair_; ++rank) {
      const LayerPair view = views(pair)[rank];
      out[(view.source * depth + view.target) * pairs + pair] = weights(pair)[rank];
    }
  }
  return result.to(there);
}

at::Tensor ViewChoices::bonus(const at::TensorOptions& options) const {
  const at::TensorOptions there = options.requires_grad(false);
  if (device_bonus_.defined()) {
    return device_bonus_.to(there);
  }
  if (bonus_.empty()) {
    return {};
  }
  return at::tensor(bonus_).to(there);
}

at::Tensor ViewChoices::rewarded(const at::Tensor& scores) const {
  return ViewMixture{.shares = {}, .bonus = bonus(scores.options())}.rewarded(scores);
}

ViewChoice singleViews(std::span<const LayerPair> views) {
  constexpr float kAll = 1;
  auto choices = std::make_shared<ViewChoices>(1);
  for (const LayerPair& view : views) {
    choices->add(std::span(&view, 1), std::span(&kAll, 1), kAll);
  }
  return choices;
}

}  // namespace edgewise
