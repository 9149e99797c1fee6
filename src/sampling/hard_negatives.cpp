#include "edgewise/sampling/hard_negatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "edgewise/graph/heuristics.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

// Scores held at once, in entries of one heuristic.
constexpr std::size_t kScoresAtOnce = std::size_t{1} << 22;
constexpr std::size_t kSourcesAtLeast = 16;
constexpr std::size_t kSourcesAtMost = 256;

// Which end of a positive its negatives keep.
enum class Kept : std::uint8_t { kSource, kTarget };

struct Candidate {
  NodeId node{};
  double ra = 0.0;
  double ppr = 0.0;
  double rank_sum = 0.0;
  std::uint64_t lot = 0;
};

// Adds to each candidate its rank (from 0) by one score, equal scores sharing the mean rank.
// Candidates that are not listed score less than all that are.
void addRanks(std::vector<Candidate>& candidates, double Candidate::* score) {
  std::ranges::sort(candidates, std::greater<>(), score);
  for (std::size_t begin = 0; begin < candidates.size();) {
    std::size_t end = begin;
    while (end < candidates.size() && candidates[end].*score == candidates[begin].*score) {
      ++end;
    }
    for (std::size_t i = begin; i < end; ++i) {
      candidates[i].rank_sum += 0.5 * static_cast<double>(begin + end - 1);
    }
    begin = end;
  }
}

// Chooses the hardest partners of single nodes.
class PartnerRanking {
 public:
  PartnerRanking(const PairSpace& space, const EdgeSet& known, const CounterRng& rng)
      : space_(space), known_(known), rng_(rng) {}

  [[nodiscard]] Edge pairOf(NodeId kept_node, NodeId other, Kept kept) const {
    const Edge pair = kept == Kept::kSource ? Edge{kept_node, other} : Edge{other, kept_node};
    return space_.direction == Direction::kUndirected ? canonical(pair) : pair;
  }

  // The `count` hardest in order, or all where there are fewer.
  [[nodiscard]] std::vector<NodeId> hardest(NodeId node, Kept kept, std::span<const double> ra,
                                            std::span<const double> ppr, std::size_t count) const {
    std::vector<Candidate> candidates = collect(node, kept, ra, ppr);
    const std::size_t total = candidates.size();
    dropHopeless(candidates, count);
    rank(candidates, total);
    for (Candidate& candidate : candidates) {
      candidate.lot = rng_.bits(edgeKey(pairOf(node, candidate.node, kept)));
    }
    std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
      return std::tuple(candidate.rank_sum, candidate.lot, candidate.node);
    });
    std::vector<NodeId> best(std::min(count, candidates.size()));
    std::transform(candidates.begin(),
                   candidates.begin() + static_cast<std::ptrdiff_t>(best.size()), best.begin(),
                   [](const Candidate& candidate) { return candidate.node; });
    return best;
  }

 private:
  [[nodiscard]] std::vector<Candidate> collect(NodeId node, Kept kept, std::span<const double> ra,
                                               std::span<const double> ppr) const {
    std::size_t begin = 0;
    std::size_t end = space_.node_count;
    if (space_.bipartite()) {
      begin = index(node) < space_.users ? space_.users : 0;
      end = index(node) < space_.users ? space_.node_count : space_.users;
    }
    std::vector<Candidate> candidates;
    candidates.reserve(end - begin);
    for (std::size_t other = begin; other < end; ++other) {
      const NodeId partner{static_cast<std::uint32_t>(other)};
      if (partner != node && !known_.contains(pairOf(node, partner, kept))) {
        candidates.push_back({.node = partner, .ra = ra[other], .ppr = ppr[other]});
      }
    }
    return candidates;
  }

  // Leaves out candidates that cannot be among the best: those with no RA share their rank in it,
  // so of them only the best by PPR count. Exact ranks of the others need no more than what is as
  // good by PPR as the worst of them.
  static void dropHopeless(std::vector<Candidate>& candidates, std::size_t count) {
    std::size_t with_ra = 0;
    double threshold = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : candidates) {
      if (candidate.ra > 0.0) {
        ++with_ra;
        threshold = std::min(threshold, candidate.ppr);
      }
    }
    const std::size_t needed = with_ra + count;
    if (needed == 0 || needed >= candidates.size()) {
      return;
    }
    const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(needed) - 1;
    std::ranges::nth_element(candidates, last, std::greater<>(), &Candidate::ppr);
    threshold = std::min(threshold, last->ppr);
    std::erase_if(candidates,
                  [&](const Candidate& candidate) { return candidate.ppr < threshold; });
  }

  static void rank(std::vector<Candidate>& candidates, std::size_t total) {
    addRanks(candidates, &Candidate::ra);
    const auto with_ra = static_cast<std::size_t>(std::ranges::count_if(
        candidates, [](const Candidate& candidate) { return candidate.ra > 0.0; }));
    for (Candidate& candidate : candidates) {
      // The dropped ones stand in this tie too.
      if (!(candidate.ra > 0.0)) {
        candidate.rank_sum = 0.5 * static_cast<double>(with_ra + total - 1);
      }
    }
    addRanks(candidates, &Candidate::ppr);
  }

  const PairSpace& space_;
  const EdgeSet& known_;
  const CounterRng& rng_;
};

