#include "edgewise/evaluation/link_evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/evaluation/full_ranking.h"
#include "edgewise/evaluation/ranking.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// Bounds the score block of full ranking: users at a time x all nodes x 8 bytes.
constexpr std::size_t kBlockBytes = std::size_t{128} << 20;

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

MetricSet evaluateFullRanking(const LinkScorer& scorer, const Dataset& dataset,
                              const MessageEdges& known, const EdgeTable& relevant,
                              std::span<const MetricRequest> requests, ProgressSink& progress) {
  if (!dataset.bipartite) {
    throw ConfigError(
        "full ranking needs users and items, but " + dataset.name + " is not bipartite",
        "leave evaluation.full_metrics empty");
  }
  const BipartiteShape shape = *dataset.bipartite;
  const ItemsByUser masked(shape, known.table.edges);
  const ItemsByUser wanted(shape, relevant.edges);
  std::vector<NodeId> users;
  for (std::uint32_t user = 0; user < shape.users; ++user) {
    if (!wanted.of(user).empty()) {
      users.push_back(NodeId{user});
    }
  }
  FullRankingAccumulator accumulator(shape.items, requestedKs(requests));
  const std::size_t block =
      std::max<std::size_t>(1, kBlockBytes / (dataset.node_count * sizeof(double)));
  std::vector<double> scores;
  std::vector<double> item_scores;
  std::vector<UserItems> user_items;
  ProgressTask task(progress, "ranking users", users.size());
  for (std::size_t begin = 0; begin < users.size(); begin += block) {
    const auto batch = std::span(users).subspan(begin, std::min(block, users.size() - begin));
    scores.resize(batch.size() * dataset.node_count);
    scorer.scoreSources(batch, scores, silentProgress());
    item_scores.clear();
    user_items.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto items =
          std::span(scores).subspan(i * dataset.node_count + shape.users, shape.items);
      item_scores.insert(item_scores.end(), items.begin(), items.end());
      user_items.push_back(
          {.masked = masked.of(index(batch[i])), .relevant = wanted.of(index(batch[i]))});
    }
    accumulator.add(item_scores, user_items);
    task.advance(batch.size());
  }
  return evaluateFullRanking(accumulator.result(), requests);
}

}  // namespace edgewise
