#include "edgewise/training/batch_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "edgewise/data/edge_ages.h"
#include "edgewise/util/error.h"
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

// Some of the edges by lot, in their order; at least one.
EdgeTable someOf(const EdgeTable& table, double share, std::uint64_t seed) {
  if (share >= 1 || table.empty()) {
    return table;
  }
  std::vector<std::size_t> rows(table.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  RngStream(seed, "batches.share").shuffle(std::span(rows));
  const auto kept = std::llround(share * static_cast<double>(table.size()));
  rows.resize(static_cast<std::size_t>(std::max(1LL, kept)));
  std::ranges::sort(rows);
  return table.select(rows);
}

// recent^-age, scaled so that all together are as many as there are edges.
std::vector<double> sharesByAge(const EdgeTable& table, double recent, const Dataset& dataset) {
  if (recent == 1 || table.empty()) {
    return {};
  }
  std::vector<double> shares = edgeAges(
      table, {.node_count = dataset.node_count, .by_source = dataset.bipartite.has_value()});
  if (shares.empty()) {
    throw DataError(
        fmt::format("training.recent: nothing tells which edges of {} are recent", dataset.name),
        "give times (--set data.time_column=NAME), split users' lists with "
        "split.kind=official, or set training.recent=1");
  }
  for (double& share : shares) {
    share = std::pow(recent, -share);
  }
  const double scale =
      static_cast<double>(table.size()) / std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) {
    share *= scale;
  }
  return shares;
}

BatchOptions fitted(BatchOptions options, std::size_t edges) {
  constexpr std::size_t kFewestBatches = 3;
  if (options.hidden) {
    options.batch_size = std::clamp<std::size_t>((edges + kFewestBatches - 1) / kFewestBatches, 1,
                                                 options.batch_size);
  }
  return options;
}

// Of the items, or of all candidates where there are none.
TargetSampler targetSamplerOf(const Dataset& dataset, const CandidateNodes& candidates,
                              const EdgeSet& known, std::span<const Edge> supervision) {
  std::vector<std::uint32_t> targets(candidates.nodes().begin(), candidates.nodes().end());
  if (dataset.bipartite) {
    std::erase_if(targets, [&](std::uint32_t node) { return node < dataset.bipartite->users; });
  }
  std::vector<Edge> edges;
  edges.reserve(known.size());
  known.forEach([&](Edge edge) { edges.push_back(edge); });
  candidates.restore(edges);
  TargetSampler sampler(dataset.node_count, std::move(targets), edges, dataset.direction);
  for (const Edge& edge : supervision) {
    if (sampler.available(edge.src) == 0) {
      throw DataError(
          fmt::format("{}: {} '{}' has met every {} in training, so there is no negative to learn "
                      "from",
                      dataset.name, dataset.bipartite ? "user" : "node",
                      dataset.nodeLabel(edge.src), dataset.bipartite ? "item" : "other"),
          "leave that one out, or set training.negatives_of=graph with training.loss=bce");
    }
  }
  return sampler;
}

}  // namespace

BatchStream::BatchStream(const Dataset& dataset, const TrainingEdges& training,
                         const BatchOptions& options, std::uint64_t seed)
    : BatchStream(dataset, training, someOf(training.supervision.table, options.share, seed),
                  options, seed) {}

BatchStream::BatchStream(const Dataset& dataset, const TrainingEdges& training,
                         EdgeTable supervision, const BatchOptions& options, std::uint64_t seed)
    : shares_(sharesByAge(supervision, options.recent, dataset)),
      supervision_(std::move(supervision.edges)),
      options_(fitted(options, supervision_.size())),
      seed_(seed),
      candidates_(dataset, training.supervision.table.edges),
      known_(knownEdges(dataset, training, candidates_)),
      sampler_(spaceOf(dataset, candidates_), known_, {.distinct = false}) {
  if (options_.same_source) {
    targets_ = targetSamplerOf(dataset, candidates_, known_, supervision_);
  }
  beginEpoch(0);
}

std::size_t BatchStream::batchesPerEpoch() const {
  return (supervision_.size() + options_.batch_size - 1) / options_.batch_size;
}

std::size_t BatchStream::sizeOf(std::size_t number) const {
  return std::min(options_.batch_size, supervision_.size() - beginOf(number));
}

CounterRng BatchStream::negativeNumbers(std::uint64_t epoch, std::size_t number) const {
  return {seed_, fmt::format("batches.negative.{}.{}", epoch, number)};
}

std::optional<DrawSpace> BatchStream::drawSpace() const {
  if (targets_ || sampler_.crowded(1) || sampler_.available() == 0) {
    return std::nullopt;
  }
  std::vector<Edge> known;
  known.reserve(known_.size());
  known_.forEach([&](Edge edge) { known.push_back(edge); });
  DrawSpace draw{.space = sampler_.space(),
                 .known = CsrGraph::fromEdges(candidates_.size(), known, Direction::kDirected),
                 .candidates = {},
                 .fit = static_cast<double>(sampler_.available()) /
                        static_cast<double>(sampler_.space().pairCount())};
  if (!candidates_.all()) {
    draw.candidates.assign(candidates_.nodes().begin(), candidates_.nodes().end());
  }
  return draw;
}

std::vector<std::uint32_t> BatchStream::order(std::uint64_t epoch) const {
  if (epoch == epoch_ && !order_.empty()) {
    return order_;
  }
  RngStream random(seed_, fmt::format("batches.order.{}", epoch));
  std::vector<std::uint32_t> rows = rowsOf(random);
  random.shuffle(std::span(rows));
  return rows;
}

std::vector<std::uint32_t> BatchStream::rowsOf(RngStream& random) const {
  std::vector<std::uint32_t> rows;
  rows.reserve(supervision_.size());
  if (shares_.empty()) {
    rows.resize(supervision_.size());
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
    return rows;
  }
  // A comb with one tooth a place, laid over the shares side by side: an edge gets its share
  // rounded up or down, and all together their number.
  const double offset = random.uniform();
  double end = 0;
  for (std::uint32_t row = 0; row < shares_.size(); ++row) {
    end += shares_[row];
    while (rows.size() < supervision_.size() && static_cast<double>(rows.size()) + offset < end) {
      rows.push_back(row);
    }
  }
  // Rounding may leave the last tooth beyond the last edge.
  rows.resize(supervision_.size(), static_cast<std::uint32_t>(shares_.size() - 1));
  return rows;
}

void BatchStream::beginEpoch(std::uint64_t epoch) {
  order_ = order(epoch);
  epoch_ = epoch;
}

EdgeBatch BatchStream::batch(std::size_t number) const { return cut(order_, epoch_, number); }

EdgeBatch BatchStream::batchOf(std::uint64_t epoch, std::size_t number) const {
  return cut(order(epoch), epoch, number);
}

EdgeBatch BatchStream::cut(std::span<const std::uint32_t> order, std::uint64_t epoch,
                           std::size_t number) const {
  const std::size_t begin = beginOf(number);
  const std::size_t end = begin + sizeOf(number);
  EdgeBatch batch;
  for (std::size_t i = begin; i < end; ++i) {
    batch.positive.push_back(supervision_[order[i]]);
    batch.rows.push_back(order[i]);
  }
  if (targets_) {
    batch.negative = targets_->sample(batch.positive, options_.negatives_per_positive,
                                      negativeNumbers(epoch, number));
    return batch;
  }
  batch.negative = sampler_.sample(batch.positive.size() * options_.negatives_per_positive,
                                   negativeNumbers(epoch, number));
  candidates_.restore(batch.negative);
  return batch;
}

}  // namespace edgewise
