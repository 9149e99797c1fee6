#include "edgewise/training/run_options.h"

#include "edgewise/util/text.h"

namespace edgewise {

void EvaluationOptions::bind(OptionSet& set) {
  set.add("evaluation.metrics", metrics,
          "comma-separated: auc, ap, hits@K, mrr (shared negatives), hit@K, ndcg@K, mrr (negatives "
          "per positive); auto: the dataset's own");
  set.add(
      "evaluation.full_metrics", full_metrics,
      "full ranking of all items (bipartite data): recall@K, precision@K, hit@K, ndcg@K; empty: "
      "none");
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

OptionSet RunOptions::bind() {
  OptionSet set;
  std::vector<std::string> models;
  for (const Heuristic each : allHeuristics()) {
    models.emplace_back(heuristicName(each));
  }
  set.add("model.kind", model, std::move(models), "what scores the pairs");
  set.add("run.seed", seed, {0, std::int64_t{1} << 62},
          "decides the split and every random choice");
  set.add("run.threads", threads, {0, 4096}, "threads to use; 0: all cores");
  set.add("run.device", device, {"auto", "cpu", "cuda"},
          "where to compute; auto: where the model runs best");
  data.bind(set);
  planted.bind(set);
  split.bind(set);
  negatives.bind(set);
  heuristic.bind(set);
  evaluation.bind(set);
  return set;
}

std::uint64_t splitSeed(const RunOptions& options) {
  return static_cast<std::uint64_t>(options.split.seed >= 0 ? options.split.seed : options.seed);
}

std::vector<MetricRequest> resolveMetrics(const EvaluationOptions& options, const Dataset& dataset,
                                          const FrozenNegatives& negatives) {
  if (options.metrics != "auto") {
    return parseMetrics(options.metrics);
  }
  if (negatives.per_positive > 0) {
    return parseMetrics(dataset.bipartite ? "hit@10,ndcg@50,mrr" : "mrr,hit@10");
  }
  return parseMetrics(dataset.metrics.empty() ? "auc,ap" : joinText(dataset.metrics, ","));
}

}  // namespace edgewise
