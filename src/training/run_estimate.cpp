#include "edgewise/training/run_estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "edgewise/graph/heuristics.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

// Orders of magnitude of one core: neighbours compared, and matrix entries applied to one column,
// per second.
constexpr double kNeighboursPerSecond = 5e8;
constexpr double kEntriesPerSecond = 1e9;
// Iterations until Katz and PPR have converged at their defaults.
constexpr double kIterations = 45;

// Edges for validation and test, by the usual shares. Official splits may leave it to us to hold
// out what validates.
double heldOutEdges(const Dataset& dataset, const RunOptions& options) {
  const auto edges = static_cast<double>(dataset.edges.size());
  const auto share = [](double asked, double usual) { return asked >= 0 ? asked : usual; };
  const double valid = share(options.split.valid, dataset.bipartite ? 0.1 : 0.05) * edges;
  if (dataset.official) {
    const auto published = static_cast<double>(dataset.official->valid.size());
    return (published > 0 ? published : valid) + static_cast<double>(dataset.official->test.size());
  }
  return valid + share(options.split.test, dataset.bipartite ? 0.2 : 0.1) * edges;
}

// With their negatives.
double scoredPairs(const Dataset& dataset, const RunOptions& options) {
  const std::int64_t usual = dataset.bipartite || options.negatives.kind == "hard" ? 100 : 1;
  const std::int64_t asked = options.negatives.per_positive;
  return heldOutEdges(dataset, options) * static_cast<double>(1 + (asked > 0 ? asked : usual));
}

double featureBytes(const Dataset& dataset) {
  return static_cast<double>(dataset.features.values().size_bytes() +
                             dataset.features.columnIndices().size_bytes());
}

constexpr double kFloat = 4;

// Products with weights that a layer takes.
double productsPerLayer(const std::string& model) {
  if (model == "lightgcn") {
    return 0;
  }
  return model == "gae" ? 1 : 2;
}

// The sizes of a learned model that memory and time follow from.
struct ModelSizes {
  double nodes = 0;
  double edges = 0;
  // That training learns from and hears.
  double learned = 0;
  double pairs = 0;
  double width = 0;
  double hidden = 0;
  double layers = 0;
  // Views that a predictor looks at, and that a selector does.
  double views = 1;
  double chosen_from = 0;
  double selector_weights = 0;
  // Width of what is learned for each node.
  double embedding = 0;
  double parameters = 0;
  double batches = 0;
};

ModelSizes sizesOf(const Dataset& dataset, const RunOptions& options) {
  const ModelOptions& network = options.network;
  const TrainingOptions& training = options.training;
  ModelSizes sizes;
  sizes.nodes = static_cast<double>(dataset.node_count);
  sizes.edges = static_cast<double>(dataset.edges.size());
  sizes.learned = std::max(1.0, sizes.edges - heldOutEdges(dataset, options));
  sizes.width = static_cast<double>(network.encoder.hidden);
  sizes.layers = static_cast<double>(network.encoder.layers);
  sizes.hidden =
      network.predictor.hidden > 0 ? static_cast<double>(network.predictor.hidden) : sizes.width;
  const double depths = sizes.layers - static_cast<double>(network.encoder.first_depth - 1);
  sizes.views = network.selector.scoresViewsApart() ? depths * depths : 1;
  if (network.selector.searches()) {
    const auto deep = static_cast<double>(network.selector.hidden);
    sizes.chosen_from = depths * depths;
    sizes.selector_weights =
        sizes.width * deep +
        static_cast<double>(std::max<std::int64_t>(0, network.selector.layers - 2)) * deep * deep;
  }
  const double batch = std::min(sizes.learned, static_cast<double>(training.batch_size));
  sizes.pairs = batch * static_cast<double>(1 + training.negatives);
  const bool recommends = isRecommender(options.model);
  const bool given = !recommends && !dataset.features.empty() && network.features != "embedding";
  const bool learned = !given || network.features == "both";
  sizes.embedding = recommends ? sizes.width : learned ? static_cast<double>(network.embedding) : 0;
  const double input =
      sizes.embedding + (given ? static_cast<double>(dataset.features.columns()) : 0);
  sizes.parameters =
      productsPerLayer(options.model) * (input + sizes.width * (sizes.layers - 1)) * sizes.width +
      sizes.nodes * sizes.embedding + sizes.views * 2 * sizes.hidden * sizes.hidden;
  sizes.batches = std::ceil(sizes.learned / std::max(1.0, batch));
  return sizes;
}

