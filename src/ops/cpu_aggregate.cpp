#include "ops/cpu_aggregate.h"

#include <algorithm>
#include <span>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "ops/cpu_row_sum.h"

namespace edgewise::detail {
namespace {

// Of one multiplication and addition.
constexpr double kNanoseconds = 0.15;

template <class Real>
std::vector<Real> narrowed(std::span<const double> values) {
  return {values.begin(), values.end()};
}

// One row at a time over the plan's rows, with the scales in the kernel's own precision.
template <class Real>
class RowSummer {
 public:
  RowSummer(const MessagePlan& plan, const Real* input, Real* output, std::size_t width,
            const Blend<Real>& blend)
      : plan_(plan),
        input_(input),
        output_(output),
        width_(width),
        blend_(blend),
        far_(liesFar<Real>(plan.nodeCount(), width)),
        row_scale_(narrowed<Real>(plan.rowScale())),
        column_scale_(narrowed<Real>(plan.columnScale())) {}

  void sum(std::size_t row) const {
    const Real scale = blend_.gain * (row_scale_.empty() ? Real{1} : row_scale_[row]);
    Real* const out = output_ + row * width_;
    sumRow(input_, width_, scale, out, [&](auto& strip) {
      if (plan_.includesSelf()) {
        strip.add(row, columnScale(row));
      }
      addNeighbours(row, strip);
    });
    if (blend_.plus != nullptr) {
      const Real* const plus = blend_.plus + row * width_;
#pragma omp simd
      for (std::size_t k = 0; k < width_; ++k) {
        out[k] += blend_.times * plus[k];
      }
    }
  }

 private:
  [[nodiscard]] Real columnScale(std::size_t node) const {
    return column_scale_.empty() ? Real{1} : column_scale_[node];
  }

  // What does not differ within a row is asked before its loop.
  template <class Strip>
  void addNeighbours(std::size_t row, Strip& strip) const {
    const Real* const scales = column_scale_.empty() ? nullptr : column_scale_.data();
    const auto weights = plan_.rows().weights(NodeId{static_cast<std::uint32_t>(row)});
    const auto weight = [&](std::size_t i) { return static_cast<Real>(weights[i]); };
    const auto add = [&](const auto& scale_of) { addScaled(row, strip, scale_of); };
    if (weights.empty() && scales != nullptr) {
      add([&](std::size_t, std::size_t column) { return scales[column]; });
    } else if (weights.empty()) {
      add([](std::size_t, std::size_t) { return Real{1}; });
    } else if (scales != nullptr) {
      add([&](std::size_t i, std::size_t column) { return weight(i) * scales[column]; });
    } else {
      add([&](std::size_t i, std::size_t) { return weight(i); });
    }
  }

  template <class Strip, class Scale>
  void addScaled(std::size_t row, Strip& strip, const Scale& scale_of) const {
    const std::span<const NodeId> gone = plan_.masked(row);
    if (gone.empty()) {
      addEach(row, strip, scale_of, [](NodeId) { return false; });
      return;
    }
    // Both lists ascend, so one look at the next masked neighbour is enough.
    addEach(row, strip, scale_of, [gone, next = std::size_t{0}](NodeId node) mutable {
      const bool is_gone = next < gone.size() && gone[next] == node;
      next += is_gone ? 1 : 0;
      return is_gone;
    });
  }

  // Adds the i-th neighbour times scale_of(i, neighbour), those left out that `skips`.
  template <class Strip, class Scale, class Skip>
  void addEach(std::size_t row, Strip& strip, const Scale& scale_of, Skip skips) const {
    const std::span<const NodeId> coming = comingFrom(row);
    const NodeId* const nodes = coming.data();
    const std::size_t count = plan_.rows().degree(NodeId{static_cast<std::uint32_t>(row)});
    const std::size_t asked = far_ ? coming.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i + kRowsAhead < asked) {
        strip.fetch(index(nodes[i + kRowsAhead]));
      }
      if (!skips(nodes[i])) {
        strip.add(index(nodes[i]), scale_of(i, index(nodes[i])));
      }
    }
  }

  // The row's neighbours and, behind them, those of the rows that follow.
  [[nodiscard]] std::span<const NodeId> comingFrom(std::size_t row) const {
    return plan_.rows().targets().subspan(plan_.rows().offsets()[row]);
  }

  const MessagePlan& plan_;
  const Real* input_;
  Real* output_;
  std::size_t width_;
  Blend<Real> blend_;
  bool far_;
  std::vector<Real> row_scale_;
  std::vector<Real> column_scale_;
};

}  // namespace

template <class Real>
void aggregateOnCpu(const MessagePlan& plan, const Real* input, Real* output, std::size_t width,
                    const Blend<Real>& blend) {
  invariant(plan.onHost(), "what a device masked, the host would sum");
  const RowSummer<Real> summer(plan, input, output, width, blend);
  const auto blocks = plan.blocks();
  parallelFor(
      blocks.size() - 1, 1,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = blocks[begin]; row < blocks[end]; ++row) {
          summer.sum(row);
        }
      },
      kNanoseconds * static_cast<double>((plan.rows().entryCount() + plan.nodeCount()) * width));
}

template void aggregateOnCpu<float>(const MessagePlan&, const float*, float*, std::size_t,
                                    const Blend<float>&);
template void aggregateOnCpu<double>(const MessagePlan&, const double*, double*, std::size_t,
                                     const Blend<double>&);

}  // namespace edgewise::detail