struct RoleScorers {
  const HeuristicScorer& ra;
  const HeuristicScorer& ppr;
};

// The hardest partners of every end that occurs. Nodes of undirected graphs have the same partners
// whichever end they are.
class PartnerLists {
 public:
  PartnerLists(std::span<const Edge> positives, const PairSpace& space, std::size_t length)
      : node_count_(space.node_count),
        length_(length),
        by_role_(space.direction == Direction::kDirected),
        lists_(node_count_ * (by_role_ ? 2 : 1)),
        used_(lists_.size(), 0) {
    for (const Edge& positive : positives) {
      used_[place(positive.src, Kept::kSource)] = 1;
      used_[place(positive.dst, Kept::kTarget)] = 1;
    }
  }

  // How many lists there are to fill.
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::ranges::count(used_, 1));
  }

  void fill(const RoleScorers& scorers, Kept kept, const PartnerRanking& ranking,
            ProgressTask& task) {
    const std::vector<NodeId> nodes = usedNodes(kept);
    const std::size_t at_once = std::clamp(kScoresAtOnce / std::max<std::size_t>(1, node_count_),
                                           kSourcesAtLeast, kSourcesAtMost);
    std::vector<double> ra;
    std::vector<double> ppr;
    for (std::size_t begin = 0; begin < nodes.size(); begin += at_once) {
      const auto chunk = std::span(nodes).subspan(begin, std::min(at_once, nodes.size() - begin));
      ra.resize(chunk.size() * node_count_);
      ppr.resize(chunk.size() * node_count_);
      scorers.ra.scoreSources(chunk, ra);
      scorers.ppr.scoreSources(chunk, ppr);
      parallelFor(chunk.size(), 1, [&](std::size_t i, std::size_t) {
        throwIfInterrupted();
        lists_[place(chunk[i], kept)] =
            ranking.hardest(chunk[i], kept, std::span(ra).subspan(i * node_count_, node_count_),
                            std::span(ppr).subspan(i * node_count_, node_count_), length_);
        task.advance();
      });
    }
  }

  // The hardest `count` partners of an end other than the positive's own.
  [[nodiscard]] std::vector<NodeId> partners(NodeId node, NodeId own, Kept kept,
                                             std::size_t count) const {
    std::vector<NodeId> found;
    for (const NodeId partner : lists_[place(node, kept)]) {
      if (found.size() < count && partner != own) {
        found.push_back(partner);
      }
    }
    if (found.size() < count) {
      throw DataError(
          fmt::format("node {} has only {} nodes it is not linked to, but {} were asked for",
                      index(node), found.size(), count),
          "ask for fewer: negatives.per_positive");
    }
    return found;
  }

 private:
  [[nodiscard]] std::size_t place(NodeId node, Kept kept) const {
    return index(node) + (by_role_ && kept == Kept::kTarget ? node_count_ : 0);
  }

  [[nodiscard]] std::vector<NodeId> usedNodes(Kept kept) const {
    std::vector<NodeId> nodes;
    for (std::uint32_t node = 0; node < node_count_; ++node) {
      if (used_[place(NodeId{node}, kept)] != 0) {
        nodes.push_back(NodeId{node});
      }
    }
    return nodes;
  }

  std::size_t node_count_;
  std::size_t length_;
  bool by_role_;
  std::vector<std::vector<NodeId>> lists_;
  std::vector<std::uint8_t> used_;
};

