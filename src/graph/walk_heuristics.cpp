// Katz and personalised PageRank on top of the blocked walk solver.
//
// Undirected PageRank: with x = (1 - a) P x + e_s, P = A / degree row by row, p_v(s) = a x_v and,
// by reversibility, p_s(v) = a x_v d(v) / d(s). One solve gives both halves of a score. Directed
// PageRank: the walk's visits from s, y = (1 - a) P^T y + e_s, and to s, x = (1 - a) P x + e_s,
// where nodes without out-edges have zero rows in P; Z = (1 - a) P Z + 1 holds the total number of
// visits by start, and p_u(v) = y_u(v) / Z(u).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/scratch_pool.h"
#include "graph/pair_scorer.h"
#include "graph/walk_solver.h"

namespace edgewise::detail {
namespace {

// Blocks up to this size are solved side by side, one a thread; larger ones one after another, all
// threads on one, which then shares the caches.
constexpr std::size_t kPrivateBlockBytes = std::size_t{16} << 20;
constexpr int kMostGrowthSteps = 100'000;

// Scores pairs from the solutions of one of their ends. Derived classes say how.
class WalkScorer : public PairScorer {
 public:
  explicit WalkScorer(const CsrGraph& graph) : graph_(graph) {}

  void score(std::span<const Edge> pairs, std::span<double> out, ProgressTask& task) const final {
    const std::vector<std::uint32_t> starts = chooseSources(pairs);
    const KeyGroups groups = groupByKey(starts, graph_.nodeCount());
    std::vector<NodeId> sources;
    for (std::uint32_t node = 0; node < graph_.nodeCount(); ++node) {
      if (groups.offsets[node] != groups.offsets[node + std::size_t{1}]) {
        sources.push_back(NodeId{node});
      }
    }
    solveAll(sources, [&](std::size_t position, std::size_t column, const Solved& solved) {
      const NodeId source = sources[position];
      const std::size_t begin = groups.offsets[index(source)];
      const std::size_t end = groups.offsets[index(source) + std::size_t{1}];
      for (std::size_t place = begin; place < end; ++place) {
        const std::uint32_t pair = groups.order[place];
        const NodeId target = pairs[pair].src == source ? pairs[pair].dst : pairs[pair].src;
        out[pair] = value(solved, column, source, target);
      }
      task.advance(end - begin);
    });
  }

  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressTask& task) const final {
    const std::size_t nodes = graph_.nodeCount();
    solveAll(sources, [&](std::size_t position, std::size_t column, const Solved& solved) {
      for (std::uint32_t node = 0; node < nodes; ++node) {
        out[position * nodes + node] = value(solved, column, sources[position], NodeId{node});
      }
      task.advance();
    });
  }

 protected:
  // `second` is empty but for directed PageRank.
  struct Solved {
    WalkBlock first;
    WalkBlock second;
  };

  [[nodiscard]] const CsrGraph& graph() const { return graph_; }

  [[nodiscard]] virtual bool needsSecond() const { return false; }
  // Whether either end of a pair may be the source; otherwise it is `src`.
  [[nodiscard]] virtual bool eitherEnd() const = 0;
  virtual void solve(std::span<const NodeId> sources, Solved& solved) const = 0;
  [[nodiscard]] virtual double value(const Solved& solved, std::size_t column, NodeId source,
                                     NodeId target) const = 0;

 private:
  using Emit = std::function<void(std::size_t position, std::size_t column, const Solved& solved)>;

  // The end that occurs in more pairs, so that few sources serve all; ties by id. Both orders of a
  // pair choose alike.
  [[nodiscard]] std::vector<std::uint32_t> chooseSources(std::span<const Edge> pairs) const {
    std::vector<std::uint32_t> chosen(pairs.size());
    std::vector<std::uint64_t> uses(eitherEnd() ? graph_.nodeCount() : 0, 0);
    if (eitherEnd()) {
      for (const Edge& pair : pairs) {
        ++uses[index(pair.src)];
        ++uses[index(pair.dst)];
      }
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::uint32_t src = index(pairs[i].src);
      const std::uint32_t dst = index(pairs[i].dst);
      const bool by_dst =
          eitherEnd() && (uses[dst] != uses[src] ? uses[dst] > uses[src] : dst < src);
      chosen[i] = by_dst ? dst : src;
    }
    return chosen;
  }

