// The batches of a training run: supervision edges in an order of each epoch's own, with fresh
// negatives. A batch is a function of (seed, epoch, number), so a run can be taken up anywhere.
// Where recent edges count more an epoch has as many places as there are edges, and an edge has
// none, one or several of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "edgewise/data/candidate_nodes.h"
#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/ops/device_sampler.h"
#include "edgewise/sampling/edge_set.h"
#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/sampling/target_sampler.h"

namespace edgewise {

struct EdgeBatch {
  std::vector<Edge> positive;
  std::vector<Edge> negative;
  // Where the positives stand among the supervision edges.
  std::vector<std::uint32_t> rows = {};
};

struct BatchOptions {
  std::size_t batch_size = 1024;
  std::size_t negatives_per_positive = 1;
  // Negatives keep the source of their positive and follow in its order; else they are any pairs.
  bool same_source = false;
  // A batch's edges do not carry messages in its step. Then batches hold a third of all edges at
  // most, so that small graphs keep messages to learn from.
  bool hidden = false;
  // Of the supervision edges that batches are made of; the others are known all the same.
  double share = 1;
  // An edge is drawn this to the power of -age as often (edge_ages.h); 1: each once an epoch.
  double recent = 1;
};

class BatchStream {
 public:
  // Negatives avoid every edge training knows and no other: held-out edges are not looked at.
  // Throws DataError for a supervised source that knows every target where negatives keep it, and
  // where recent edges are to count more and ages are not known.
  BatchStream(const Dataset& dataset, const TrainingEdges& training, const BatchOptions& options,
              std::uint64_t seed);

  [[nodiscard]] std::size_t batchesPerEpoch() const;
  // Positives of a batch, but for the last.
  [[nodiscard]] std::size_t batchSize() const { return options_.batch_size; }
  [[nodiscard]] std::span<const Edge> supervision() const { return supervision_; }
  [[nodiscard]] std::size_t supervisionCount() const { return supervision_.size(); }
  [[nodiscard]] std::size_t negativesPerPositive() const { return options_.negatives_per_positive; }
  // Positives of a batch, and where in the epoch's order they begin.
  [[nodiscard]] std::size_t sizeOf(std::size_t number) const;
  [[nodiscard]] std::size_t beginOf(std::size_t number) const {
    return number * options_.batch_size;
  }
  // What a batch is cut from.
  [[nodiscard]] std::vector<std::uint32_t> order(std::uint64_t epoch) const;
  [[nodiscard]] CounterRng negativeNumbers(std::uint64_t epoch, std::size_t number) const;
  // What negatives are drawn from; none where they are so rare that they are listed.
  [[nodiscard]] std::optional<DrawSpace> drawSpace() const;
  // What they are drawn by where they keep their positive's source; else null.
  [[nodiscard]] const TargetSampler* targetSampler() const {
    return targets_ ? &*targets_ : nullptr;
  }
  // Sets the order of an epoch; batches come from it until the next call.
  void beginEpoch(std::uint64_t epoch);
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] EdgeBatch batch(std::size_t number) const;
  // A batch of any epoch, at the cost of that epoch's order.
  [[nodiscard]] EdgeBatch batchOf(std::uint64_t epoch, std::size_t number) const;

 private:
  [[nodiscard]] EdgeBatch cut(std::span<const std::uint32_t> order, std::uint64_t epoch,
                              std::size_t number) const;

  BatchStream(const Dataset& dataset, const TrainingEdges& training, EdgeTable supervision,
              const BatchOptions& options, std::uint64_t seed);
  // The rows of an epoch before they are shuffled.
  [[nodiscard]] std::vector<std::uint32_t> rowsOf(RngStream& random) const;

  // How often each edge is drawn, in all as many times as there are edges; empty: each once.
  std::vector<double> shares_;
  std::vector<Edge> supervision_;
  BatchOptions options_;
  std::uint64_t seed_;
  CandidateNodes candidates_;
  EdgeSet known_;
  NegativeSampler sampler_;
  std::optional<TargetSampler> targets_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> order_;
};

}  // namespace edgewise
