#include "edgewise/evaluation/metric_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "edgewise/evaluation/binary_metrics.h"
#include "edgewise/evaluation/hits.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

constexpr std::string_view kTiesKey = "ties";

[[noreturn]] void failUnsuited(MetricRequest request, std::string_view evaluation,
                               std::string_view offered) {
  throw ConfigError(fmt::format("metric '{}' cannot come from {}", metricName(request), evaluation),
                    fmt::format("it offers {}", offered));
}

double binaryValue(const BinaryRanking& ranking, MetricRequest request) {
  switch (request.kind) {
    case MetricKind::kAuc:
      return auc(ranking);
    case MetricKind::kAveragePrecision:
      return averagePrecision(ranking);
    case MetricKind::kHits:
      return hitsAtK(ranking, request.k);
    case MetricKind::kMrr:
      return meanReciprocalRank(ranking);
    case MetricKind::kHit:
      return meanHit(ranking, request.k);
    case MetricKind::kNdcg:
      return meanNdcg(ranking, request.k);
    case MetricKind::kRecall:
    case MetricKind::kPrecision:
      break;
  }
  failUnsuited(request, "positives against a shared pool of negatives",
               "auc, ap, hits@K, mrr, hit@K, ndcg@K");
}

double rankValue(std::span<const RankCounts> ranks, MetricRequest request) {
  switch (request.kind) {
    case MetricKind::kMrr:
      return meanReciprocalRank(ranks);
    case MetricKind::kHit:
      return meanHit(ranks, request.k);
    case MetricKind::kNdcg:
      return meanNdcg(ranks, request.k);
    default:
      failUnsuited(request, "positives against negatives of their own", "mrr, hit@K, ndcg@K");
  }
}

double topKValue(const FullRankingResult& result, MetricRequest request) {
  constexpr std::string_view kOffered = "recall@K, precision@K, hit@K, ndcg@K";
  const auto found = std::ranges::find(result.at, request.k, &TopKMetrics::k);
  if (request.k > 0 && found == result.at.end()) {
    failUnsuited(request, "a full ranking made for other K", kOffered);
  }
  switch (request.kind) {
    case MetricKind::kRecall:
      return found->recall;
    case MetricKind::kPrecision:
      return found->precision;
    case MetricKind::kHit:
      return found->hit;
    case MetricKind::kNdcg:
      return found->ndcg;
    default:
      failUnsuited(request, "a full ranking", kOffered);
  }
}

template <class Source, class Value>
MetricSet evaluateEach(const Source& source, std::span<const MetricRequest> requests,
                       const Value& value) {
  MetricSet metrics;
  for (const MetricRequest request : requests) {
    metrics.set(metricName(request), value(source, request));
  }
  return metrics;
}

}  // namespace

void MetricSet::set(std::string_view name, double value) {
  if (name.empty() || name == kTiesKey) {
    throw DataError(fmt::format("'{}' is no name for a metric", name));
  }
  if (!std::isfinite(value)) {
    throw DataError(fmt::format("metric '{}' is {}, not a finite number", name, value));
  }
  const auto found = std::ranges::find(values_, name, &std::pair<std::string, double>::first);
  if (found != values_.end()) {
    found->second = value;
  } else {
    values_.emplace_back(name, value);
  }
}

std::optional<double> MetricSet::find(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &std::pair<std::string, double>::first);
  return found != values_.end() ? std::optional(found->second) : std::nullopt;
}

double MetricSet::at(std::string_view name) const {
  const auto value = find(name);
  if (!value) {
    std::vector<std::string> names;
    std::ranges::transform(values_, std::back_inserter(names),
                           &std::pair<std::string, double>::first);
    throw DataError(fmt::format("there is no metric '{}' here", name),
                    fmt::format("there are: {}", fmt::join(names, ", ")));
  }
  return *value;
}

nlohmann::ordered_json MetricSet::toJson() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values_) {
    json[name] = value;
  }
  json[kTiesKey] = tie_policy_;
  return json;
}

MetricSet MetricSet::fromJson(const nlohmann::ordered_json& json) {
  if (!json.is_object()) {
    throw DataError(fmt::format("metrics must be a JSON object, not {}", json.type_name()));
  }
  const auto ties = json.find(kTiesKey);
  if (ties != json.end() && !ties->is_string()) {
    throw DataError(fmt::format("'{}' of metrics must be a text", kTiesKey));
  }
  MetricSet metrics(ties != json.end() ? ties->get<std::string>() : std::string(kTiePolicy));
  for (const auto& [name, value] : json.items()) {
    if (name == kTiesKey) {
      continue;
    }
    if (!value.is_number()) {
      throw DataError(fmt::format("metric '{}' must be a number, not {}", name, value.type_name()));
    }
    metrics.set(name, value.template get<double>());
  }
  return metrics;
}

MetricSet evaluateBinary(const BinaryRanking& ranking, std::span<const MetricRequest> requests) {
  return evaluateEach(ranking, requests, binaryValue);
}

MetricSet evaluateBinary(ScoreSpan positives, ScoreSpan negatives,
                         std::span<const MetricRequest> requests) {
  return evaluateBinary(BinaryRanking(positives, negatives), requests);
}

MetricSet evaluateRanks(std::span<const RankCounts> ranks,
                        std::span<const MetricRequest> requests) {
  return evaluateEach(ranks, requests, rankValue);
}

std::vector<std::size_t> requestedKs(std::span<const MetricRequest> requests) {
  std::vector<std::size_t> ks;
  for (const MetricRequest& request : requests) {
    if (request.k > 0 && std::ranges::find(ks, request.k) == ks.end()) {
      ks.push_back(request.k);
    }
  }
  return ks;
}

MetricSet evaluateFullRanking(const FullRankingResult& result,
                              std::span<const MetricRequest> requests) {
  return evaluateEach(result, requests, topKValue);
}

}  // namespace edgewise
