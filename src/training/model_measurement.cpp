#include "training/model_measurement.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "edgewise/ops/backend.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/process.h"
#include "training/device_memory.h"
#include "training/view_use.h"

namespace edgewise::detail {
namespace {

class Measurement {
 public:
  Measurement(const TrainedModel& trained, const std::filesystem::path& folder,
              ProgressSink& progress)
      : trained_(trained), folder_(folder), progress_(progress) {}

  [[nodiscard]] RunMetrics measure() const {
    // Scoring takes memory of other sizes than training did.
    releaseFreedMemory();
    RunMetrics run =
        describeRun(trained_.dataset, trained_.split, trained_.options, trained_.messages);
    run.selector = trained_.options.network.selector.kind;
    run.device = deviceName(trained_.device);
    run.precision = trained_.precision == ProductPrecision::kTf32 ? "tf32" : "fp32";
    run.learning = LearningSummary{.input = trained_.model.inputText(),
                                   .parameters = trained_.weights.model.size()};
    const Stopwatch watch;
    measureValid(validatedWeights(), run);
    measureTest(trained_.weights.model, run);
    run.time.emplace_back("eval_s", watch.seconds());
    run.peak_bytes = peakMemoryBytes();
    run.peak_device_bytes = peakDeviceBytes(trained_.device);
    return run;
  }

 private:
  // Validation edges that were trained on since say nothing of the weights that came of it: what
  // they chose is measured by them.
  [[nodiscard]] const Parameters& validatedWeights() const {
    return trained_.options.training.refit ? trained_.weights.validated : trained_.weights.model;
  }

  // One stage at a time: a scorer holds all layers of the whole graph.
  void measureValid(const Parameters& parameters, RunMetrics& run) const {
    const auto scorer =
        trained_.model.scorer(parameters, trained_.messages.at_valid, trained_.chooser);
    const HeldOut valid = heldOutValid(trained_.split);
    StageResult validated =
        evaluateStage(*scorer, trained_.dataset, trained_.options.evaluation, valid, progress_);
    run.valid = std::move(validated.metrics);
    run.valid_scores = std::move(validated.scores);
    run.by_view = bestView(*scorer, valid);
  }

  void measureTest(const Parameters& parameters, RunMetrics& run) const {
    const auto scorer =
        trained_.model.scorer(parameters, trained_.messages.at_test, trained_.chooser);
    const HeldOut test = heldOutTest(trained_.split);
    StageResult tested =
        evaluateStage(*scorer, trained_.dataset, trained_.options.evaluation, test, progress_);
    run.test = std::move(tested.metrics);
    run.test_scores = std::move(tested.scores);
    if (tested.ranking_seconds > 0) {
      run.time.emplace_back("full_ranking_ms", 1000 * tested.ranking_seconds);
    }
    noteRankedUsers(*scorer, test, run);
    if (run.by_view) {
      const int first = run.by_view->first_hops;
      const auto best =
          static_cast<std::size_t>(run.by_view->best.source - first) * run.by_view->depth +
          static_cast<std::size_t>(run.by_view->best.target - first);
      run.by_view->best_test = evaluateByView(
          *scorer, test,
          resolveMetrics(trained_.options.evaluation, trained_.dataset, test.negative))[best];
    }
    noteChoices(*scorer, test, run);
  }

  // Where a full ranking did not take all users, how many it took.
  void noteRankedUsers(const ViewScorer& scorer, const HeldOut& test, RunMetrics& run) const {
    if (!trained_.dataset.bipartite || trained_.options.evaluation.full_metrics == "none") {
      return;
    }
    std::vector<std::uint8_t> asked(trained_.dataset.bipartite->users, 0);
    for (const Edge& edge : test.positive.edges) {
      asked[index(edge.src)] = 1;
    }
    const auto all = static_cast<std::size_t>(std::ranges::count(asked, 1));
    const std::size_t some =
        usersToRank({.requests = {}, .users = trained_.options.evaluation.full_users}, scorer, all,
                    trained_.dataset.bipartite->items);
    if (some < all) {
      run.chosen.emplace_back("full_ranking_users", static_cast<double>(some));
    }
  }

  void noteChoices(const ViewScorer& scorer, const HeldOut& test, RunMetrics& run) const {
    // Recommendation has millions of pairs, each with a share for every view.
    constexpr std::size_t kPairs = std::size_t{1} << 18;
    const std::vector<Edge> pairs = pairsOf(test);
    ViewTally tally(trained_.model, test.positive, pairs.size(), trained_.dataset);
    for (std::size_t begin = 0; begin < pairs.size(); begin += kPairs) {
      throwIfInterrupted();
      const ViewChoice choice =
          scorer.viewsOf(std::span(pairs).subspan(begin, std::min(kPairs, pairs.size() - begin)));
      if (choice == nullptr) {
        return;
      }
      tally.add(*choice);
      for (std::size_t pair = 0; pair < choice->pairCount(); ++pair) {
        run.test_views.push_back(hopsOf(choice->best(pair), trained_.model.firstHops()));
      }
    }
    run.views = tally.result();
    writeFileAtomically(folder_ / kViewsFile, viewsText(*run.views));
  }

  // Every view's validation, and which was best.
  [[nodiscard]] std::optional<ViewMetrics> bestView(const ViewScorer& scorer,
                                                    const HeldOut& valid) const {
    const std::vector<MetricRequest> requests =
        resolveMetrics(trained_.options.evaluation, trained_.dataset, valid.negative);
    const std::vector<MetricSet> each = evaluateByView(scorer, valid, requests);
    if (each.empty()) {
      return std::nullopt;
    }
    ViewMetrics views{.metric = metricName(requests.front()),
                      .depth = trained_.model.depth(),
                      .first_hops = trained_.model.firstHops(),
                      .valid = {},
                      .best = {},
                      .best_test = MetricSet()};
    for (const MetricSet& metrics : each) {
      views.valid.push_back(metrics.at(views.metric));
    }
    const auto best =
        static_cast<std::size_t>(std::ranges::max_element(views.valid) - views.valid.begin());
    views.best = hopsOf(trained_.model.viewsApart()[best], trained_.model.firstHops());
    return views;
  }

  static std::vector<MetricSet> evaluateByView(const ViewScorer& scorer, const HeldOut& held_out,
                                               std::span<const MetricRequest> requests) {
    std::vector<MetricSet> metrics;
    for (const std::vector<double>& scores : scorer.scoreByView(pairsOf(held_out))) {
      metrics.push_back(evaluateScores(scores, held_out.positive.size(),
                                       held_out.negative.per_positive, requests));
    }
    return metrics;
  }

  const TrainedModel& trained_;
  const std::filesystem::path& folder_;
  ProgressSink& progress_;
};

}  // namespace

RunMetrics measureModel(const TrainedModel& trained, const std::filesystem::path& folder,
                        ProgressSink& progress) {
  return Measurement(trained, folder, progress).measure();
}

}  // namespace edgewise::detail
