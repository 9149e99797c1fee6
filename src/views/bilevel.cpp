#include "edgewise/views/bilevel.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <cmath>

#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// w + scale * direction, in memory of its own.
Parameters moved(const Parameters& weights, std::span<const at::Tensor> direction, double scale) {
  Parameters result = weights.clone();
  const WithoutGradients guard;
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

Tensors byDifference(const BilevelLosses& losses, const Parameters& weights,
                     const Parameters& selector, const Tensors& direction, double difference) {
  const double norm = normOf(direction);
  Tensors result;
  if (norm == 0) {
    for (const at::Tensor& tensor : selector.tensors()) {
      result.push_back(at::zeros_like(tensor).detach());
    }
    return result;
  }
  const double step = difference / norm;
  const Parameters plus = moved(weights, direction, step);
  result = gradients(losses.lower(plus, selector, GradientUse::kOnce), selector.tensors());
  const Parameters minus = moved(weights, direction, -step);
  const Tensors below =
      gradients(losses.lower(minus, selector, GradientUse::kOnce), selector.tensors());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = (result[i] - below[i]) / (2 * step);
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
  SelectorGradient result;
  Parameters ahead;
  if (virtual_step) {
    const at::Tensor lower = losses.lower(weights, selector, GradientUse::kOnce);
    result.lower_loss = lower.item<double>();
    ahead = moved(weights, gradients(lower, weights.tensors()), -options.virtual_step);
  }
  const Parameters& at = virtual_step ? ahead : weights;
  Tensors inputs(selector.tensors().begin(), selector.tensors().end());
  inputs.insert(inputs.end(), at.tensors().begin(), at.tensors().end());
  const at::Tensor upper = losses.upper(at, selector, GradientUse::kOnce);
  result.upper_loss = upper.item<double>();
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
    result.gradient[i] = result.gradient[i] - options.virtual_step * mixed[i];
  }
  return result;
}

}  // namespace edgewise