  void solveAll(std::span<const NodeId> sources, const Emit& emit) const {
    ScratchPool<Solved> pool([this] {
      return Solved{.first = WalkBlock(graph_.nodeCount()),
                    .second = WalkBlock(needsSecond() ? graph_.nodeCount() : 0)};
    });
    const std::size_t blocks = (sources.size() + kWalkColumns - 1) / kWalkColumns;
    const auto run_block = [&](std::size_t block) {
      throwIfInterrupted();
      const std::size_t begin = block * kWalkColumns;
      const std::size_t count = std::min(kWalkColumns, sources.size() - begin);
      const auto solved = pool.borrow();
      solve(sources.subspan(begin, count), *solved);
      for (std::size_t column = 0; column < count; ++column) {
        emit(begin + column, column, *solved);
      }
    };
    if (graph_.nodeCount() * sizeof(WalkRow) * 3 <= kPrivateBlockBytes) {
      parallelFor(blocks, 1, [&](std::size_t block, std::size_t) { run_block(block); });
    } else {
      for (std::size_t block = 0; block < blocks; ++block) {
        run_block(block);
      }
    }
  }

  const CsrGraph& graph_;
};

// A ratio and a scale such that walks of length l from any one node to any other number at most
// scale * ratio^l. Found as a positive x with A^T x <= ratio * x, which the resolvent at any ratio
// above the spectral radius is.
struct Growth {
  double ratio = 0.0;
  double scale = 1.0;
};

Growth boundGrowth(const CsrGraph& incoming, const KatzPlan& plan) {
  const double ratio = 0.5 * (plan.radius_upper + 1.0 / plan.beta);
  WalkOperator walks{.adjacency = &incoming,
                     .row_scale = std::vector<double>(incoming.nodeCount(), 1.0 / ratio),
                     .column_scale = {}};
  std::vector<double> x(incoming.nodeCount(), 1.0);
  std::vector<double> product(incoming.nodeCount());
  for (int step = 0; step < kMostGrowthSteps; ++step) {
    throwIfInterrupted();
    multiplyVector(walks, x, product);
    double largest = 1.0;
    bool holds = true;
    for (std::size_t node = 0; node < x.size(); ++node) {
      holds = holds && product[node] <= x[node];
      largest = std::max(largest, x[node]);
      x[node] = 1.0 + product[node];
    }
    if (!std::isfinite(largest)) {
      break;
    }
    if (holds) {
      return {.ratio = ratio, .scale = largest};
    }
  }
  throw ConfigError(fmt::format("Katz beta {} makes scores of this graph too large", plan.beta),
                    "use a smaller beta, or bound the walk length");
}

class KatzScorer final : public WalkScorer {
 public:
  KatzScorer(const CsrGraph& graph, const KatzPlan& katz) : WalkScorer(graph) {
    if (!eitherEnd()) {
      incoming_ = graph.transposed();
    }
    walks_ = {.adjacency = eitherEnd() ? &graph : &incoming_,
              .row_scale = std::vector<double>(graph.nodeCount(), katz.beta),
              .column_scale = {}};
    const double error = katz.tolerance * katz.beta;
    if (katz.max_length > 0) {
      plan_.steps = static_cast<std::size_t>(katz.max_length);
    } else if (eitherEnd()) {
      plan_ = planSymmetricWalks(katz.beta * katz.radius_upper, error);
    } else {
      const Growth growth = boundGrowth(incoming_, katz);
      plan_ = planSeries(katz.beta * growth.ratio, growth.scale, error);
    }
  }

 private:
  [[nodiscard]] bool eitherEnd() const override {
    return graph().direction() == Direction::kUndirected;
  }
  void solve(std::span<const NodeId> sources, Solved& solved) const override {
    solved.first.solve(walks_, plan_, sources);
  }
  [[nodiscard]] double value(const Solved& solved, std::size_t column, NodeId,
                             NodeId target) const override {
    return std::max(0.0, solved.first.at(target, column));
  }

