#include "edgewise/ops/leading_vectors.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/ops/product.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/rng.h"
#include "ops/one_thread.h"

namespace edgewise {
namespace {

// More columns than asked for: the last ones converge slowest and are dropped.
constexpr std::int64_t kSpareColumns = 16;
constexpr int kPlainSteps = 6;
constexpr int kRounds = 3;
// Higher ones separate more, but a block whose columns differ by more than a double's digits is no
// basis any more.
constexpr int kDegree = 8;
// What the filter damps ends no lower, so that there is something to damp.
constexpr double kLowestBound = -0.5;

at::Tensor randomBlock(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  const CounterRng random(seed, "leading vectors");
  at::Tensor block = at::empty({rows, columns}, at::TensorOptions(at::kDouble));
  auto* const values = block.data_ptr<double>();
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    values[i] = random.normal(static_cast<std::uint64_t>(i));
  }
  return block;
}

class SubspaceIteration {
 public:
  SubspaceIteration(const std::shared_ptr<const MessagePlan>& plan, at::Tensor block,
                    ProgressTask& task)
      : plan_(plan), block_(std::move(block)), task_(task) {}

  // (A + I) / 2 to a small power: eigenvalues near -1 are gone, those near 1 stand out.
  void warmUp() {
    for (int step = 0; step < kPlainSteps; ++step) {
      block_ = passed(block_).add_(block_).div_(2);
    }
  }

  // The polynomial that is small on [-1, bound] and grows fastest above.
  void filter() {
    const double bound = std::max(kLowestBound, values_.min().item<double>());
    const double centre = (bound - 1) / 2;
    const double half = (bound + 1) / 2;
    const auto mapped = [&](const at::Tensor& x) { return passed(x).sub_(x, centre).div_(half); };
    at::Tensor before = block_;
    block_ = mapped(before);
    for (int degree = 1; degree < kDegree; ++degree) {
      at::Tensor next = mapped(block_).mul_(2).sub_(before);
      before = std::move(block_);
      block_ = std::move(next);
    }
  }

  // The block becomes the best approximations of eigenvectors that it spans, largest first.
  void settle() {
    makeOrthonormal();
    makeOrthonormal();
    const at::Tensor inner = product(block_, passed(block_), Transpose::kFirst).to(at::kCPU);
    const detail::OneThread one_thread;
    const auto [values, vectors] = at::linalg_eigh((inner + inner.t()) / 2);
    values_ = values.flip(0);
    block_ = product(block_, vectors.flip(1).contiguous().to(block_.device()));
  }

  [[nodiscard]] LeadingVectors first(std::int64_t width) const {
    return {.vectors = block_.narrow(1, 0, width).contiguous(),
            .values = values_.narrow(0, 0, width).clamp(-1, 1).to(block_.device())};
  }

 private:
  at::Tensor passed(const at::Tensor& x) {
    throwIfInterrupted();
    at::Tensor sum = aggregate(plan_, x);
    task_.advance();
    return sum;
  }

  // By a Cholesky factor of the columns' products; a second time mends what rounding left.
  void makeOrthonormal() {
    const at::Tensor inner = product(block_, block_, Transpose::kFirst).to(at::kCPU);
    const at::Tensor lengths = inner.diagonal().sqrt();
    const at::Tensor scale = at::where(lengths > 0, lengths.reciprocal(), 1.0);
    const std::int64_t width = inner.size(0);
    // Columns that depend on others become noise instead of an error.
    constexpr double kRidge = 1e-13;
    const detail::OneThread one_thread;
    const at::Tensor unit = at::eye(width, inner.options());
    const at::Tensor factor = at::linalg_cholesky(inner * scale * scale.unsqueeze(1) +
                                                  unit * (kRidge * static_cast<double>(width)));
    const at::Tensor inverse = (scale.unsqueeze(1) * at::linalg_inv(factor).t()).contiguous();
    block_ = product(block_, inverse.to(block_.device()));
  }

  std::shared_ptr<const MessagePlan> plan_;
  at::Tensor block_;
  ProgressTask& task_;
  // Of the block's columns, on the host.
  at::Tensor values_;
};

}  // namespace

LeadingVectors leadingVectors(const std::shared_ptr<const MessagePlan>& plan, std::int64_t width,
                              std::uint64_t seed, at::Device device, ProgressSink& progress) {
  invariant(plan->norm() == Norm::kSymmetric || plan->norm() == Norm::kSymmetricOpen,
            "eigenvectors of an operator that is not symmetric");
  invariant(width >= 1 && !plan->isMasked(), "leading vectors of nothing");
  const WithoutGradients guard;
  const auto nodes = static_cast<std::int64_t>(plan->nodeCount());
  const std::int64_t columns = std::min(nodes, width + kSpareColumns);
  // A block as wide as the graph spans everything as it is.
  const int rounds = columns < nodes ? kRounds : 0;
  ProgressTask task(progress, "finding eigenvectors",
                    rounds > 0 ? kPlainSteps + 1 + rounds * (kDegree + 1) : 1);
  SubspaceIteration iteration(plan, randomBlock(nodes, columns, seed).to(device), task);
  if (rounds > 0) {
    iteration.warmUp();
  }
  iteration.settle();
  for (int round = 0; round < rounds; ++round) {
    iteration.filter();
    iteration.settle();
  }
  return iteration.first(std::min(width, nodes));
}

}  // namespace edgewise
