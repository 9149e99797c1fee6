// What a trained model is worth: its scores of validation and test edges, and the views it looks at
// pairs by.
#pragma once

#include <filesystem>

#include "edgewise/ops/device.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/run_metrics.h"
#include "edgewise/training/run_options.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/progress.h"
#include "training/run_parts.h"

namespace edgewise::detail {

struct TrainedModel {
  const Dataset& dataset;
  const LinkSplit& split;
  const RunOptions& options;
  const PairModel& model;
  const ModelWeights& weights;
  // Null where no views are chosen.
  const ViewChooser* chooser;
  const RunMessages& messages;
  at::Device device;
  ProductPrecision precision;
};

// Scores validation and test edges once, and leaves views.csv in `folder` where pairs have views of
// their own.
[[nodiscard]] RunMetrics measureModel(const TrainedModel& trained,
                                      const std::filesystem::path& folder, ProgressSink& progress);

}  // namespace edgewise::detail