double stepsOf(std::int64_t epochs, const ModelSizes& sizes, const TrainingOptions& training) {
  const double steps = static_cast<double>(epochs) * sizes.batches;
  return training.max_steps > 0 ? std::min(steps, static_cast<double>(training.max_steps)) : steps;
}

// Of one pair under all its views: the ends' gradients by layer and shares; where the gradient is
// differentiated again, every view and what the selector makes of it.
double selectorBytesPerPair(const ModelSizes& sizes, const SelectorOptions& selector) {
  if (sizes.chosen_from == 0) {
    return 0;
  }
  const double fused = 2 * sizes.layers * sizes.width + 8 * sizes.chosen_from;
  const double twice = 8 * sizes.chosen_from * (sizes.width + static_cast<double>(selector.hidden));
  return kFloat * (selector.order == "exact" && !selector.learnsAlike() ? twice : fused);
}

// Of what is over when training begins: a spectral start holds four blocks of vectors in double
// precision, a few wider than the embedding.
double startBytes(const ModelSizes& sizes, const ModelOptions& network) {
  constexpr double kBlocks = 4;
  constexpr double kSpare = 16;
  return network.embedding_start == "spectral" && sizes.embedding > 0
             ? kBlocks * 2 * kFloat * sizes.nodes * (sizes.embedding + kSpare)
             : 0;
}

// Of one pair in the predictor: the representations of its views and the hidden layers on them;
// dot products hold no more than scores, unless each pair has the one view that was chosen for it.
double predictorBytesPerPair(const ModelSizes& sizes, const ModelOptions& network) {
  constexpr double kScores = 6;
  const SelectorOptions& selector = network.selector;
  const bool one_chosen = selector.choosesByPair() && !selector.scoresViewsApart() &&
                          (!selector.searches() || selector.top == 1);
  if (network.predictor.kind == "dot" && !one_chosen) {
    const double views = selector.kind == "jk" ? sizes.layers * sizes.layers : sizes.views;
    return kFloat * kScores * std::max(views, sizes.chosen_from);
  }
  return kFloat * sizes.views * (2 + 3 * static_cast<double>(network.predictor.layers - 1)) *
         std::max(sizes.width, sizes.hidden);
}

// Where a batch's purchases are each other's negatives: everyone's score with everyone, its
// exponentials and their gradient, and both ends' rows with theirs.
double batchLossBytes(const ModelSizes& sizes, const RunOptions& options) {
  if (!options.network.loss.comparesBatch()) {
    return 0;
  }
  const double batch = sizes.pairs / static_cast<double>(1 + options.training.negatives);
  return kFloat * batch * (3 * batch + 4 * sizes.width);
}

double memoryOf(const ModelSizes& sizes, const Dataset& dataset, const RunOptions& options) {
  const ModelOptions& network = options.network;
  // A layer keeps its sum, its output and what the next one reads; the way back holds about four
  // more at once.
  const double norm = network.encoder.norm == "layer" ? 1 : 0;
  const double node_matrices = sizes.layers * (3 + norm) + 4;
  // Values, gradients, two moments, the best epoch, and a checkpoint being written; a search keeps
  // weights of its own and moves them both ways. An average is one more, and one is put aside while
  // it is validated.
  const double copies = (sizes.chosen_from > 0 ? 9 : 6) + (options.training.average > 0 ? 2 : 0);
  constexpr double kBytesPerEdge = 64;
  constexpr double kProgram = 250e6;
  const double step = node_matrices * sizes.nodes * sizes.width * kFloat +
                      sizes.pairs * (predictorBytesPerPair(sizes, network) +
                                     selectorBytesPerPair(sizes, network.selector)) +
                      batchLossBytes(sizes, options);
  return kProgram + std::max(step, startBytes(sizes, network)) +
         copies * sizes.parameters * kFloat + kBytesPerEdge * sizes.edges +
         4 * featureBytes(dataset);
}

constexpr double kProductsPerSecond = 30e9;

// Of numbers that are gathered and added up, by one core: from the last cache, and the more from
// memory the larger a layer of all nodes is. Measured.
double sumsPerSecond(const ModelSizes& sizes) {
  constexpr double kCached = 6e9;
  constexpr double kFar = 1.5e9;
  constexpr double kCache = 64e6;
  const double layer = sizes.nodes * sizes.width * kFloat;
  return std::max(kFar, kCached * std::sqrt(std::min(1.0, kCache / std::max(1.0, layer))));
}

