#include "edgewise/views/bilevel.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <cmath>

#include "edgewise/ops/device.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// A factor: a number, or a tensor [] that holds it where only a device knows it.
struct Factor {
  double number = 0;
  at::Tensor there = {};
};

at::Tensor times(const at::Tensor& x, const Factor& factor) {
  return factor.there.defined() ? x * factor.there : x * factor.number;
}

Factor negative(const Factor& factor) {
  return {-factor.number, factor.there.defined() ? -factor.there : at::Tensor()};
}

// w + scale * direction, in memory of its own.
Parameters moved(const Parameters& weights, std::span<const at::Tensor> direction,
                 const Factor& factor) {
  Parameters result = weights.clone();
  const WithoutGradients guard;
  if (factor.there.defined()) {
    result.flat().add_(times(flattened(direction), factor));
    return result;
  }
  const double scale = factor.number;
  std::int64_t offset = 0;
  for (const at::Tensor& part : direction) {
    result.flat().narrow(0, offset, part.numel()).add_(part.reshape({-1}), scale);
    offset += part.numel();
  }
  return result;
}

double normOf(std::span<const at::Tensor> parts) {
  double sum = 0;
  for (const at::Tensor& part : parts) {
    sum += totalSum((part * part).to(at::kDouble)).item<double>();
  }
  return std::sqrt(sum);
}

using Tensors = std::vector<at::Tensor>;

// ε, and what a difference over 2ε is multiplied by. A direction of length 0 gives 0.
struct Difference {
  Factor step;
  Factor over;
};

Difference differenceAlong(const Tensors& direction, double size) {
  if (onDevice(direction.front())) {
    const at::Tensor norm = normOnDevice(flattened(direction));
    const at::Tensor none = at::zeros_like(norm);
    return {{1, at::where(norm > 0, size / norm, none)},
            {1, at::where(norm > 0, norm / (2 * size), none)}};
  }
  const double norm = normOf(direction);
  return norm > 0 ? Difference{{size / norm}, {norm / (2 * size)}} : Difference{};
}

Tensors zerosLike(std::span<const at::Tensor> tensors) {
  Tensors zeros;
  for (const at::Tensor& tensor : tensors) {
    zeros.push_back(at::zeros_like(tensor).detach());
  }
  return zeros;
}

Tensors byDifference(const BilevelLosses& losses, const Parameters& weights,
                     const Parameters& selector, const Tensors& direction, double size) {
  const Difference difference = differenceAlong(direction, size);
  if (difference.step.number == 0) {
    return zerosLike(selector.tensors());
  }
  const Parameters plus = moved(weights, direction, difference.step);
  Tensors result = gradients(losses.lower(plus, selector, GradientUse::kOnce), selector.tensors());
  const Parameters minus = moved(weights, direction, negative(difference.step));
  const Tensors below =
      gradients(losses.lower(minus, selector, GradientUse::kOnce), selector.tensors());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const at::Tensor change = result[i] - below[i];
    result[i] = difference.step.there.defined() ? times(change, difference.over)
                                                : change / (2 * difference.step.number);
  }
  return result;
}

Tensors byDifferentiatingTwice(const BilevelLosses& losses, const Parameters& weights,
                               const Parameters& selector, const Tensors& direction) {
  const Tensors slope = gradients(losses.lower(weights, selector, GradientUse::kAgain),
                                  weights.tensors(), GradientUse::kAgain);
  at::Tensor along;
  for (std::size_t i = 0; i < slope.size(); ++i) {
    const at::Tensor part = totalSum(slope[i] * direction[i]);
    along = i == 0 ? part : along + part;
  }
  return gradients(along, selector.tensors());
}

}  // namespace

SearchOrder parseSearchOrder(std::string_view name) {
  if (name == "first") {
    return SearchOrder::kFirst;
  }
  if (name == "second") {
    return SearchOrder::kSecond;
  }
  if (name == "exact") {
    return SearchOrder::kExact;
  }
  throw ConfigError(fmt::format("selector.order: no order is called '{}'", name),
                    "known: first, second, exact");
}

SelectorGradient selectorGradient(const BilevelLosses& losses, const Parameters& weights,
                                  const Parameters& selector, const BilevelOptions& options) {
  const bool virtual_step = options.order != SearchOrder::kFirst && options.virtual_step > 0;
  const Factor step{options.virtual_step, options.virtual_step_there};
  SelectorGradient result;
  Parameters ahead;
  if (virtual_step) {
    const at::Tensor lower = losses.lower(weights, selector, GradientUse::kOnce);
    // Whoever computes the loss may use part of its graph again.
    ahead =
        moved(weights, gradients(lower, weights.tensors(), GradientUse::kOnce, /*keep_graph=*/true),
              negative(step));
  }
  const Parameters& at = virtual_step ? ahead : weights;
  Tensors inputs(selector.tensors().begin(), selector.tensors().end());
  if (virtual_step) {
    inputs.insert(inputs.end(), at.tensors().begin(), at.tensors().end());
  }
  const at::Tensor upper = losses.upper(at, selector, GradientUse::kOnce);
  result.upper_loss = upper.detach();
  Tensors both = gradients(upper, inputs);
  const auto split = both.begin() + static_cast<std::ptrdiff_t>(selector.tensors().size());
  result.gradient.assign(both.begin(), split);
  if (!virtual_step) {
    return result;
  }
  const Tensors direction(split, both.end());
  const Tensors mixed =
      options.order == SearchOrder::kExact
          ? byDifferentiatingTwice(losses, weights, selector, direction)
          : byDifference(losses, weights, selector, direction, options.difference);
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    result.gradient[i] = result.gradient[i] - times(mixed[i], step);
  }
  return result;
}

}  // namespace edgewise
