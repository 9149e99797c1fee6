// Pairs of nodes that are not linked, drawn at random and checked exactly against every known edge:
// never a self-pair, never a known edge. What is drawn depends on the random stream alone, not on
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/sampling/edge_set.h"
#include "edgewise/util/rng.h"

namespace edgewise {

enum class NegativeKind : std::uint8_t {
  kUniform,  // every non-edge alike
  kDegree,   // ends in proportion to a power of their degrees
  kHard,     // what heuristics take for likely links (hard_negatives.h)
};

// "uniform", "degree", "hard".
[[nodiscard]] std::string_view negativeKindName(NegativeKind kind);
// Throws ConfigError with the nearest known name.
[[nodiscard]] NegativeKind parseNegativeKind(std::string_view name);

// The pairs that could be edges. Bipartite (users > 0): users are nodes 0..users-1, items
// users..node_count-1, and a pair is (user, item).
struct PairSpace {
  std::size_t node_count = 0;
  Direction direction = Direction::kUndirected;
  std::size_t users = 0;

  [[nodiscard]] bool bipartite() const { return users > 0; }
  [[nodiscard]] std::size_t items() const { return node_count - users; }
  // Self-pairs left out; an undirected pair counts once.
  [[nodiscard]] std::uint64_t pairCount() const;
  // Whether `pair` is one of them (undirected: in canonical order).
  [[nodiscard]] bool contains(Edge pair) const;
};

struct NegativeOptions {
  // kUniform or kDegree.
  NegativeKind kind = NegativeKind::kUniform;
  // kDegree: ends are drawn in proportion to degree^power; with a positive power nodes without
  // edges are never drawn.
  double degree_power = 0.75;
  // Whether a pair is drawn at most once.
  bool distinct = true;
};

// Draws non-edges of one space. Refers to `known`, which must outlive it.
class NegativeSampler {
 public:
  // `messages` gives the degrees (a directed graph's out-degrees for sources, in-degrees for
  // targets); only kDegree looks at it and then it must be there. Throws ConfigError for kHard or a
  // power outside 0..8, ShapeError for sizes or directions that disagree.
  NegativeSampler(const PairSpace& space, const EdgeSet& known, const NegativeOptions& options = {},
                  const CsrGraph* messages = nullptr);

  // `count` non-edges in the order drawn; undirected ones canonical. Throws DataError saying how
  // many there are when there are fewer (distinct) or none.
  [[nodiscard]] std::vector<Edge> sample(std::size_t count, const CounterRng& rng) const;

  // Whether `sample` lists the non-edges because blind draws would hit too few.
  [[nodiscard]] bool crowded(std::size_t count) const;
  [[nodiscard]] const PairSpace& space() const { return space_; }
  // How many different pairs `sample` can return.
  [[nodiscard]] std::uint64_t available() const { return available_; }

 private:
  // How likely each node is as one end; empty for uniform draws.
  struct EndWeights {
    std::vector<double> weight;
    std::vector<double> cumulative;
    std::uint64_t positive = 0;
  };
  struct Drawn {
    std::vector<Edge> pairs;
    EdgeSet taken;
  };

  [[nodiscard]] EndWeights weigh(std::span<const double> degrees) const;
  void weighEnds(const CsrGraph& messages);
  [[nodiscard]] bool weighted() const { return options_.kind == NegativeKind::kDegree; }
  [[nodiscard]] bool drawable(Edge pair) const;
  [[nodiscard]] double weightOf(Edge pair) const;
  [[nodiscard]] std::uint64_t countAvailable() const;
  [[nodiscard]] Edge draw(const CounterRng& rng, std::uint64_t counter) const;
  void drawByRejection(std::size_t count, const CounterRng& rng, Drawn& drawn) const;
  [[nodiscard]] std::vector<Edge> listRest(const Drawn& drawn) const;
  void drawFromList(std::size_t count, const CounterRng& rng, Drawn& drawn) const;

  PairSpace space_;
  const EdgeSet* known_;
  NegativeOptions options_;
  EndWeights sources_;
  EndWeights targets_;
  std::uint64_t available_ = 0;
};

// `count` distinct non-edges, each as likely as any other.
[[nodiscard]] std::vector<Edge> uniformNonEdges(std::size_t count, const PairSpace& space,
                                                const EdgeSet& known, const CounterRng& rng);

// For each positive (u, v) `per_positive` distinct nodes w, drawn uniformly, such that (u, w) is
// not known and w is neither u nor v: result[i * per_positive + j]. Bipartite: w is an item. Throws
// DataError naming the node when it has fewer such w, ShapeError for a source outside its side.
[[nodiscard]] std::vector<NodeId> corruptTargets(std::span<const Edge> positives,
                                                 std::size_t per_positive, const PairSpace& space,
                                                 const EdgeSet& known, const CounterRng& rng);

}  // namespace edgewise