// What a predictor takes for one pair, in products; a dot product is bound by fetching its rows.
double predictorProducts(const ModelSizes& sizes, const PredictorOptions& predictor) {
  constexpr double kFetched = 16;
  return predictor.kind == "dot" ? kFetched * sizes.width
                                 : sizes.views * (sizes.width + sizes.hidden) * sizes.hidden;
}

// Of a batch's ends among all nodes, where the deepest layer is computed at them alone; else 1.
double shareOfEnds(const ModelSizes& sizes) {
  const bool near =
      sizes.layers > 1 &&
      nearPairsPay(static_cast<std::size_t>(sizes.nodes), static_cast<std::size_t>(sizes.pairs),
                   static_cast<std::int64_t>(sizes.width), at::kCPU);
  return near ? 2 * sizes.pairs / sizes.nodes : 1;
}

// Forward and backward of one step without a selector.
double stepSeconds(const ModelSizes& sizes, const Dataset& dataset, const RunOptions& options) {
  const double entries = dataset.features.isSparse()
                             ? static_cast<double>(dataset.features.nonzeroCount())
                             : static_cast<double>(dataset.features.values().size());
  const double weights = productsPerLayer(options.model);
  const bool recommends = isRecommender(options.model);
  // Ends have more neighbours than others.
  const double ends = shareOfEnds(sizes);
  const double transformed = sizes.layers - (recommends ? 0 : 1) - (1 - ends);
  const double products =
      weights * sizes.nodes * std::max(0.0, transformed) * sizes.width * sizes.width +
      (recommends ? 0 : weights * entries * sizes.width) +
      sizes.pairs * predictorProducts(sizes, options.network.predictor);
  const double sums =
      2 * sizes.learned * (sizes.layers - 1 + std::min(1.0, 2 * ends)) * sizes.width;
  constexpr double kStepOverhead = 5e-4;
  const double cores = threadCount();
  // Three times the forward products, and the sums over messages.
  return kStepOverhead + 3 * products / (kProductsPerSecond * cores) +
         2 * sums / (sumsPerSecond(sizes) * cores);
}

// Passes over a batch in one step of the search.
double searchPasses(const SelectorOptions& selector) {
  return selector.learnsAlike() || selector.order == "first" ? 1.5
         : selector.order == "second"                        ? 5
                                                             : 6;
}

// What training on subgraphs takes, by the size of some that the whole graph has.
RunEstimate estimateSubgraphs(const Dataset& dataset, const RunOptions& options) {
  const DgcnnOptions& network = options.subgraph.network;
  const TrainingOptions& training = options.training;
  // One at a time: what does not fit must not be found out by trying.
  constexpr SampleBudget kGlance{.pairs = 200, .at_once = 1, .entries = 20'000'000};
  const SubgraphSample sample =
      sampledSubgraphs(dataset, {.table = dataset.edges}, dataset.edges.edges, options, kGlance);
  const auto sampled = static_cast<double>(std::max<std::size_t>(1, sample.nodes.size()));
  const double nodes = std::accumulate(sample.nodes.begin(), sample.nodes.end(), 0.0) / sampled;
  const double entries = static_cast<double>(sample.entries) / sampled;
  const double supervised =
      0.85 * static_cast<double>(dataset.edges.size()) * options.subgraph.train_share;
  const double batch = std::min(supervised, static_cast<double>(training.batch_size));
  const double pairs = 1 + static_cast<double>(training.negatives);
  const double width = static_cast<double>(network.layers) * static_cast<double>(network.hidden);
  // A layer keeps its sum, its output and their gradients; a batch may be of the largest, and the
  // next ones are cut meanwhile.
  const double largest =
      sample.nodes.empty() ? 0 : static_cast<double>(std::ranges::max(sample.nodes));
  constexpr double kBatchesAhead = 4;
  const double bytes =
      batch * pairs *
          (largest * (width * kFloat * 6 + 2 * kFloat * 8) + kBatchesAhead * entries * 2 * kFloat) +
      250e6 + 4 * featureBytes(dataset);
  // Measured on one core: cutting out and learning take as long as so many numbers of nodes'
  // layers, and as so many of the neighbours that are added up. Scoring takes a third.
  constexpr double kNumbersPerSecond = 5e7;
  constexpr double kSumsPerSecond = 1e9;
  const double seconds_per_pair = width * (nodes / kNumbersPerSecond + entries / kSumsPerSecond);
  const double steps =
      stepsOf(training.epochs, {.batches = supervised / std::max(1.0, batch)}, training);
  const double evaluations =
      1 + 0.5 * static_cast<double>(training.epochs) /
              static_cast<double>(std::max<std::int64_t>(1, training.evaluate_every));
  const auto depth = static_cast<double>(viewDepth(options));
  const double views =
      options.network.selector.searches()
          ? std::min(depth * depth, static_cast<double>(options.network.selector.top))
          : 1;
  const double scored = evaluations * views * scoredPairs(dataset, options) / 3;
  return {.memory_bytes = static_cast<std::uint64_t>(bytes),
          .seconds = (steps * batch * pairs + scored) * seconds_per_pair / threadCount()};
}

}  // namespace

