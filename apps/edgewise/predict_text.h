// Predictions as CSV or JSON, written as they come: to standard output, or to a file that appears
// whole or not at all.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "edgewise/data/dataset.h"
#include "edgewise/serving/link_predictor.h"

namespace edgewise::app {

struct PredictionFormat {
  bool json = false;
  // Columns that are not always there.
  bool probability = true;
  bool views = false;
  bool known = false;
};

class PredictionWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  // `about` opens the JSON: what the predictions were made with.
  PredictionWriter(const Dataset& dataset, PredictionFormat format, Sink sink,
                   const nlohmann::ordered_json& about);
  void add(std::span<const Prediction> predictions);
  // Call once, last.
  void close();

 private:
  void flush();
  void addCsv(const Prediction& prediction);
  void addJson(const Prediction& prediction);

  const Dataset& dataset_;
  PredictionFormat format_;
  Sink sink_;
  std::string buffer_;
  bool first_ = true;
};

// Which edges carried messages, how probabilities were learned.
[[nodiscard]] nlohmann::ordered_json predictorJson(const StoredRun& run,
                                                   const LinkPredictor& predictor);

}  // namespace edgewise::app
