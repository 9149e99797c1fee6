#include "data/freeze_negatives.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/data/candidate_nodes.h"
#include "edgewise/sampling/edge_set.h"
#include "edgewise/sampling/hard_negatives.h"
#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kRankingNegatives = 100;

std::vector<Edge> targetEdges(const Dataset& dataset) {
  std::vector<Edge> targets;
  for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
    if (dataset.isTarget(row)) {
      targets.push_back(dataset.edges.edges[row]);
    }
  }
  return targets;
}

// What "auto" and -1 mean for this dataset.
struct Plan {
  std::string kind;
  std::size_t per_positive;
};

// The most negatives that every user who needs them has room for.
std::size_t roomPerUser(const BipartiteShape& shape, const Dataset& dataset,
                        const LinkSplit& split) {
  std::vector<std::size_t> known(shape.users, 0);
  for (const Edge& edge : dataset.edges.edges) {
    ++known[index(edge.src)];
  }
  std::size_t room = shape.items;
  for (const EdgeTable* positive : {&split.training.valid.positive, &split.test.positive}) {
    for (const Edge& edge : positive->edges) {
      room = std::min(room, shape.items - known[index(edge.src)]);
    }
  }
  return room;
}

// The same where either end of a positive is kept in turn: half of the negatives keep one, half the
// other.
std::size_t roomPerEnd(const Dataset& dataset, const LinkSplit& split) {
  std::vector<std::size_t> known(dataset.node_count, 0);
  for (const Edge& edge : dataset.edges.edges) {
    ++known[index(edge.src)];
    ++known[index(edge.dst)];
  }
  std::size_t most = 0;
  for (const EdgeTable* positive : {&split.training.valid.positive, &split.test.positive}) {
    for (const Edge& edge : positive->edges) {
      most = std::max({most, known[index(edge.src)], known[index(edge.dst)]});
    }
  }
  const std::size_t taken = most + 1;
  return dataset.node_count > taken ? 2 * (dataset.node_count - taken) : 0;
}

std::size_t resolvePerPositive(const Dataset& dataset, const NegativeSettings& settings,
                               const std::string& kind, LinkSplit& split) {
  if (settings.per_positive >= 0) {
    return static_cast<std::size_t>(settings.per_positive);
  }
  if (!dataset.bipartite && kind != "hard") {
    return 0;
  }
  const std::size_t room = dataset.bipartite ? roomPerUser(*dataset.bipartite, dataset, split)
                                             : roomPerEnd(dataset, split);
  if (room >= kRankingNegatives) {
    return kRankingNegatives;
  }
  split.notes.push_back(
      fmt::format("some {} left to rank against: negatives.per_positive is {} instead of {}",
                  dataset.bipartite ? fmt::format("user has only {} items", room)
                                    : fmt::format("link's ends have only {} nodes", room),
                  room, kRankingNegatives));
  return room;
}

void checkPlan(const Plan& plan, std::string_view split_kind) {
  const bool ranking = plan.per_positive > 0;
  if (plan.kind == "official" && ranking) {
    throw ConfigError("official negatives are one pool for all positives",
                      "drop negatives.per_positive, or use negatives.kind=uniform");
  }
  if (plan.kind == "degree" && ranking) {
    throw ConfigError("degree-weighted negatives are one pool for all positives",
                      "set negatives.per_positive=0, or use negatives.kind=uniform or hard");
  }
  if (plan.kind == "degree" && split_kind == "nodes") {
    throw ConfigError("degree-weighted negatives do not fit split.kind=nodes",
                      "held-out nodes have no degree yet; use negatives.kind=uniform or hard");
  }
  if (plan.kind == "hard" && !ranking) {
    throw ConfigError("hard negatives are chosen for each positive",
                      "set negatives.per_positive to 1 or more");
  }
}

Plan resolvePlan(const Dataset& dataset, const NegativeSettings& settings, LinkSplit& split) {
  const bool published = split.kind == "official" && dataset.official &&
                         !dataset.official->test_negative.empty() &&
                         !dataset.official->valid_negative.empty();
  if (settings.kind == "official" && !published) {
    throw ConfigError("negatives.kind=official: " + dataset.name + " has no official negatives",
                      "use negatives.kind=uniform");
  }
  Plan plan{.kind = settings.kind, .per_positive = 0};
  if (settings.kind == "auto") {
    plan.kind = published ? "official" : "uniform";
  }
  plan.per_positive = resolvePerPositive(dataset, settings, plan.kind, split);
  checkPlan(plan, split.kind);
  return plan;
}

