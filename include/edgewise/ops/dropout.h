// Dropout whose masks are a function of (seed, place, step, element): nothing is stored, the
// backward pass draws the same mask again, and neither threads nor resuming change a bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "edgewise/ops/pair_index.h"
#include "edgewise/util/rng.h"

namespace edgewise {

// The mask of one place in a model at one step. An element stays with probability 1 - rate, and is
// then divided by it.
class DropoutMask {
 public:
  // Keeps everything.
  DropoutMask() : rng_(0, 0) {}
  // `rate` in [0, 1). Throws ConfigError otherwise.
  DropoutMask(double rate, const CounterRng& rng, std::uint64_t step);
  // At a step that stands in the memory of a device and only its kernels can read.
  DropoutMask(double rate, const CounterRng& rng, const std::uint64_t* step_on_device);

  [[nodiscard]] bool keepsAll() const { return threshold_ == 0; }
  // What kept elements are multiplied by.
  [[nodiscard]] double scale() const { return scale_; }
  // keep[i] for elements first .. first + size; `first` must be a multiple of 8.
  void draw(std::uint64_t first, std::span<std::uint8_t> keep) const;

  // What kernels of a device draw the same by.
  [[nodiscard]] const CounterRng& random() const { return rng_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }
  [[nodiscard]] const std::uint64_t* stepOnDevice() const { return step_on_device_; }
  [[nodiscard]] std::uint32_t threshold() const { return threshold_; }

 private:
  CounterRng rng_;
  std::uint64_t step_ = 0;
  const std::uint64_t* step_on_device_ = nullptr;
  // Of 65536 values of an element's 16 bits, those below drop it.
  std::uint32_t threshold_ = 0;
  double scale_ = 1;
};

// x with dropped elements 0 and the others scaled, of any shape.
[[nodiscard]] at::Tensor dropout(const at::Tensor& x, const DropoutMask& mask);
// max(x, 0), then dropout, in one pass.
[[nodiscard]] at::Tensor reluDropout(const at::Tensor& x, const DropoutMask& mask);

// reluDropout(x, mask), and x itself at both ends of every pair (gatherEnd): what a layer passes on
// and what is seen of it. Together, since on a device their gradients meet in one pass.
struct ActivatedEnds {
  at::Tensor activated;
  at::Tensor ends;
};
[[nodiscard]] ActivatedEnds activatedEnds(const at::Tensor& x, const DropoutMask& mask,
                                          const std::shared_ptr<const PairIndex>& pairs);

}  // namespace edgewise
