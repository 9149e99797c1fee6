#include "edgewise/evaluation/link_evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/evaluation/ranking.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

// Bounds the score block of full ranking: users at a time x items x 4 bytes, and where a scorer
// gives whole rows, x all nodes x 8 bytes. Less, and a product has too few rows to share among
// threads.
constexpr std::size_t kBlockBytes = std::size_t{128} << 20;
constexpr std::size_t kRowBytes = std::size_t{512} << 20;

std::size_t usersAtOnce(std::size_t items, std::size_t nodes) {
  const std::size_t by_items = kBlockBytes / (std::max<std::size_t>(1, items) * sizeof(float));
  const std::size_t by_nodes = kRowBytes / (std::max<std::size_t>(1, nodes) * sizeof(double));
  return std::max<std::size_t>(1, std::min(by_items, by_nodes));
}

// Edges sorted by user, items as 0-based item numbers.
class ItemsByUser {
 public:
  ItemsByUser(const BipartiteShape& shape, std::span<const Edge> edges)
      : offsets_(shape.users + 1, 0) {
    for (const Edge& edge : edges) {
      ++offsets_[index(edge.src) + std::size_t{1}];
    }
    for (std::size_t user = 0; user < shape.users; ++user) {
      offsets_[user + 1] += offsets_[user];
    }
    items_.resize(edges.size());
    std::vector<std::size_t> cursor(offsets_.begin(), offsets_.end() - 1);
    for (const Edge& edge : edges) {
      items_[cursor[index(edge.src)]++] = static_cast<std::uint32_t>(index(edge.dst) - shape.users);
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t user) const {
    return std::span(items_).subspan(offsets_[user], offsets_[user + 1] - offsets_[user]);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::uint32_t> items_;
};

// Those with something to be found.
std::vector<NodeId> usersOf(const ItemsByUser& wanted, std::size_t count) {
  std::vector<NodeId> users;
  for (std::uint32_t user = 0; user < count; ++user) {
    if (!wanted.of(user).empty()) {
      users.push_back(NodeId{user});
    }
  }
  return users;
}

// The same ones whenever as many of as many are asked for.
void keepSome(std::vector<NodeId>& users, std::size_t count) {
  if (count < users.size()) {
    RngStream(0, "evaluation.users").shuffle(std::span(users));
    users.resize(count);
    std::ranges::sort(users);
  }
}

}  // namespace

MetricSet evaluateHeldOut(const LinkScorer& scorer, const EdgeTable& positive,
                          const FrozenNegatives& negative, std::span<const MetricRequest> requests,
                          ProgressSink& progress) {
  // One call for both: a scorer may share work between pairs of the same source.
  std::vector<Edge> pairs = positive.edges;
  pairs.insert(pairs.end(), negative.edges.begin(), negative.edges.end());
  const std::vector<double> scores = scorer.score(pairs, progress);
  return evaluateScores(scores, positive.size(), negative.per_positive, requests);
}

MetricSet evaluateScores(std::span<const double> scores, std::size_t positives,
                         std::size_t per_positive, std::span<const MetricRequest> requests) {
  const auto of_positives = scores.first(positives);
  const auto of_negatives = scores.subspan(positives);
  if (per_positive == 0) {
    return evaluateBinary(of_positives, of_negatives, requests);
  }
  return evaluateRanks(rankCounts(of_positives, of_negatives, per_positive), requests);
}

std::size_t usersToRank(const FullRankingRequest& request, const LinkScorer& scorer,
                        std::size_t users, std::size_t items) {
  if (request.users == 0) {
    return users;
  }
  const std::uint64_t most = request.users > 0
                                 ? static_cast<std::uint64_t>(request.users)
                                 : scorer.pairsWithinReach() / std::max<std::size_t>(1, items);
  return static_cast<std::size_t>(std::min<std::uint64_t>(users, std::max<std::uint64_t>(1, most)));
}

ScoreSpan LinkScorer::scoreBlock(std::span<const NodeId> sources, NodeRange targets,
                                 std::size_t node_count, ScoreMemory& memory) const {
  memory.doubles.resize(sources.size() * node_count);
  scoreSources(sources, memory.doubles, silentProgress());
  // Each row moves towards the front, never over one that is still to be moved.
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto row = std::span(memory.doubles).subspan(i * node_count + targets.first);
    std::copy_n(row.begin(), targets.count,
                memory.doubles.begin() + static_cast<std::ptrdiff_t>(i * targets.count));
  }
  memory.doubles.resize(sources.size() * targets.count);
  return memory.doubles;
}

MetricSet evaluateFullRanking(const LinkScorer& scorer, const Dataset& dataset,
                              const MessageEdges& known, const EdgeTable& relevant,
                              const FullRankingRequest& request, ProgressSink& progress) {
  if (!dataset.bipartite) {
    throw ConfigError(
        "full ranking needs users and items, but " + dataset.name + " is not bipartite",
        "leave evaluation.full_metrics empty");
  }
  const BipartiteShape shape = *dataset.bipartite;
  const ItemsByUser masked(shape, known.table.edges);
  const ItemsByUser wanted(shape, relevant.edges);
  std::vector<NodeId> users = usersOf(wanted, shape.users);
  keepSome(users, usersToRank(request, scorer, users.size(), shape.items));
  FullRankingAccumulator accumulator(shape.items, requestedKs(request.requests));
  const std::size_t block = usersAtOnce(shape.items, dataset.node_count);
  ScoreMemory memory;
  std::vector<UserItems> user_items;
  ProgressTask task(progress, "ranking users", users.size());
  for (std::size_t begin = 0; begin < users.size(); begin += block) {
    throwIfInterrupted();
    const auto batch = std::span(users).subspan(begin, std::min(block, users.size() - begin));
    user_items.clear();
    for (const NodeId user : batch) {
      user_items.push_back({.masked = masked.of(index(user)), .relevant = wanted.of(index(user))});
    }
    const NodeRange items{shape.users, shape.items};
    if (const auto best = scorer.topBlock(batch, items, user_items, accumulator.places())) {
      accumulator.add(*best, user_items);
    } else {
      accumulator.add(scorer.scoreBlock(batch, items, dataset.node_count, memory), user_items);
    }
    task.advance(batch.size());
  }
  return evaluateFullRanking(accumulator.result(), request.requests);
}

}  // namespace edgewise
