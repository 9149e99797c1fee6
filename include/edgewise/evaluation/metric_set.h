// Metrics by name: what a user may ask for ("hits@20"), what an evaluation answers, and how both
// read in JSON. Values are fractions in [0, 1].
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/evaluation/binary_ranking.h"
#include "edgewise/evaluation/full_ranking.h"
#include "edgewise/evaluation/ranking.h"
#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// How equal scores are treated throughout this layer; stored beside every set of metrics, so that
// numbers made under another policy are never mistaken for these.
inline constexpr std::string_view kTiePolicy =
    "auc: half, ap: one threshold per score, hits: strict, ranks: expectation over random order";

enum class MetricKind {
  kAuc,
  kAveragePrecision,
  kHits,
  kMrr,
  kRecall,
  kNdcg,
  kHit,
  kPrecision,
};

// One metric a user asked for. `k` is 0 for auc, ap and mrr, which have none.
struct MetricRequest {
  MetricKind kind = MetricKind::kAuc;
  std::size_t k = 0;
  friend bool operator==(const MetricRequest&, const MetricRequest&) = default;
};

// "auc", "ap", "mrr", and with K >= 1 "hits@K" (OGB's), "hit@K", "recall@K", "precision@K",
// "ndcg@K". Throws ConfigError with the nearest known name.
[[nodiscard]] MetricRequest parseMetric(std::string_view name);
// Names with commas between; blanks around them are ignored. Throws ConfigError for none or one
// twice.
[[nodiscard]] std::vector<MetricRequest> parseMetrics(std::string_view names);
[[nodiscard]] std::string metricName(MetricRequest request);

// Values by name, in the order they were first set.
class MetricSet {
 public:
  explicit MetricSet(std::string_view tie_policy = kTiePolicy) : tie_policy_(tie_policy) {}

  // Replaces an earlier value of that name. Throws DataError for a value that is not finite or a
  // name that is empty or "ties".
  void set(std::string_view name, double value);
  [[nodiscard]] std::optional<double> find(std::string_view name) const;
  // Throws DataError when there is no such metric.
  [[nodiscard]] double at(std::string_view name) const;

  [[nodiscard]] std::span<const std::pair<std::string, double>> values() const { return values_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] const std::string& tiePolicy() const { return tie_policy_; }

  // {"auc": 0.9, ..., "ties": "..."}. Reading back gives the same bits.
  [[nodiscard]] nlohmann::ordered_json toJson() const;
  // Throws DataError, with the offending key, for anything but numbers and a text under "ties".
  static MetricSet fromJson(const nlohmann::ordered_json& json);

  friend bool operator==(const MetricSet&, const MetricSet&) = default;

 private:
  std::vector<std::pair<std::string, double>> values_;
  std::string tie_policy_;
};

// Positives against one shared pool of negatives: auc, ap, hits@K, mrr, hit@K and ndcg@K. Throws
// ConfigError for the others, which need a ranking per user, and what the metrics themselves throw.
[[nodiscard]] MetricSet evaluateBinary(const BinaryRanking& ranking,
                                       std::span<const MetricRequest> requests);
[[nodiscard]] MetricSet evaluateBinary(ScoreSpan positives, ScoreSpan negatives,
                                       std::span<const MetricRequest> requests);

// Positives each against negatives of their own: mrr, hit@K and ndcg@K; ConfigError for the others.
[[nodiscard]] MetricSet evaluateRanks(std::span<const RankCounts> ranks,
                                      std::span<const MetricRequest> requests);

// The distinct Ks of the requests, in order: what a FullRankingAccumulator has to be made with.
[[nodiscard]] std::vector<std::size_t> requestedKs(std::span<const MetricRequest> requests);
// recall@K, precision@K, hit@K and ndcg@K out of a full ranking; ConfigError for the others and for
// a K that the ranking was not made for.
[[nodiscard]] MetricSet evaluateFullRanking(const FullRankingResult& result,
                                            std::span<const MetricRequest> requests);

}  // namespace edgewise
