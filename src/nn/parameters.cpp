#include "edgewise/nn/parameters.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

double startValue(const Initial& initial, const CounterRng& random, std::uint64_t i) {
  switch (initial.kind) {
    case Initial::Kind::kUniform:
      return initial.size * (2 * random.uniform(i) - 1);
    case Initial::Kind::kNormal:
      return initial.size * random.normal(i);
    default:
      return initial.size;
  }
}

// Columns of length 1 at right angles to each other that span what random ones do.
at::Tensor orthogonalMatrix(const ParameterLayout::Entry& entry, const CounterRng& random) {
  at::Tensor matrix = at::empty(entry.shape, at::kDouble);
  auto* const values = matrix.data_ptr<double>();
  for (std::int64_t i = 0; i < entry.size; ++i) {
    values[i] = random.normal(static_cast<std::uint64_t>(i));
  }
  const bool wide = entry.shape[0] < entry.shape[1];
  const auto [q, r] = at::linalg_qr(wide ? matrix.t() : matrix);
  // Signs as if r had a positive diagonal, which makes the result one and the same.
  const at::Tensor signed_q = q * at::where(r.diagonal() < 0, -1.0, 1.0);
  return (wide ? signed_q.t() : signed_q).contiguous();
}

template <class Real>
void fill(Real* out, const ParameterLayout::Entry& entry, std::uint64_t seed) {
  const CounterRng random(seed, "parameter." + entry.name);
  if (entry.initial.kind == Initial::Kind::kOrthogonal) {
    const at::Tensor matrix = orthogonalMatrix(entry, random);
    std::copy_n(matrix.data_ptr<double>(), entry.size, out);
    return;
  }
  for (std::int64_t i = 0; i < entry.size; ++i) {
    out[i] = static_cast<Real>(startValue(entry.initial, random, static_cast<std::uint64_t>(i)));
  }
}

}  // namespace

Initial Initial::glorot(std::int64_t in, std::int64_t out) {
  return {Kind::kUniform,
          std::sqrt(6.0 / static_cast<double>(std::max<std::int64_t>(1, in + out)))};
}

Initial Initial::fanIn(std::int64_t in) {
  return {Kind::kUniform, 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, in)))};
}

ParameterId ParameterLayout::add(std::string name, std::vector<std::int64_t> shape,
                                 Initial initial) {
  invariant(std::ranges::find(entries_, name, &Entry::name) == entries_.end(),
            "two parameters of one name");
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) {
    size *= extent;
  }
  const std::int64_t offset = totalSize();
  entries_.push_back({std::move(name), std::move(shape), initial, offset, size});
  return static_cast<ParameterId>(entries_.size() - 1);
}

std::int64_t ParameterLayout::totalSize() const {
  return entries_.empty() ? 0 : entries_.back().offset + entries_.back().size;
}

Parameters Parameters::initial(const ParameterLayout& layout, std::uint64_t seed,
                               at::ScalarType type, at::Device device) {
  Parameters result;
  result.flat_ = at::empty({layout.totalSize()}, at::TensorOptions(type));
  std::vector<std::vector<std::int64_t>> shapes;
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (type == at::kDouble) {
      fill(result.flat_.data_ptr<double>() + entry.offset, entry, seed);
    } else {
      fill(result.flat_.data_ptr<float>() + entry.offset, entry, seed);
    }
    shapes.push_back(entry.shape);
  }
  result.flat_ = result.flat_.to(device);
  result.cut(shapes);
  return result;
}

Parameters Parameters::clone() const { return flat_.defined() ? to(flat_.device()) : Parameters(); }

Parameters Parameters::to(at::Device device) const {
  Parameters result;
  if (!flat_.defined()) {
    return result;
  }
  result.flat_ = flat_.to(device, /*non_blocking=*/false, /*copy=*/true);
  std::vector<std::vector<std::int64_t>> shapes;
  for (const at::Tensor& tensor : tensors_) {
    shapes.push_back(tensor.sizes().vec());
  }
  result.cut(shapes);
  return result;
}

void Parameters::cut(std::span<const std::vector<std::int64_t>> shapes) {
  std::int64_t offset = 0;
  for (const std::vector<std::int64_t>& shape : shapes) {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) {
      size *= extent;
    }
    tensors_.push_back(flat_.narrow(0, offset, size).view(shape).detach().set_requires_grad(true));
    offset += size;
  }
}

}  // namespace edgewise
