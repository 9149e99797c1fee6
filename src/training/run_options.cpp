#include "edgewise/training/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

bool givenByRanks(const MetricRequest& request) {
  return request.kind == MetricKind::kMrr || request.kind == MetricKind::kHit ||
         request.kind == MetricKind::kNdcg;
}

bool givenByPool(const MetricRequest& request) {
  return givenByRanks(request) || request.kind == MetricKind::kAuc ||
         request.kind == MetricKind::kAveragePrecision || request.kind == MetricKind::kHits;
}

bool givenByFullRanking(const MetricRequest& request) {
  return request.kind == MetricKind::kRecall || request.kind == MetricKind::kPrecision ||
         request.kind == MetricKind::kHit || request.kind == MetricKind::kNdcg;
}

}  // namespace

void EvaluationOptions::bind(OptionSet& set) {
  set.add("evaluation.metrics", metrics,
          "comma-separated: auc, ap, hits@K, mrr (shared negatives), hit@K, ndcg@K, mrr (negatives "
          "per positive); auto: the dataset's own");
  set.add(
      "evaluation.full_metrics", full_metrics,
      "full ranking of all items (bipartite data): recall@K, precision@K, hit@K, ndcg@K; none: no "
      "such ranking");
  set.add("evaluation.full_users", full_users, {-1, std::int64_t{1} << 32},
          "users that are ranked; 0: all; -1: all where scores are dot products, else as many at "
          "random "
          "as can be ranked in a minute or so, ten times as many where a GPU ranks them");
}

void HeuristicSettings::bind(OptionSet& set) {
  set.add("heuristic.katz_beta", katz_beta, {0.0, 1.0},
          "weight of each further step of a walk; 0: chosen safely below 1/λmax");
  set.add("heuristic.katz_length", katz_length, {0, 1000},
          "count walks up to this length alone; 0: all of them");
  set.add("heuristic.ppr_restart", ppr_restart, {0.0001, 0.9999},
          "chance to return to the start before each step");
}

HeuristicOptions HeuristicSettings::resolve() const {
  return {.katz_beta = katz_beta,
          .katz_max_length = static_cast<int>(katz_length),
          .ppr_restart = ppr_restart};
}

bool isHeuristic(std::string_view model) {
  return std::ranges::any_of(allHeuristics(),
                             [&](Heuristic each) { return heuristicName(each) == model; });
}

std::vector<std::string> modelNames() {
  std::vector<std::string> names = {"gae", "sage", "seal", "lightgcn", "ngcf"};
  for (const Heuristic each : allHeuristics()) {
    names.emplace_back(heuristicName(each));
  }
  return names;
}

OptionSet RunOptions::bind() {
  OptionSet set;
  set.add("model.kind", model, modelNames(), "what scores the pairs");
  set.add("run.seed", seed, {0, std::int64_t{1} << 62},
          "decides the split and every random choice");
  set.add("run.threads", threads, {0, 4096}, "threads to use; 0: all cores");
  set.add("run.device", device, {"auto", "cpu", "cuda"},
          "where to compute; auto: on a GPU where there is one and the model has use for it");
  set.add("run.precision", precision, {"tf32", "fp32"},
          "products on a GPU: inputs rounded to 10 bits, which is several times faster, or not");
  set.add("run.recipe", recipe, "the recipe the options came from (told, without effect)");
  set.add("run.check_memory", check_memory,
          "refuse to start a run that needs more memory than there is");
  network.bind(set);
  subgraph.bind(set);
  training.bind(set);
  data.bind(set);
  planted.bind(set);
  split.bind(set);
  negatives.bind(set);
  heuristic.bind(set);
  evaluation.bind(set);
  return set;
}

nlohmann::json decidingOptions(RunOptions options) {
  nlohmann::json deciding = options.bind().toJson();
  for (const char* key : {"threads", "device", "precision", "recipe", "check_memory"}) {
    deciding["run"].erase(key);
  }
  deciding["training"].erase("checkpoint_seconds");
  return deciding;
}

std::uint64_t splitSeed(const RunOptions& options) {
  return static_cast<std::uint64_t>(options.split.seed >= 0 ? options.split.seed : options.seed);
}

bool negativesKeepSource(const RunOptions& options, const Dataset& dataset) {
  const bool compares = options.network.loss.comparesPairs();
  const std::string& asked = options.training.negatives_of;
  if (asked == "graph" && compares) {
    throw ConfigError(
        fmt::format("training.loss={} compares a positive with negatives of the same source",
                    options.network.loss.kind),
        "set training.negatives_of=source, or training.loss=bce");
  }
  return asked == "source" || (asked == "auto" && (compares || dataset.bipartite.has_value()));
}

std::vector<MetricRequest> resolveMetrics(const EvaluationOptions& options, const Dataset& dataset,
                                          const FrozenNegatives& negatives) {
  const bool ranking = negatives.per_positive > 0;
  if (options.metrics != "auto") {
    const std::vector<MetricRequest> asked = parseMetrics(options.metrics);
    for (const MetricRequest& request : asked) {
      if (ranking ? !givenByRanks(request) : !givenByPool(request)) {
        throw ConfigError(
            fmt::format("evaluation.metrics: {} does not go with {}", metricName(request),
                        ranking ? "negatives of each positive's own" : "one pool of negatives"),
            ranking
                ? "such negatives give mrr, hit@K and ndcg@K; recall@K and precision@K belong in "
                  "evaluation.full_metrics"
                : "a pool gives auc, ap, hits@K, mrr, hit@K and ndcg@K; set "
                  "negatives.per_positive for a ranking");
      }
    }
    return asked;
  }
  if (ranking) {
    return parseMetrics(dataset.bipartite ? "hit@10,ndcg@50,mrr" : "mrr,hit@10");
  }
  std::vector<MetricRequest> usual;
  for (const std::string& name : dataset.metrics) {
    const MetricRequest request = parseMetric(name);
    if (givenByPool(request) && !givenByRanks(request)) {
      usual.push_back(request);
    }
  }
  return usual.empty() ? parseMetrics("auc,ap") : usual;
}

std::vector<MetricRequest> resolveFullMetrics(const EvaluationOptions& options,
                                              const Dataset& dataset,
                                              std::span<const MetricRequest> others) {
  if (options.full_metrics == "none" || (options.full_metrics == "auto" && !dataset.bipartite)) {
    return {};
  }
  if (!dataset.bipartite) {
    throw ConfigError("evaluation.full_metrics: " + dataset.name + " has no items to rank",
                      "full ranking needs bipartite data; leave it out");
  }
  const bool usual = options.full_metrics == "auto";
  std::vector<MetricRequest> full =
      parseMetrics(usual ? "recall@20,ndcg@20,recall@10,ndcg@10,recall@50" : options.full_metrics);
  if (usual) {
    std::erase_if(full, [&](const MetricRequest& request) {
      return std::ranges::find(others, request) != others.end();
    });
  }
  for (const MetricRequest& request : full) {
    if (!givenByFullRanking(request)) {
      throw ConfigError(
          "evaluation.full_metrics: full ranking does not give " + metricName(request),
          "it gives recall@K, precision@K, hit@K and ndcg@K");
    }
    if (std::ranges::find(others, request) != others.end()) {
      throw ConfigError(metricName(request) +
                            " is asked for in both evaluation.metrics and "
                            "evaluation.full_metrics",
                        "keep it in one of them");
    }
  }
  return full;
}

}  // namespace edgewise