// Turns each positive so that its source is the end that a negative keeps: in a split by nodes the
// held-out one, or else all negatives would be about nodes that training knows; on other undirected
// graphs either, by chance; else as it is.
class KeptEnds {
 public:
  KeptEnds(const Dataset& dataset, const LinkSplit& split)
      : by_nodes_(split.kind == "nodes"),
        by_chance_(!dataset.hasOrderedPairs()),
        coin_(split.seed, "negatives.end"),
        seen_(dataset.node_count, 0) {
    if (by_nodes_) {
      see(split.training.message.table);
    }
  }

  // Nodes of these edges count as known from now on.
  void see(const EdgeTable& table) {
    for (const Edge& edge : table.edges) {
      seen_[index(edge.src)] = 1;
      seen_[index(edge.dst)] = 1;
    }
  }
  [[nodiscard]] std::vector<Edge> turn(const std::vector<Edge>& positives) const {
    std::vector<Edge> turned = positives;
    for (Edge& edge : turned) {
      const bool flip = by_nodes_ ? seen_[index(edge.src)] != 0 && seen_[index(edge.dst)] == 0
                                  : by_chance_ && coin_.below(edgeKey(edge), 2) == 1;
      if (flip) {
        edge = reversed(edge);
      }
    }
    return turned;
  }

 private:
  bool by_nodes_;
  bool by_chance_;
  CounterRng coin_;
  std::vector<std::uint8_t> seen_;
};

class NegativeFreezer {
 public:
  NegativeFreezer(const Dataset& dataset, const NegativeSettings& settings, LinkSplit& split,
                  ProgressSink& progress)
      : dataset_(dataset),
        settings_(settings),
        split_(split),
        progress_(progress),
        candidates_(dataset, targetEdges(dataset)),
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
      return;
    }
    if (plan.kind == "hard") {
      valid.edges = hardFor(valid_positive, plan.per_positive, messagesAtValid(split_.training),
                            "negatives.valid");
      test.edges = hardFor(test_positive, plan.per_positive, messagesAtTest(split_, "train"),
                           "negatives.test");
      return;
    }
    const bool keep_an_end = plan.per_positive > 0 || split_.kind == "nodes";
    if (!keep_an_end) {
      drawPools(valid_positive.size(), test_positive.size());
      return;
    }
    KeptEnds ends(dataset_, split_);
    const std::vector<Edge> valid_turned = ends.turn(valid_positive);
    ends.see(split_.training.revealed_at_valid.table);
    ends.see(split_.training.valid.positive);
    const std::vector<Edge> test_turned = ends.turn(test_positive);
    if (plan.per_positive > 0) {
      valid.edges = corrupted(valid_turned, plan.per_positive, "negatives.valid");
      test.edges = corrupted(test_turned, plan.per_positive, "negatives.test");
    } else {
      EdgeSet drawn(dataset_.direction);
      valid.edges = oneForEach(valid_turned, drawn, "negatives.valid");
      test.edges = oneForEach(test_turned, drawn, "negatives.test");
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

  // A pool with one negative for each positive that shares its source; no pair twice.
  [[nodiscard]] std::vector<Edge> oneForEach(const std::vector<Edge>& positives, EdgeSet& drawn,
                                             std::string_view purpose) const {
    constexpr std::uint64_t kAttempts = 100'000;
    const CounterRng rng(split_.seed, purpose);
    std::vector<Edge> edges;
    edges.reserve(positives.size());
    const std::vector<Edge> compact = candidates_.among(positives);
    for (std::size_t i = 0; i < positives.size(); ++i) {
      for (std::uint64_t attempt = 0;; ++attempt) {
        if (attempt == kAttempts) {
          throw DataError(fmt::format("{}: node {} has too few non-edges to draw from",
                                      dataset_.name, dataset_.nodeLabel(positives[i].src)),
                          "hold out fewer edges with split.test and split.valid");
        }
        const Edge pair = {
            compact[i].src,
            NodeId{static_cast<std::uint32_t>(rng.below(i, candidates_.size(), attempt))}};
        if (pair.src != pair.dst && !known_.contains(pair) && drawn.insert(pair)) {
          edges.push_back({positives[i].src, candidates_.restore(pair.dst)});
          break;
        }
      }
    }
    return edges;
  }

  [[nodiscard]] std::vector<Edge> hardFor(const std::vector<Edge>& positives,
                                          std::size_t per_positive, const MessageEdges& messages,
                                          std::string_view purpose) const {
    if (candidates_.size() != dataset_.node_count) {
      throw ConfigError("hard negatives cannot be chosen on " + dataset_.name +
                            ": its context edges join nodes that are never predicted",
                        "use negatives.kind=uniform");
    }
    const CsrGraph graph = messageGraph(dataset_, messages);
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
  const Plan plan = resolvePlan(dataset, settings, split);
  NegativeFreezer(dataset, settings, split, progress).freeze(plan);
}

}  // namespace edgewise::detail
