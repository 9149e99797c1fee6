#include "edgewise/graph/spectral.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "edgewise/graph/components.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr std::size_t kRowGrain = 2048;
// What sums of up to a million rounded terms may be off by.
constexpr double kRoundingSlack = 1e-10;
// Keeps parts of the graph that fade away from reaching zero; any positive vector gives valid
// bounds.
constexpr double kSmallestEntry = 1e-280;

class PowerIteration {
 public:
  explicit PowerIteration(const CsrGraph& graph)
      : graph_(graph),
        parts_(stronglyConnectedComponents(graph)),
        vector_(graph.nodeCount()),
        product_(graph.nodeCount(), 0.0) {
    // Near the answer for hubs and their leaves, where all ones would be far off.
    for (std::uint32_t node = 0; node < vector_.size(); ++node) {
      vector_[node] =
          std::sqrt(static_cast<double>(std::max<std::size_t>(1, graph.degree(NodeId{node}))));
    }
  }

  [[nodiscard]] const SpectralRadiusBounds& bounds() const { return bounds_; }

  void step() {
    multiply();
    tighten();
    renew();
  }

 private:
  // product = A x, by the edges inside strongly connected parts (others are on no cycle).
  void multiply() {
    const bool all_inside = graph_.direction() == Direction::kUndirected;
    parallelFor(vector_.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t node = begin; node < end; ++node) {
        double sum = 0.0;
        for (const NodeId target : graph_.neighbours(NodeId{static_cast<std::uint32_t>(node)})) {
          if (all_inside || parts_.labels[index(target)] == parts_.labels[node]) {
            sum += vector_[index(target)];
          }
        }
        product_[node] = sum;
      }
    });
  }

  void tighten() {
    std::vector<double> least(parts_.count, std::numeric_limits<double>::infinity());
    double largest = 0.0;
    double rayleigh_top = 0.0;
    double rayleigh_bottom = 0.0;
    for (std::size_t node = 0; node < vector_.size(); ++node) {
      const double ratio = product_[node] / vector_[node];
      double& part_least = least[parts_.labels[node]];
      part_least = std::min(part_least, ratio);
      largest = std::max(largest, ratio);
      rayleigh_top += vector_[node] * product_[node];
      rayleigh_bottom += vector_[node] * vector_[node];
    }
    double lower = *std::ranges::max_element(least);
    if (graph_.direction() == Direction::kUndirected) {
      lower = std::max(lower, rayleigh_top / rayleigh_bottom);
    }
    const double upper = largest * (1.0 + kRoundingSlack);
    bounds_.upper = tightened_ ? std::min(bounds_.upper, upper) : upper;
    bounds_.lower = std::max(bounds_.lower, lower * (1.0 - kRoundingSlack));
    tightened_ = true;
  }

  void renew() {
    const double shift = bounds_.lower > 0.0 ? 0.25 * bounds_.lower : 1.0;
    double largest = 0.0;
    for (std::size_t node = 0; node < vector_.size(); ++node) {
      vector_[node] = product_[node] + shift * vector_[node];
      largest = std::max(largest, vector_[node]);
    }
    for (double& entry : vector_) {
      entry = std::max(entry / largest, kSmallestEntry);
    }
  }

  const CsrGraph& graph_;
  Components parts_;
  std::vector<double> vector_;
  std::vector<double> product_;
  SpectralRadiusBounds bounds_;
  bool tightened_ = false;
};

}  // namespace

SpectralRadiusBounds spectralRadiusBounds(const CsrGraph& graph, const SpectralOptions& options) {
  if (graph.entryCount() == 0) {
    return {};
  }
  PowerIteration iteration(graph);
  for (int step = 0; step < options.max_iterations; ++step) {
    throwIfInterrupted();
    iteration.step();
    const SpectralRadiusBounds& bounds = iteration.bounds();
    if (bounds.upper - bounds.lower <= options.relative_gap * bounds.upper) {
      break;
    }
  }
  return iteration.bounds();
}

}  // namespace edgewise
