#include "data/freeze_negatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "edgewise/sampling/edge_set.h"
#include "edgewise/sampling/hard_negatives.h"
#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kRankingNegatives = 100;

// The nodes that may be an end of a negative, renumbered without gaps: all of them, or, where a
// dataset has context edges, those that some target edge touches. Order is kept, so canonical pairs
// stay canonical.
class CandidateNodes {
 public:
  explicit CandidateNodes(const Dataset& dataset) : original_(dataset.node_count) {
    std::iota(original_.begin(), original_.end(), std::uint32_t{0});
    if (!dataset.edge_classes.empty()) {
      std::vector<std::uint8_t> touched(dataset.node_count, 0);
      for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
        if (dataset.isTarget(row)) {
          touched[index(dataset.edges.edges[row].src)] = 1;
          touched[index(dataset.edges.edges[row].dst)] = 1;
        }
      }
      std::erase_if(original_, [&](std::uint32_t node) { return touched[node] == 0; });
    }
    compact_.assign(dataset.node_count, kAbsent);
    for (std::uint32_t i = 0; i < original_.size(); ++i) {
      compact_[original_[i]] = i;
    }
  }

  [[nodiscard]] std::size_t size() const { return original_.size(); }
  // Those edges both of whose ends are candidates, renumbered.
  [[nodiscard]] std::vector<Edge> among(std::span<const Edge> edges) const {
    std::vector<Edge> inside;
    for (const Edge& edge : edges) {
      const std::uint32_t src = compact_[index(edge.src)];
      const std::uint32_t dst = compact_[index(edge.dst)];
      if (src != kAbsent && dst != kAbsent) {
        inside.push_back(makeEdge(src, dst));
      }
    }
    return inside;
  }
  [[nodiscard]] NodeId restore(NodeId compact) const { return NodeId{original_[index(compact)]}; }
  void restore(std::vector<Edge>& edges) const {
    for (Edge& edge : edges) {
      edge = {restore(edge.src), restore(edge.dst)};
    }
  }

 private:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> original_;
  std::vector<std::uint32_t> compact_;
};

// What "auto" and -1 mean for this dataset.
struct Plan {
  std::string kind;
  std::size_t per_positive;
};

Plan resolvePlan(const Dataset& dataset, const NegativeSettings& settings,
                 std::string_view split_kind) {
  Plan plan{.kind = settings.kind, .per_positive = 0};
  const bool published = split_kind == "official" && dataset.official &&
                         !dataset.official->test_negative.empty() &&
                         !dataset.official->valid_negative.empty();
  if (settings.kind == "official" && !published) {
    throw ConfigError("negatives.kind=official: " + dataset.name + " has no official negatives",
                      "use negatives.kind=uniform");
  }
  if (settings.kind == "auto") {
    plan.kind = published ? "official" : "uniform";
  }
  if (settings.per_positive >= 0) {
    plan.per_positive = static_cast<std::size_t>(settings.per_positive);
  } else if (dataset.bipartite || plan.kind == "hard") {
    plan.per_positive = kRankingNegatives;
  }
  if (plan.kind == "official" && plan.per_positive > 0) {
    throw ConfigError("official negatives are one pool for all positives",
                      "drop negatives.per_positive, or use negatives.kind=uniform");
  }
  if (plan.kind == "degree" && plan.per_positive > 0) {
    throw ConfigError("degree-weighted negatives are one pool for all positives",
                      "set negatives.per_positive=0, or use negatives.kind=uniform or hard");
  }
  if (plan.kind == "hard" && plan.per_positive == 0) {
    throw ConfigError("hard negatives are chosen for each positive",
                      "set negatives.per_positive to 1 or more");
  }
  return plan;
}

class NegativeFreezer {
 public:
  NegativeFreezer(const Dataset& dataset, const NegativeSettings& settings, LinkSplit& split,
                  ProgressSink& progress)
      : dataset_(dataset),
        settings_(settings),
        split_(split),
        progress_(progress),
        candidates_(dataset),
        known_(EdgeSet::fromEdges(candidates_.among(dataset.edges.edges), dataset.direction)),
        space_{.node_count = candidates_.size(),
               .direction = dataset.direction,
               .users = dataset.bipartite ? dataset.bipartite->users : 0} {}

