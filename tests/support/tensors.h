// Tensors in tests: random ones, comparisons, and an operation with its derivatives against another
// way to compute the same.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "edgewise/ops/backend.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"

namespace edgewise::testing {

using Tensors = std::vector<at::Tensor>;
using TensorFunction = std::function<Tensors(const Tensors&)>;

// Entries of mean 0 and variance 1 that depend on the seed alone; uniform, which is quick to draw.
inline at::Tensor randomTensor(at::IntArrayRef shape, std::uint64_t seed,
                               at::ScalarType type = at::kDouble) {
  at::Tensor values = at::empty(shape, at::TensorOptions(at::kDouble));
  std::vector<std::uint32_t> words(static_cast<std::size_t>(values.numel()));
  CounterRng(seed, "random tensor").fill(0, 0, words);
  std::ranges::transform(words, values.data_ptr<double>(), [](std::uint32_t word) {
    return std::sqrt(12.0) * ((word + 0.5) * 0x1.0p-32 - 0.5);
  });
  return values.to(type);
}

// The same, to be differentiated by.
inline at::Tensor randomLeaf(at::IntArrayRef shape, std::uint64_t seed,
                             at::ScalarType type = at::kDouble) {
  return randomTensor(shape, seed, type).set_requires_grad(true);
}

// Every entry within tolerance * the largest wanted one (or 1); NaN is close to nothing.
inline void expectClose(const at::Tensor& got, const at::Tensor& want, double tolerance = 1e-10) {
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(got.scalar_type(), want.scalar_type());
  if (want.numel() > 0) {
    const double size = std::max(1.0, want.abs().max().item<double>());
    EXPECT_LE((got - want).abs().max().item<double>(), tolerance * size);
  }
}

inline void expectClose(const Tensors& got, const Tensors& want, double tolerance = 1e-10) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("tensor " + std::to_string(i));
    expectClose(got[i], want[i], tolerance);
  }
}

inline bool sameBits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  return left.sizes() == right.sizes() && left.scalar_type() == right.scalar_type() &&
         (left.nbytes() == 0 || std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) == 0);
}

// A number that depends on all entries, each with a weight and a curvature of its own: a gradient
// in the wrong place shows, and linear operations have second derivatives to compare.
inline at::Tensor probe(const Tensors& outputs) {
  at::Tensor total = at::zeros({}, outputs.at(0).options().requires_grad(false));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& out = outputs[i];
    const at::Tensor weight = randomTensor(out.sizes(), 1000 + 2 * i, out.scalar_type());
    const at::Tensor curvature = randomTensor(out.sizes(), 1001 + 2 * i, out.scalar_type());
    total = total + (out * (weight + curvature * out)).sum();
  }
  return total;
}

struct Derivatives {
  Tensors values;
  // Of probe(values), in one pass and in a pass that can be differentiated.
  Tensors first;
  Tensors first_again;
  // Of the sum of all first derivatives, each entry with a random weight.
  Tensors second;
};

inline Derivatives differentiate(const TensorFunction& function, const Tensors& inputs) {
  Derivatives result;
  result.values = function(inputs);
  const at::Tensor value = probe(result.values);
  result.first = gradients(value, inputs, GradientUse::kOnce, /*keep_graph=*/true);
  result.first_again = gradients(value, inputs, GradientUse::kAgain);
  at::Tensor along = at::zeros({}, value.options().requires_grad(false));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor weight = randomTensor(inputs[i].sizes(), 2000 + i, inputs[i].scalar_type());
    along = along + (weight * result.first_again[i]).sum();
  }
  result.second = gradients(along, inputs);
  return result;
}

// Values, first and second derivatives of both functions at these leaves agree.
inline void expectSameDerivatives(const TensorFunction& ours, const TensorFunction& plain,
                                  const Tensors& inputs, double tolerance = 1e-10) {
  const Derivatives got = differentiate(ours, inputs);
  const Derivatives want = differentiate(plain, inputs);
  const auto compare = [&](const char* what, const Tensors& a, const Tensors& b) {
    SCOPED_TRACE(what);
    expectClose(a, b, tolerance);
  };
  compare("values", got.values, want.values);
  compare("first derivatives", got.first, want.first);
  compare("first derivatives to be differentiated", got.first_again, want.first);
  compare("second derivatives", got.second, want.second);
}

// The first derivative along a random direction of each input against central differences: what
// does not trust autograd at all. Not for functions with kinks near the inputs.
inline void expectFiniteDifferences(const TensorFunction& function, const Tensors& inputs) {
  constexpr double kStep = 1e-6;
  const Tensors gradient = gradients(probe(function(inputs)), inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor direction = randomTensor(inputs[i].sizes(), 3000 + i);
    const auto value_at = [&](double step) {
      Tensors moved = inputs;
      moved[i] = (inputs[i] + step * direction).detach();
      return probe(function(moved)).item<double>();
    };
    const double slope = (gradient[i] * direction).sum().item<double>();
    const double secant = (value_at(kStep) - value_at(-kStep)) / (2 * kStep);
    EXPECT_NEAR(slope, secant, 1e-6 * std::max(1.0, std::abs(slope))) << "input " << i;
  }
}

// Puts the number of threads back at the end of the scope.
class KeepThreads {
 public:
  KeepThreads() = default;
  KeepThreads(const KeepThreads&) = delete;
  KeepThreads& operator=(const KeepThreads&) = delete;
  KeepThreads(KeepThreads&&) = delete;
  KeepThreads& operator=(KeepThreads&&) = delete;
  ~KeepThreads() { setBackendThreads(before_); }

 private:
  int before_ = threadCount();
};

// `compute` gives the same bits with 1, 2 and 3 threads.
inline void expectSameBitsForThreads(const std::function<Tensors()>& compute) {
  const KeepThreads keep;
  setBackendThreads(1);
  const Tensors serial = compute();
  for (const int threads : {2, 3}) {
    setBackendThreads(threads);
    ASSERT_EQ(threadCount(), threads) << "nothing would be compared";
    const Tensors parallel = compute();
    ASSERT_EQ(parallel.size(), serial.size());
    for (std::size_t i = 0; i < serial.size(); ++i) {
      EXPECT_TRUE(sameBits(parallel[i], serial[i]))
          << "tensor " << i << " with " << threads << " threads";
    }
  }
}

// The values, first and second derivatives of a function of these leaves do not depend on threads.
// The sums in here are torch's own, whose bits do; but nothing that is compared uses their value.
inline void expectSameBitsForThreads(const TensorFunction& function, const Tensors& inputs) {
  expectSameBitsForThreads([&] {
    const Derivatives all = differentiate(function, inputs);
    Tensors result = all.values;
    for (const Tensors& more : {all.first, all.first_again, all.second}) {
      result.insert(result.end(), more.begin(), more.end());
    }
    return result;
  });
}

}  // namespace edgewise::testing
