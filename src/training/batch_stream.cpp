#include "edgewise/training/batch_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

PairSpace spaceOf(const Dataset& dataset, const CandidateNodes& candidates) {
  return {.node_count = candidates.size(),
          .direction = dataset.direction,
          .users = dataset.bipartite ? dataset.bipartite->users : 0};
}

EdgeSet knownEdges(const Dataset& dataset, const TrainingEdges& training,
                   const CandidateNodes& candidates) {
  EdgeSet known =
      EdgeSet::fromEdges(candidates.among(training.message.table.edges), dataset.direction);
  known.insertAll(candidates.among(training.supervision.table.edges));
  return known;
}

}  // namespace

BatchStream::BatchStream(const Dataset& dataset, const TrainingEdges& training,
                         const BatchOptions& options, std::uint64_t seed)
    : supervision_(training.supervision.table.edges),
      options_(options),
      seed_(seed),
      candidates_(dataset, supervision_),
      known_(knownEdges(dataset, training, candidates_)),
      sampler_(spaceOf(dataset, candidates_), known_, {.distinct = false}),
      order_(supervision_.size()) {
  beginEpoch(0);
}

std::size_t BatchStream::batchesPerEpoch() const {
  return (supervision_.size() + options_.batch_size - 1) / options_.batch_size;
}

void BatchStream::beginEpoch(std::uint64_t epoch) {
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  RngStream random(seed_, fmt::format("batches.order.{}", epoch));
  random.shuffle(std::span(order_));
}

EdgeBatch BatchStream::batch(std::size_t number) const {
  const std::size_t begin = number * options_.batch_size;
  const std::size_t end = std::min(supervision_.size(), begin + options_.batch_size);
  EdgeBatch batch;
  for (std::size_t i = begin; i < end; ++i) {
    batch.positive.push_back(supervision_[order_[i]]);
  }
  batch.negative =
      sampler_.sample(batch.positive.size() * options_.negatives_per_positive,
                      CounterRng(seed_, fmt::format("batches.negative.{}.{}", epoch_, number)));
  candidates_.restore(batch.negative);
  return batch;
}

}  // namespace edgewise
