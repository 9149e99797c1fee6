// A short run in a folder of its own, opened again, beside what it reported itself.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "edgewise/serving/served_run.h"
#include "edgewise/training/heuristic_run.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/run_folder.h"
#include "support/test_support.h"

namespace edgewise::testing {

// Seconds on the planted graph.
inline RunOptions quickOptions(const std::string& model, const std::string& selector = "none") {
  RunOptions options;
  options.data.dataset = "planted";
  options.planted.nodes = 240;
  options.planted.communities = 4;
  options.model = model;
  options.network.encoder.hidden = 8;
  options.network.encoder.layers = 2;
  options.network.selector.kind = selector;
  options.network.selector.hidden = 16;
  options.network.selector.epochs = 3;
  options.training.epochs = 3;
  options.training.batch_size = 64;
  options.seed = 5;
  return options;
}

// A ring in which everyone points at the next, the next but one and the fifth.
inline std::string arrowsText() {
  std::string text = "from,to\n";
  for (int i = 0; i < 40; ++i) {
    for (const int step : {1, 2, 5}) {
      text += "n" + std::to_string(i) + ",n" + std::to_string((i + step) % 40) + "\n";
    }
  }
  return text;
}

class FinishedRun {
 public:
  explicit FinishedRun(RunOptions options) {
    const Dataset dataset = openDataset(options.data, options.planted, {});
    const LinkSplit split =
        splitLinks(dataset, options.split, options.negatives, splitSeed(options));
    const RunFolder files = RunFolder::create(folder_.path());
    files.writeOptions(options, dataset.hash);
    reported_ = isHeuristic(options.model) ? runHeuristic(dataset, split, options)
                                           : runModel(dataset, split, options, folder_.path());
    files.writeJson("metrics.json", reported_.toJson());
    served_ = serveRun(readStoredRun(folder_.path()), {});
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] const RunMetrics& reported() const { return reported_; }
  [[nodiscard]] const ServedRun& served() const { return served_; }

 private:
  TempFolder folder_;
  RunMetrics reported_;
  ServedRun served_;
};

}  // namespace edgewise::testing
