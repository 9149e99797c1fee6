// Sums over walks of all lengths from a block of sources at once: the linear systems behind Katz
// and personalised PageRank. A block of sources shares each pass over the graph. The number of
// steps is fixed beforehand by a bound on the error, so that a source's numbers do not depend on
// its companions in the block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"

namespace edgewise::detail {

inline constexpr std::size_t kWalkColumns = 16;

// M[v, w] = row_scale[v] * (w in adjacency row v) * column_scale[w].
struct WalkOperator {
  const CsrGraph* adjacency = nullptr;
  std::vector<double> row_scale;
  // Empty: all ones.
  std::vector<double> column_scale;
};

struct WalkPlan {
  enum class Method : std::uint8_t {
    // Term by term. All numbers are positive, so even the smallest sums keep their relative
    // accuracy.
    kSeries,
    // Chebyshev's semi-iteration, for symmetrisable operators with spectrum in [-radius, radius].
    // Far fewer steps where the radius is near 1; errors are absolute.
    kChebyshev,
  };
  Method method = Method::kSeries;
  std::size_t steps = 0;
  double radius = 0.0;
};

// Plans for a symmetrisable operator with the given spectral radius (below 1): the error of the sum
// is at most `error` in the norm in which the operator is symmetric. Takes the series where it
// needs few terms. Throws ConfigError for a hopeless number of steps.
[[nodiscard]] WalkPlan planSymmetricWalks(double radius, double error);
// Plans a series whose terms of length l are at most scale * ratio^l, ratio below 1.
[[nodiscard]] WalkPlan planSeries(double ratio, double scale, double error);

// One row a node: the values of all sources of the block.
struct alignas(64) WalkRow {
  std::array<double, kWalkColumns> values;
};

// The sums and the memory to compute them; reused from block to block.
class WalkBlock {
 public:
  explicit WalkBlock(std::size_t node_count)
      : result_(node_count), current_(node_count), next_(node_count) {}

  // Afterwards at(v, c) = sum over l >= 1 of (M^l)[v, sources[c]]. At most kWalkColumns sources.
  void solve(const WalkOperator& walks, const WalkPlan& plan, std::span<const NodeId> sources);

  [[nodiscard]] double at(NodeId node, std::size_t column) const {
    return result_[index(node)].values[column];
  }

 private:
  void runSeries(const WalkOperator& walks, std::size_t steps);
  void runChebyshev(const WalkOperator& walks, const WalkPlan& plan,
                    std::span<const NodeId> sources);

  std::vector<WalkRow> result_;
  std::vector<WalkRow> current_;
  std::vector<WalkRow> next_;
};

// M x for a single vector.
void multiplyVector(const WalkOperator& walks, std::span<const double> vector,
                    std::span<double> product);

}  // namespace edgewise::detail