  void freeze(const Plan& plan) {
    FrozenNegatives& valid = split_.training.valid.negative;
    FrozenNegatives& test = split_.test.negative;
    const std::vector<Edge>& valid_positive = split_.training.valid.positive.edges;
    const std::vector<Edge>& test_positive = split_.test.positive.edges;
    valid = {.edges = {}, .per_positive = plan.per_positive, .kind = plan.kind};
    test = valid;
    if (plan.kind == "official" && dataset_.official) {
      valid.edges = dataset_.official->valid_negative;
      test.edges = dataset_.official->test_negative;
    } else if (plan.kind == "hard") {
      valid.edges = hardFor(valid_positive, plan.per_positive, "negatives.valid");
      test.edges = hardFor(test_positive, plan.per_positive, "negatives.test");
    } else if (plan.per_positive > 0) {
      valid.edges = corrupted(valid_positive, plan.per_positive, "negatives.valid");
      test.edges = corrupted(test_positive, plan.per_positive, "negatives.test");
    } else {
      drawPools(valid_positive.size(), test_positive.size());
    }
  }

 private:
  // One draw of distinct pairs cut in two, so that the pools share none.
  void drawPools(std::size_t valid_count, std::size_t test_count) {
    const bool by_degree = settings_.kind == "degree";
    const CsrGraph degrees =
        by_degree ? CsrGraph::fromEdges(candidates_.size(),
                                        candidates_.among(split_.training.message.table.edges),
                                        dataset_.direction)
                  : CsrGraph();
    const NegativeSampler sampler(
        space_, known_,
        {.kind = by_degree ? NegativeKind::kDegree : NegativeKind::kUniform,
         .degree_power = settings_.power,
         .distinct = true},
        by_degree ? &degrees : nullptr);
    std::vector<Edge> drawn =
        sampler.sample(valid_count + test_count, CounterRng(split_.seed, "negatives.pool"));
    candidates_.restore(drawn);
    const auto cut = drawn.begin() + static_cast<std::ptrdiff_t>(valid_count);
    split_.training.valid.negative.edges.assign(drawn.begin(), cut);
    split_.test.negative.edges.assign(cut, drawn.end());
  }

  [[nodiscard]] std::vector<Edge> corrupted(const std::vector<Edge>& positives,
                                            std::size_t per_positive,
                                            std::string_view purpose) const {
    const std::vector<Edge> compact = candidates_.among(positives);
    invariant(compact.size() == positives.size(), "a positive has an end that is no candidate");
    const std::vector<NodeId> targets =
        corruptTargets(compact, per_positive, space_, known_, CounterRng(split_.seed, purpose));
    std::vector<Edge> edges;
    edges.reserve(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      edges.push_back({positives[i / per_positive].src, candidates_.restore(targets[i])});
    }
    return edges;
  }

  [[nodiscard]] std::vector<Edge> hardFor(const std::vector<Edge>& positives,
                                          std::size_t per_positive,
                                          std::string_view purpose) const {
    if (candidates_.size() != dataset_.node_count) {
      throw ConfigError("hard negatives cannot be chosen on " + dataset_.name +
                            ": its context edges join nodes that are never predicted",
                        "use negatives.kind=uniform");
    }
    const CsrGraph graph = messageGraph(dataset_, split_.training.message);
    const HardNegativeSampler sampler(graph, space_, known_, {.per_positive = per_positive});
    return sampler.sample(positives, CounterRng(split_.seed, purpose), progress_);
  }

  const Dataset& dataset_;
  const NegativeSettings& settings_;
  LinkSplit& split_;
  ProgressSink& progress_;
  CandidateNodes candidates_;
  EdgeSet known_;
  PairSpace space_;
};

}  // namespace

void freezeNegatives(const Dataset& dataset, const NegativeSettings& settings, LinkSplit& split,
                     ProgressSink& progress) {
  const Plan plan = resolvePlan(dataset, settings, split.kind);
  NegativeFreezer(dataset, settings, split, progress).freeze(plan);
}

}  // namespace edgewise::detail
