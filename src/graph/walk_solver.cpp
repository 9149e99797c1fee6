#include "graph/walk_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kRowGrain = 512;
// Up to here the accuracy of a plain series is worth its steps.
constexpr double kFewSteps = 64.0;
// A small ratio must not cut off nodes that are far away: their sums are small, but not nothing,
// and rankings compare them.
constexpr double kLeastSeriesSteps = 40.0;
constexpr double kHopelessSteps = 200'000.0;

// Eight doubles at once: the compiler maps it to what the processor has. Lanes never mix.
using Lanes = double __attribute__((vector_size(64)));
constexpr std::size_t kLaneCount = 8;
static_assert(kWalkColumns == 2 * kLaneCount);

struct RowSum {
  Lanes low{};
  Lanes high{};
};

const Lanes* lanesOf(const WalkRow& row) {
  return reinterpret_cast<const Lanes*>(row.values.data());
}
Lanes* lanesOf(WalkRow& row) { return reinterpret_cast<Lanes*>(row.values.data()); }

// Calls finish(node, sum) with the unscaled row sums of M x.
template <class Finish>
void forRowSums(const WalkOperator& walks, const std::vector<WalkRow>& x, const Finish& finish) {
  const CsrGraph& graph = *walks.adjacency;
  parallelFor(graph.nodeCount(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t node = begin; node < end; ++node) {
      RowSum sum;
      const auto neighbours = graph.neighbours(NodeId{static_cast<std::uint32_t>(node)});
      if (walks.column_scale.empty()) {
        for (const NodeId other : neighbours) {
          const Lanes* const lanes = lanesOf(x[index(other)]);
          sum.low += lanes[0];
          sum.high += lanes[1];
        }
      } else {
        for (const NodeId other : neighbours) {
          const Lanes* const lanes = lanesOf(x[index(other)]);
          const double scale = walks.column_scale[index(other)];
          sum.low += lanes[0] * scale;
          sum.high += lanes[1] * scale;
        }
      }
      finish(node, sum);
    }
  });
}

std::size_t checkedSteps(double steps) {
  if (!(steps <= kHopelessSteps)) {
    throw ConfigError(
        fmt::format("about {:.3g} steps would be needed for the tolerance asked for", steps),
        "use a smaller Katz beta, a larger PageRank restart, or a larger tolerance");
  }
  return static_cast<std::size_t>(std::max(1.0, std::ceil(steps)));
}

// Smallest k with ratio^(k+1) * scale / (1 - ratio) <= error.
double seriesSteps(double ratio, double scale, double error) {
  if (ratio <= 0.0) {
    return 1.0;
  }
  return std::log(error * (1.0 - ratio) / scale) / std::log(ratio) - 1.0;
}

// The error of k steps is that of the start over T_k(1 / radius), T_k Chebyshev's polynomial.
double chebyshevSteps(double radius, double error) {
  const double reduction = radius / (1.0 - radius) / error;
  return reduction <= 1.0 ? 1.0 : std::acosh(reduction) / std::acosh(1.0 / radius);
}

}  // namespace

WalkPlan planSeries(double ratio, double scale, double error) {
  return {.method = WalkPlan::Method::kSeries,
          .steps = checkedSteps(std::max(kLeastSeriesSteps, seriesSteps(ratio, scale, error))),
          .radius = ratio};
}

WalkPlan planSymmetricWalks(double radius, double error) {
  if (seriesSteps(radius, 1.0, error) <= kFewSteps) {
    return planSeries(radius, 1.0, error);
  }
  return {.method = WalkPlan::Method::kChebyshev,
          .steps = checkedSteps(chebyshevSteps(radius, error)),
          .radius = radius};
}

void WalkBlock::solve(const WalkOperator& walks, const WalkPlan& plan,
                      std::span<const NodeId> sources) {
  invariant(sources.size() <= kWalkColumns, "a block has no room for that many sources");
  std::ranges::fill(result_, WalkRow{});
  std::ranges::fill(current_, WalkRow{});
  for (std::size_t column = 0; column < sources.size(); ++column) {
    current_[index(sources[column])].values[column] = 1.0;
  }
  if (plan.method == WalkPlan::Method::kSeries) {
    runSeries(walks, plan.steps);
  } else {
    runChebyshev(walks, plan, sources);
  }
}

void WalkBlock::runSeries(const WalkOperator& walks, std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    throwIfInterrupted();
    forRowSums(walks, current_, [&](std::size_t node, const RowSum& sum) {
      const double scale = walks.row_scale[node];
      Lanes* const term = lanesOf(next_[node]);
      Lanes* const total = lanesOf(result_[node]);
      term[0] = sum.low * scale;
      term[1] = sum.high * scale;
      total[0] += term[0];
      total[1] += term[1];
    });
    std::swap(current_, next_);
  }
}

void WalkBlock::runChebyshev(const WalkOperator& walks, const WalkPlan& plan,
                             std::span<const NodeId> sources) {
  // y_0 = e and y_1 = M e + e; afterwards y_{k+1} = w (M y_k + e - y_{k-1}) + y_{k-1}, written over
  // y_{k-1}. The e's are added after each pass, at the sources alone.
  const auto add_at_sources = [&](double amount) {
    for (std::size_t column = 0; column < sources.size(); ++column) {
      result_[index(sources[column])].values[column] += amount;
    }
  };
  forRowSums(walks, current_, [&](std::size_t node, const RowSum& sum) {
    Lanes* const lanes = lanesOf(result_[node]);
    lanes[0] = sum.low * walks.row_scale[node];
    lanes[1] = sum.high * walks.row_scale[node];
  });
  add_at_sources(1.0);
  const double squared = plan.radius * plan.radius;
  double weight = 2.0;
  for (std::size_t step = 1; step < plan.steps; ++step) {
    throwIfInterrupted();
    weight = 1.0 / (1.0 - 0.25 * squared * weight);
    forRowSums(walks, result_, [&](std::size_t node, const RowSum& sum) {
      const double scale = walks.row_scale[node];
      Lanes* const lanes = lanesOf(current_[node]);
      lanes[0] = weight * (sum.low * scale - lanes[0]) + lanes[0];
      lanes[1] = weight * (sum.high * scale - lanes[1]) + lanes[1];
    });
    std::swap(result_, current_);
    add_at_sources(weight);
  }
  add_at_sources(-1.0);
}

void multiplyVector(const WalkOperator& walks, std::span<const double> vector,
                    std::span<double> product) {
  const CsrGraph& graph = *walks.adjacency;
  parallelFor(graph.nodeCount(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t node = begin; node < end; ++node) {
      double sum = 0.0;
      for (const NodeId other : graph.neighbours(NodeId{static_cast<std::uint32_t>(node)})) {
        sum += vector[index(other)] *
               (walks.column_scale.empty() ? 1.0 : walks.column_scale[index(other)]);
      }
      product[node] = sum * walks.row_scale[node];
    }
  });
}

}  // namespace edgewise::detail
