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

// Validation edges stay unknown even where they carry messages: a leak shows in messages alone.
EdgeSet knownEdges(const Dataset& dataset, const TrainingEdges& training,
                   const CandidateNodes& candidates) {
  const EdgeSet valid =
      EdgeSet::fromEdges(candidates.among(training.valid.positive.edges), dataset.direction);
  std::vector<Edge> messages = candidates.among(training.message.table.edges);
  std::erase_if(messages, [&](const Edge& edge) { return valid.contains(edge); });
  EdgeSet known = EdgeSet::fromEdges(messages, dataset.direction);
  known.insertAll(candidates.among(training.supervision.table.edges));
  return known;
}

BatchOptions fitted(BatchOptions options, std::size_t edges) {
  constexpr std::size_t kFewestBatches = 3;
  if (options.hidden) {
    options.batch_size = std::clamp<std::size_t>((edges + kFewestBatches - 1) / kFewestBatches, 1,
                                                 options.batch_size);
  }
  return options;
}

}  // namespace

BatchStream::BatchStream(const Dataset& dataset, const TrainingEdges& training,
                         const BatchOptions& options, std::uint64_t seed)
    : supervision_(training.supervision.table.edges),
      options_(fitted(options, supervision_.size())),
      seed_(seed),
      candidates_(dataset, supervision_),
      known_(knownEdges(dataset, training, candidates_)),
      sampler_(spaceOf(dataset, candidates_), known_, {.distinct = false}) {
  beginEpoch(0);
}

std::size_t BatchStream::batchesPerEpoch() const {
  return (supervision_.size() + options_.batch_size - 1) / options_.batch_size;
}

std::vector<std::uint32_t> BatchStream::orderOf(std::uint64_t epoch) const {
  std::vector<std::uint32_t> order(supervision_.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  RngStream random(seed_, fmt::format("batches.order.{}", epoch));
  random.shuffle(std::span(order));
  return order;
}

void BatchStream::beginEpoch(std::uint64_t epoch) {
  epoch_ = epoch;
  order_ = orderOf(epoch);
}

EdgeBatch BatchStream::batch(std::size_t number) const { return cut(order_, epoch_, number); }

EdgeBatch BatchStream::batchOf(std::uint64_t epoch, std::size_t number) const {
  return cut(orderOf(epoch), epoch, number);
}

EdgeBatch BatchStream::cut(std::span<const std::uint32_t> order, std::uint64_t epoch,
                           std::size_t number) const {
  const std::size_t begin = number * options_.batch_size;
  const std::size_t end = std::min(supervision_.size(), begin + options_.batch_size);
  EdgeBatch batch;
  for (std::size_t i = begin; i < end; ++i) {
    batch.positive.push_back(supervision_[order[i]]);
    batch.rows.push_back(order[i]);
  }
  batch.negative =
      sampler_.sample(batch.positive.size() * options_.negatives_per_positive,
                      CounterRng(seed_, fmt::format("batches.negative.{}.{}", epoch, number)));
  candidates_.restore(batch.negative);
  return batch;
}

}  // namespace edgewise