RunEstimate estimateModelRun(const Dataset& dataset, const RunOptions& options) {
  if (readsSubgraphs(options)) {
    RunEstimate estimate = estimateSubgraphs(dataset, options);
    if (options.network.selector.searches()) {
      RunOptions search = options;
      search.model = "gae";
      search.network.encoder.layers = options.subgraph.hops;
      search.training.epochs = 0;
      if (options.network.selector.search_batch > 0) {
        search.training.batch_size = options.network.selector.search_batch;
      }
      const RunEstimate searched = estimateModelRun(dataset, search);
      estimate.memory_bytes = std::max(estimate.memory_bytes, searched.memory_bytes);
      estimate.seconds += searched.seconds;
    }
    return estimate;
  }
  const ModelSizes sizes = sizesOf(dataset, options);
  const SelectorOptions& selector = options.network.selector;
  const double plain = stepSeconds(sizes, dataset, options);
  const double scoring = sizes.chosen_from * sizes.pairs * sizes.selector_weights /
                         (kProductsPerSecond * threadCount());
  double seconds = 0;
  if (selector.searches()) {
    const std::int64_t epochs = selector.searchEpochs(options.training.epochs);
    const double steps = stepsOf(epochs, sizes, options.training);
    const double warm = stepsOf(std::min(selector.warmup, epochs), sizes, options.training);
    seconds += warm * plain + (steps - warm) * searchPasses(selector) * (plain + 3 * scoring);
  }
  const int trainings = (selector.joins() ? 0 : 1) + (options.training.refit ? 1 : 0);
  const double choosing = selector.learnsAlike() ? 0 : scoring / 2;
  seconds +=
      trainings * stepsOf(options.training.epochs, sizes, options.training) * (plain + choosing);
  // Pairs of the evaluation with their scores, and a block of a full ranking.
  constexpr double kBytesPerScoredPair = 24;
  constexpr double kRankingBlock = 400e6;
  const double ranking = dataset.bipartite ? kRankingBlock : 0;
  const double memory = memoryOf(sizes, dataset, options) + ranking +
                        kBytesPerScoredPair * scoredPairs(dataset, options);
  return {.memory_bytes = static_cast<std::uint64_t>(memory), .seconds = seconds};
}

RunEstimate estimateRun(const Dataset& dataset, const RunOptions& options) {
  return isHeuristic(options.model) ? estimateHeuristicRun(dataset, options)
                                    : estimateModelRun(dataset, options);
}

RunEstimate estimateHeuristicRun(const Dataset& dataset, const RunOptions& options) {
  const auto nodes = static_cast<double>(dataset.node_count);
  const auto edges = static_cast<double>(dataset.edges.size());
  const double pairs = scoredPairs(dataset, options);
  const double cores = threadCount();
  const Heuristic heuristic = parseHeuristic(options.model);
  const bool spectral =
      heuristic == Heuristic::kKatz || heuristic == Heuristic::kPersonalizedPageRank;
  const double mean_degree = 2 * edges / std::max(1.0, nodes);
  RunEstimate estimate;
  if (spectral) {
    // One column a distinct source, at most one a node, in each of the two stages.
    const double sources = std::min(pairs, 2 * nodes);
    const double iterations = options.heuristic.katz_length > 0 && heuristic == Heuristic::kKatz
                                  ? static_cast<double>(options.heuristic.katz_length)
                                  : kIterations;
    estimate.seconds = sources * 2 * edges * iterations / (kEntriesPerSecond * cores);
  } else {
    estimate.seconds = pairs * mean_degree / (kNeighboursPerSecond * cores);
  }
  // Dataset, split and graph hold each edge about six times at 8 bytes; pairs are held with their
  // score.
  constexpr double kBytesPerEdge = 48;
  constexpr double kBytesPerPair = 40;
  const double columns = spectral ? nodes * 8 * 3 * 16 : nodes * 8 * cores;
  estimate.memory_bytes = static_cast<std::uint64_t>(edges * kBytesPerEdge + pairs * kBytesPerPair +
                                                     featureBytes(dataset) + columns);
  return estimate;
}

}  // namespace edgewise