  CsrGraph incoming_;
  WalkOperator walks_;
  WalkPlan plan_;
};

// row_scale for (1 - restart) P.
std::vector<double> stepScale(const CsrGraph& graph, double restart) {
  std::vector<double> scale(graph.nodeCount(), 0.0);
  for (std::uint32_t node = 0; node < scale.size(); ++node) {
    const std::size_t degree = graph.degree(NodeId{node});
    scale[node] = degree > 0 ? (1.0 - restart) / static_cast<double>(degree) : 0.0;
  }
  return scale;
}

class UndirectedPageRank final : public WalkScorer {
 public:
  UndirectedPageRank(const CsrGraph& graph, double restart, double tolerance)
      : WalkScorer(graph), restart_(restart) {
    walks_ = {.adjacency = &graph, .row_scale = stepScale(graph, restart), .column_scale = {}};
    std::size_t largest = 1;
    for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
      largest = std::max(largest, graph.degree(NodeId{node}));
    }
    // A score is restart * (sqrt(d(s) / d(v)) + sqrt(d(v) / d(s))) times an entry of the symmetric
    // solution.
    const double factor = restart * (std::sqrt(static_cast<double>(largest)) + 1.0);
    plan_ = planSymmetricWalks(1.0 - restart, tolerance / factor);
  }

 private:
  [[nodiscard]] bool eitherEnd() const override { return true; }
  void solve(std::span<const NodeId> sources, Solved& solved) const override {
    solved.first.solve(walks_, plan_, sources);
  }
  [[nodiscard]] double value(const Solved& solved, std::size_t column, NodeId source,
                             NodeId target) const override {
    const auto source_degree = static_cast<double>(graph().degree(source));
    if (source_degree == 0.0) {
      return source == target ? 2.0 : 0.0;
    }
    const auto target_degree = static_cast<double>(graph().degree(target));
    const double visits = solved.first.at(target, column) + (source == target ? 1.0 : 0.0);
    return std::max(0.0, restart_ * visits * (1.0 + target_degree / source_degree));
  }

  double restart_;
  WalkOperator walks_;
  WalkPlan plan_;
};

class DirectedPageRank final : public WalkScorer {
 public:
  DirectedPageRank(const CsrGraph& graph, double restart, double tolerance)
      : WalkScorer(graph), incoming_(graph.transposed()) {
    to_ = {.adjacency = &graph, .row_scale = stepScale(graph, restart), .column_scale = {}};
    from_ = {.adjacency = &incoming_,
             .row_scale = std::vector<double>(graph.nodeCount(), 1.0),
             .column_scale = to_.row_scale};
    plan_ = planSeries(1.0 - restart, 1.0, 0.25 * tolerance);
    countVisits();
  }

 private:
  void countVisits() {
    visits_.assign(graph().nodeCount(), 1.0);
    std::vector<double> term = visits_;
    std::vector<double> next(term.size());
    for (std::size_t step = 0; step < plan_.steps; ++step) {
      throwIfInterrupted();
      multiplyVector(to_, term, next);
      std::swap(term, next);
      for (std::size_t node = 0; node < term.size(); ++node) {
        visits_[node] += term[node];
      }
    }
  }

  [[nodiscard]] bool needsSecond() const override { return true; }
  [[nodiscard]] bool eitherEnd() const override { return true; }
  void solve(std::span<const NodeId> sources, Solved& solved) const override {
    solved.first.solve(from_, plan_, sources);
    solved.second.solve(to_, plan_, sources);
  }
  [[nodiscard]] double value(const Solved& solved, std::size_t column, NodeId source,
                             NodeId target) const override {
    const double start = source == target ? 1.0 : 0.0;
    return (solved.first.at(target, column) + start) / visits_[index(source)] +
           (solved.second.at(target, column) + start) / visits_[index(target)];
  }

  CsrGraph incoming_;
  WalkOperator from_;
  WalkOperator to_;
  WalkPlan plan_;
  // Expected visits of a walk by where it starts.
  std::vector<double> visits_;
};

}  // namespace

std::unique_ptr<const PairScorer> makeKatzScorer(const CsrGraph& graph, const KatzPlan& plan) {
  return std::make_unique<KatzScorer>(graph, plan);
}

std::unique_ptr<const PairScorer> makePageRankScorer(const CsrGraph& graph, double restart,
                                                     double tolerance) {
  if (graph.direction() == Direction::kUndirected) {
    return std::make_unique<UndirectedPageRank>(graph, restart, tolerance);
  }
  return std::make_unique<DirectedPageRank>(graph, restart, tolerance);
}

}  // namespace edgewise::detail
