#include "edgewise/ops/gradients.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

namespace edgewise {

std::vector<at::Tensor> gradients(const at::Tensor& value, std::span<const at::Tensor> inputs,
                                  GradientUse use, bool keep_graph) {
  const bool again = use == GradientUse::kAgain;
  std::vector<at::Tensor> result(inputs.size());
  // Autograd refuses a value that depends on nothing; its gradients are zeros like any other's.
  if (value.requires_grad()) {
    result = torch::autograd::grad({value}, {inputs.begin(), inputs.end()}, {}, keep_graph || again,
                                   again, /*allow_unused=*/true);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!result[i].defined()) {
      result[i] = at::zeros_like(inputs[i]).detach();
    }
  }
  return result;
}

at::Tensor flattened(std::span<const at::Tensor> parts) {
  std::vector<at::Tensor> flat;
  flat.reserve(parts.size());
  for (const at::Tensor& part : parts) {
    flat.push_back(part.reshape({-1}));
  }
  return at::cat(flat, 0);
}

at::Tensor normOnDevice(const at::Tensor& flat) {
  return at::linalg_vector_norm(flat, 2, c10::nullopt, /*keepdim=*/false, at::kDouble);
}

WithoutGradients::WithoutGradients() : before_(c10::GradMode::is_enabled()) {
  c10::GradMode::set_enabled(false);
}

WithoutGradients::~WithoutGradients() { c10::GradMode::set_enabled(before_); }

}  // namespace edgewise
