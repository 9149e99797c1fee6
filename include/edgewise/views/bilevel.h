// The gradient of the selector in the bi-level problem of the paper:
//
//   min over θ of L_U(w*(θ), θ)   with   w*(θ) = argmin over w of L_T(w, θ)
//
// One virtual step w' = w - ξ ∇_w L_T(w, θ) stands for w*, which gives
//
//   ∇_θ L_U(w', θ) - ξ b,   b = ∇_θ (∇_w L_T(w, θ) · v),   v = ∇_w' L_U(w', θ)
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "edgewise/nn/parameters.h"
#include "edgewise/ops/gradients.h"

namespace edgewise {

// How b is computed: not at all, from L_T at w + εv and w - εv, or by differentiating twice.
enum class SearchOrder : std::uint8_t { kFirst, kSecond, kExact };

// "first", "second", "exact". Throws ConfigError for another name.
[[nodiscard]] SearchOrder parseSearchOrder(std::string_view name);

struct BilevelOptions {
  SearchOrder order = SearchOrder::kSecond;
  // ξ, the size of the virtual step; 0 is the first order.
  double virtual_step = 0.01;
  // The same, [], where only a device knows it, and `virtual_step` is any positive number.
  at::Tensor virtual_step_there = {};
  // ε = this / ‖v‖.
  double difference = 0.01;
};

// A loss as a function of (w, θ), whose gradient will be differentiated again or not.
using BilevelLoss = std::function<at::Tensor(const Parameters& weights, const Parameters& selector,
                                             GradientUse use)>;

// The same batches and the same noise at every call, so that what depends on the weights alone may
// be computed once for the same ones.
struct BilevelLosses {
  BilevelLoss lower;
  BilevelLoss upper;
};

struct SelectorGradient {
  // One a selector parameter.
  std::vector<at::Tensor> gradient;
  // [].
  at::Tensor upper_loss;
};

// Neither `weights` nor `selector` is changed.
[[nodiscard]] SelectorGradient selectorGradient(const BilevelLosses& losses,
                                                const Parameters& weights,
                                                const Parameters& selector,
                                                const BilevelOptions& options);

}  // namespace edgewise
