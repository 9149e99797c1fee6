#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "edgewise/evaluation/metric_set.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

struct KnownMetric {
  MetricKind kind;
  std::string_view name;
  bool takes_k;
};

constexpr std::array<KnownMetric, 8> kKnownMetrics = {{
    {MetricKind::kAuc, "auc", false},
    {MetricKind::kAveragePrecision, "ap", false},
    {MetricKind::kHits, "hits", true},
    {MetricKind::kMrr, "mrr", false},
    {MetricKind::kRecall, "recall", true},
    {MetricKind::kNdcg, "ndcg", true},
    {MetricKind::kHit, "hit", true},
    {MetricKind::kPrecision, "precision", true},
}};

// All names, written with the K of the user where he gave one, so that a suggestion can be pasted.
std::vector<std::string> namesWith(std::string_view k) {
  std::vector<std::string> names;
  names.reserve(kKnownMetrics.size());
  for (const KnownMetric& known : kKnownMetrics) {
    names.push_back(known.takes_k ? fmt::format("{}@{}", known.name, k) : std::string(known.name));
  }
  return names;
}

std::size_t parseK(std::string_view name, std::string_view text) {
  const auto value = parseInteger(text);
  if (!value || *value < 1) {
    throw ConfigError(fmt::format("metric '{}': K is '{}', not a whole number from 1", name, text),
                      "write it like hits@20");
  }
  return static_cast<std::size_t>(*value);
}

}  // namespace

MetricRequest parseMetric(std::string_view name) {
  const std::size_t sign = name.find('@');
  const bool has_k = sign != std::string_view::npos;
  const std::string_view base = name.substr(0, sign);
  const std::string_view k_text = has_k ? name.substr(sign + 1) : std::string_view{};
  const auto known = std::ranges::find(kKnownMetrics, base, &KnownMetric::name);
  if (known == kKnownMetrics.end()) {
    throw ConfigError(fmt::format("unknown metric '{}'", name),
                      suggestName(name, namesWith(parseInteger(k_text) ? k_text : "K")));
  }
  if (!known->takes_k && has_k) {
    throw ConfigError(fmt::format("metric '{}': {} has no K", name, base),
                      fmt::format("write '{}'", base));
  }
  if (known->takes_k && !has_k) {
    throw ConfigError(fmt::format("metric '{}' needs a K", name),
                      fmt::format("write it like {}@20", base));
  }
  return {known->kind, has_k ? parseK(name, k_text) : 0};
}

std::vector<MetricRequest> parseMetrics(std::string_view names) {
  std::vector<MetricRequest> requests;
  if (trimmed(names).empty()) {
    throw ConfigError("no metric is named", "known: " + joinText(namesWith("K"), ", "));
  }
  for (const std::string_view name : splitText(names, ',')) {
    const MetricRequest request = parseMetric(trimmed(name));
    if (std::ranges::find(requests, request) != requests.end()) {
      throw ConfigError(fmt::format("metric '{}' is named twice", metricName(request)));
    }
    requests.push_back(request);
  }
  return requests;
}

std::string metricName(MetricRequest request) {
  const auto known = std::ranges::find(kKnownMetrics, request.kind, &KnownMetric::kind);
  invariant(known != kKnownMetrics.end(), "every kind of metric has a name");
  return known->takes_k ? fmt::format("{}@{}", known->name, request.k) : std::string(known->name);
}

}  // namespace edgewise