void checkPositives(std::span<const Edge> positives, const PairSpace& space) {
  for (const Edge& positive : positives) {
    if (!space.contains(space.direction == Direction::kUndirected ? canonical(positive)
                                                                  : positive)) {
      throw ShapeError(fmt::format("positive ({}, {}) is no possible edge of {} nodes",
                                   index(positive.src), index(positive.dst), space.node_count));
    }
  }
}

}  // namespace

HardNegativeSampler::HardNegativeSampler(const CsrGraph& messages, const PairSpace& space,
                                         const EdgeSet& known, const HardNegativeOptions& options)
    : messages_(&messages), space_(space), known_(&known), options_(options) {
  if (messages.nodeCount() != space.node_count || space.users > space.node_count) {
    throw ShapeError(fmt::format("a message graph of {} nodes for pairs of {} ({} users)",
                                 messages.nodeCount(), space.node_count, space.users));
  }
  if (known.direction() != space.direction || messages.direction() != space.direction) {
    throw ShapeError("message graph, known edges and pairs disagree on being directed");
  }
  if (options.per_positive == 0) {
    throw ConfigError("0 hard negatives a positive leave nothing to rank", "ask for at least 1");
  }
}

std::vector<Edge> HardNegativeSampler::sample(std::span<const Edge> positives,
                                              const CounterRng& rng, ProgressSink& progress) const {
  checkPositives(positives, space_);
  const std::size_t wanted = options_.per_positive;
  if (!positives.empty() && wanted > 2 * space_.node_count) {
    throw DataError(fmt::format("{} negatives a positive were asked for among {} nodes", wanted,
                                space_.node_count),
                    "ask for fewer: negatives.per_positive");
  }
  const std::size_t keep_source = (wanted + 1) / 2;
  const PartnerRanking ranking(space_, *known_, rng);
  // One more than is taken, since the positive's own other end is passed over.
  PartnerLists lists(positives, space_, keep_source + 1);
  const HeuristicScorer ppr(
      *messages_, Heuristic::kPersonalizedPageRank,
      {.ppr_restart = options_.ppr_restart, .tolerance = options_.ppr_tolerance});
  ProgressTask task(progress, "hard negatives", lists.size());
  lists.fill({HeuristicScorer(*messages_, Heuristic::kResourceAllocation), ppr}, Kept::kSource,
             ranking, task);
  if (space_.direction == Direction::kDirected) {
    // RA from every node to a kept target runs along reversed edges; PPR scores are symmetric.
    const CsrGraph turned = messages_->transposed();
    lists.fill({HeuristicScorer(turned, Heuristic::kResourceAllocation), ppr}, Kept::kTarget,
               ranking, task);
  }
  std::vector<Edge> negatives;
  negatives.reserve(positives.size() * wanted);
  for (const Edge& positive : positives) {
    const auto [src, dst] = positive;
    for (const NodeId partner : lists.partners(src, dst, Kept::kSource, keep_source)) {
      negatives.push_back(ranking.pairOf(src, partner, Kept::kSource));
    }
    for (const NodeId partner : lists.partners(dst, src, Kept::kTarget, wanted - keep_source)) {
      negatives.push_back(ranking.pairOf(dst, partner, Kept::kTarget));
    }
  }
  return negatives;
}

}  // namespace edgewise
