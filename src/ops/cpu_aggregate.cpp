#include "ops/cpu_aggregate.h"

#include <algorithm>
#include <span>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "ops/cpu_row_sum.h"

namespace edgewise::detail {
namespace {

// Of one multiplication and addition, and of a look at a neighbour that has no row.
constexpr double kNanoseconds = 0.15;
constexpr double kLookNanoseconds = 1;
// Ends of pairs whose rows are summed at a time.
constexpr std::size_t kEndBlock = 16;

template <class Real>
std::vector<Real> narrowed(std::span<const double> values) {
  return {values.begin(), values.end()};
}

// Which rows a thread sums after each other.
enum class RowOrder : std::uint8_t { kNextToEachOther, kAnywhere };

// One row at a time over the plan's rows, with the scales in the kernel's own precision. `Few`: not
// every node has a row of input.
template <class Real, bool Few>
class RowSummer {
 public:
  RowSummer(const MessagePlan& plan, const NodeRows<Real>& input, std::size_t width,
            const Blend<Real>& blend, RowOrder order)
      : plan_(plan),
        input_(input),
        width_(width),
        blend_(blend),
        order_(order),
        far_(liesFar<Real>(plan.nodeCount(), width)),
        row_scale_(narrowed<Real>(plan.rowScale())),
        column_scale_(narrowed<Real>(plan.columnScale())) {}

  void sum(std::size_t row, Real* out) const {
    const Real scale = blend_.gain * (row_scale_.empty() ? Real{1} : row_scale_[row]);
    sumRow(input_.data, width_, scale, out, [&](auto& strip) {
      if (plan_.includesSelf() && hasRow(row)) {
        strip.add(placeOf(row), columnScale(row));
      }
      addNeighbours(row, strip);
    });
    if (const Real* const plus = blended(row)) {
#pragma omp simd
      for (std::size_t k = 0; k < width_; ++k) {
        out[k] += blend_.times * plus[k];
      }
    }
  }

 private:
  [[nodiscard]] std::size_t placeOf(std::size_t node) const {
    if constexpr (Few) {
      return input_.places[node];
    } else {
      return node;
    }
  }
  [[nodiscard]] bool hasRow(std::size_t node) const {
    if constexpr (Few) {
      return input_.places[node] != kNoRow;
    } else {
      return true;
    }
  }
  // What is added to a row; null: nothing is.
  [[nodiscard]] const Real* blended(std::size_t row) const {
    const NodeRows<Real>& plus = blend_.plus;
    const std::size_t place = plus.places.empty() ? row : plus.places[row];
    return plus.data == nullptr || place == kNoRow ? nullptr : plus.data + place * width_;
  }
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

  // Adds the i-th neighbour times scale_of(i, neighbour), those left out that `skips` or that have
  // no row.
  template <class Strip, class Scale, class Skip>
  void addEach(std::size_t row, Strip& strip, const Scale& scale_of, Skip skips) const {
    const std::span<const NodeId> coming = comingFrom(row);
    const NodeId* const nodes = coming.data();
    const std::size_t count = plan_.rows().degree(NodeId{static_cast<std::uint32_t>(row)});
    const std::size_t known = order_ == RowOrder::kAnywhere ? count : coming.size();
    const std::size_t asked = far_ ? known : 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i + kRowsAhead < asked && hasRow(index(nodes[i + kRowsAhead]))) {
        strip.fetch(placeOf(index(nodes[i + kRowsAhead])));
      }
      if (!skips(nodes[i]) && hasRow(index(nodes[i]))) {
        strip.add(placeOf(index(nodes[i])), scale_of(i, index(nodes[i])));
      }
    }
  }

  // The row's neighbours and, behind them, those of the rows that follow.
  [[nodiscard]] std::span<const NodeId> comingFrom(std::size_t row) const {
    return plan_.rows().targets().subspan(plan_.rows().offsets()[row]);
  }

  const MessagePlan& plan_;
  NodeRows<Real> input_;
  std::size_t width_;
  Blend<Real> blend_;
  RowOrder order_;
  bool far_;
  std::vector<Real> row_scale_;
  std::vector<Real> column_scale_;
};

// Calls body(summer, nanoseconds of a neighbour).
template <class Real, class Body>
void withSummer(const MessagePlan& plan, const NodeRows<Real>& input, std::size_t width,
                const Blend<Real>& blend, RowOrder order, const Body& body) {
  invariant(plan.onHost(), "what a device masked, the host would sum");
  if (input.places.empty()) {
    body(RowSummer<Real, false>(plan, input, width, blend, order),
         kNanoseconds * static_cast<double>(width));
  } else {
    body(RowSummer<Real, true>(plan, input, width, blend, order), kLookNanoseconds);
  }
}

}  // namespace

template <class Real>
void aggregateOnCpu(const MessagePlan& plan, const NodeRows<Real>& input, Real* output,
                    std::size_t width, const Blend<Real>& blend) {
  withSummer(plan, input, width, blend, RowOrder::kNextToEachOther,
             [&](const auto& summer, double nanoseconds) {
               const auto blocks = plan.blocks();
               parallelFor(
                   blocks.size() - 1, 1,
                   [&](std::size_t begin, std::size_t end) {
                     for (std::size_t row = blocks[begin]; row < blocks[end]; ++row) {
                       summer.sum(row, output + row * width);
                     }
                   },
                   nanoseconds * static_cast<double>(plan.rows().entryCount() + plan.nodeCount()));
             });
}

template <class Real>
void aggregateEndsOnCpu(const MessagePlan& plan, const NodeRows<Real>& input,
                        const PairIndex& pairs, Real* output, std::size_t width,
                        const Blend<Real>& blend) {
  std::size_t entries = 0;
  for (const std::uint32_t node : pairs.nodes()) {
    entries += plan.rows().degree(NodeId{node}) + 1;
  }
  withSummer(plan, input, width, blend, RowOrder::kAnywhere,
             [&](const auto& summer, double nanoseconds) {
               parallelFor(
                   pairs.nodes().size(), kEndBlock,
                   [&](std::size_t begin, std::size_t end) {
                     for (std::size_t i = begin; i < end; ++i) {
                       const auto places = pairs.places(i);
                       Real* const first = output + places[0] * width;
                       summer.sum(pairs.nodes()[i], first);
                       for (const std::uint32_t place : places.subspan(1)) {
                         std::copy_n(first, width, output + place * width);
                       }
                     }
                   },
                   nanoseconds * static_cast<double>(entries));
             });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_AGGREGATE(Real)                                                       \
  template void aggregateOnCpu<Real>(const MessagePlan&, const NodeRows<Real>&, Real*, \
                                     std::size_t, const Blend<Real>&);                 \
  template void aggregateEndsOnCpu<Real>(const MessagePlan&, const NodeRows<Real>&,    \
                                         const PairIndex&, Real*, std::size_t,         \
                                         const Blend<Real>&);
EDGEWISE_AGGREGATE(float)
EDGEWISE_AGGREGATE(double)
#undef EDGEWISE_AGGREGATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
