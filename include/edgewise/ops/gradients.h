// Gradients of a scalar, behind a header that is cheap to include.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace edgewise {

// Whether the gradient itself will be differentiated.
enum class GradientUse : std::uint8_t { kOnce, kAgain };

// d value / d input for each input, of the input's shape; zeros where the value does not depend on
// it. `keep_graph` leaves the graph of `value` for another call.
[[nodiscard]] std::vector<at::Tensor> gradients(const at::Tensor& value,
                                                std::span<const at::Tensor> inputs,
                                                GradientUse use = GradientUse::kOnce,
                                                bool keep_graph = false);

// All entries of all parts, one after another.
[[nodiscard]] at::Tensor flattened(std::span<const at::Tensor> parts);
// The Euclidean norm, [] in double precision, where only a device will know it.
[[nodiscard]] at::Tensor normOnDevice(const at::Tensor& flat);

// No graph is recorded while one of these lives.
class WithoutGradients {
 public:
  WithoutGradients();
  WithoutGradients(const WithoutGradients&) = delete;
  WithoutGradients& operator=(const WithoutGradients&) = delete;
  WithoutGradients(WithoutGradients&&) = delete;
  WithoutGradients& operator=(WithoutGradients&&) = delete;
  ~WithoutGradients();

 private:
  bool before_;
};

}  // namespace edgewise
