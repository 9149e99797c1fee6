#include "edgewise/training/step_floor.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/device.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/training/stage_watch.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

constexpr double kReal = 4;
constexpr double kNode = 4;
constexpr double kOffset = 8;
constexpr double kScale = 8;
constexpr double kPair = 8;
constexpr double kCacheLine = 64;

// Of the ways to search and apply, the paper's are counted.
void requireCounted(const SelectorOptions& selector, bool concatenates) {
  if (selector.mix != "representation" || selector.joins() || selector.top != 1 || concatenates) {
    throw ConfigError(
        "the work of a selector is counted for one view a pair, mixed as representations",
        "set selector.mix=representation, selector.apply=finetune, selector.top=1 and "
        "model.predictor=hadamard or dot");
  }
}

// How the decoder looks at pairs.
void countViews(const RunOptions& options, bool symmetric, int first_hops, StepSizes& sizes) {
  const SelectorOptions& selector = options.network.selector;
  const bool concatenates = options.network.predictor.concatenates();
  const bool turns = symmetric && concatenates;
  if (const auto view = fixedView(selector.kind, first_hops)) {
    const bool same = view->source == view->target;
    sizes.layers = std::max(view->source, view->target) + 1;
    sizes.decoded_layers = same ? 1 : 2;
    sizes.rows_read_per_pair = same || !symmetric ? 2 : 4;
    sizes.scored_per_pair = turns || (symmetric && !same) ? 2 : 1;
  } else if (selector.kind == "mean") {
    sizes.decoded_layers = sizes.layers;
    sizes.rows_read_per_pair = 2 * sizes.layers;
    sizes.scored_per_pair = turns ? sizes.layers * (sizes.layers + 1) : sizes.layers * sizes.layers;
  } else if (selector.kind == "none") {
    sizes.scored_per_pair = turns ? 2 : 1;
    if (options.model == "ngcf" && options.network.encoder.readout == "auto") {
      // All layers and the embedding side by side.
      sizes.decoded_layers = sizes.layers + 1;
      sizes.rows_read_per_pair = 2 * sizes.decoded_layers;
    }
  } else if (selector.kind == "ps2") {
    requireCounted(selector, concatenates);
    sizes.decoded_layers = sizes.layers;
  } else {
    throw ConfigError(fmt::format("the work of selector '{}' is not counted yet", selector.kind),
                      "use none, fixed:I,J, mean or ps2");
  }
}

std::vector<double> selectorWidths(const SelectorOptions& options, double hidden) {
  if (!options.searches()) {
    return {};
  }
  std::vector<double> widths = {hidden};
  widths.resize(static_cast<std::size_t>(options.layers), static_cast<double>(options.hidden));
  widths.push_back(1);
  return widths;
}

std::vector<double> predictorWidths(const PredictorOptions& options, double hidden) {
  if (options.kind == "dot") {
    return {};
  }
  std::vector<double> widths = {options.concatenates() ? 2 * hidden : hidden};
  for (std::int64_t i = 1; i < options.layers; ++i) {
    widths.push_back(options.hidden > 0 ? static_cast<double>(options.hidden) : hidden);
  }
  widths.push_back(1);
  return widths;
}

void countInput(const Dataset& dataset, const ModelOptions& network, StepSizes& sizes) {
  if (sizes.recommends) {
    // The embedding is layer 0, and no product is taken of it.
    return;
  }
  const FeatureMatrix& features = dataset.features;
  const bool uses_features = !features.empty() && network.features != "embedding";
  if (uses_features) {
    sizes.features = static_cast<double>(features.columns());
    sizes.feature_entries =
        features.isSparse() ? static_cast<double>(features.nonzeroCount()) : 0.0;
  }
  if (!uses_features || network.features == "both") {
    sizes.embedding = static_cast<double>(network.embedding);
  }
}

// Whether NodeInput sums the first layer's messages once for all; steps that hide edges for their
// search cannot, and are held to the same floor.
bool knowsFirstSums(const Dataset& dataset, const RunOptions& options, at::Device device) {
  const bool given = options.network.features == "given" || options.network.features == "auto";
  const FeatureMatrix& features = dataset.features;
  return onDevice(device) && given && !features.empty() &&
         features.columns() <= static_cast<std::size_t>(NodeInput::kWidestHeard) &&
         options.network.input_dropout == 0 && !options.training.mask_targets;
}

double entriesWithout(const MessagePlan& messages, const EdgeBatch& batch, bool masks) {
  auto entries = static_cast<double>(messages.rows().entryCount());
  if (masks) {
    const auto plan = messages.without(batch.positive);
    for (std::size_t row = 0; row < plan->nodeCount(); ++row) {
      entries -= static_cast<double>(plan->masked(row).size());
    }
  }
  return entries;
}

// Where the deepest layer is not needed at all nodes.
void countEnds(const LinkModel& model, const MessagePlan& messages, const EdgeBatch& batch,
               at::Device device, StepSizes& sizes) {
  std::vector<Edge> pairs = batch.positive;
  pairs.insert(pairs.end(), batch.negative.begin(), batch.negative.end());
  const auto index = PairIndex::make(pairs, messages.nodeCount());
  if (sizes.layers < 2 || !nearPairsPay(*index, model.encoder().width(), device)) {
    return;
  }
  sizes.end_nodes = static_cast<double>(index->nodes().size());
  for (const std::uint32_t node : index->nodes()) {
    sizes.end_entries += static_cast<double>(messages.rows().degree(NodeId{node}));
  }
}

// Flops of one row through an MLP of these widths, from this layer on.
double mlpFlops(const std::vector<double>& widths, std::size_t first = 0) {
  double flops = 0;
  for (std::size_t i = first; i + 1 < widths.size(); ++i) {
    flops += 2 * widths[i] * widths[i + 1];
  }
  return flops;
}

// Flops of one pass through the predictor.
double predictorFlops(const StepSizes& sizes) {
  return mlpFlops(sizes.predictor) * sizes.pairs * sizes.scored_per_pair;
}

// What the way back reads again: each predictor layer's input.
double keptByPredictor(const StepSizes& sizes) {
  double width = 0;
  for (std::size_t i = 0; i + 1 < sizes.predictor.size(); ++i) {
    width += sizes.predictor[i];
  }
  return kReal * width * sizes.pairs * sizes.scored_per_pair;
}

// A matrix with a row a node and as wide as a layer.
double layerBytes(const StepSizes& sizes) { return kReal * sizes.nodes * sizes.hidden; }

// The rows of so many layers, the deepest among them.
double rowBytes(const StepSizes& sizes, double layers) {
  return kReal * sizes.hidden * sizes.rowsOf(layers);
}

// One aggregation a layer, either way.
void addAggregations(const StepSizes& sizes, StageCounts& counts) {
  if (sizes.dense_messages) {
    counts.flops += sizes.summedLayers() * 2 * sizes.nodes * sizes.nodes * sizes.hidden;
    counts.streamed +=
        sizes.summedLayers() * (kReal * sizes.nodes * sizes.nodes + 2 * layerBytes(sizes));
    return;
  }
  const double rows = sizes.rowsOf(sizes.summedLayers());
  const double entries = sizes.atEnds()
                             ? (sizes.summedLayers() - 1) * sizes.entries + sizes.end_entries
                             : sizes.summedLayers() * sizes.entries;
  counts.gathered += sizes.message_bytes * sizes.hidden * (entries + (sizes.adds_self ? rows : 0));
  counts.streamed += kNode * entries + kOffset * rows + rowBytes(sizes, sizes.summedLayers());
}

// The first layer's products with sparse or dense features and an embedding. The same either way:
// rows of the weights, or of the layer's gradient, for every entry.
void addInputProducts(const StepSizes& sizes, StageCounts& counts) {
  const double products = sizes.products_per_layer;
  if (sizes.feature_entries > 0) {
    counts.gathered += products * kReal * sizes.hidden * sizes.feature_entries;
    counts.streamed += (kNode + kReal) * sizes.feature_entries;
  } else {
    counts.flops += 2 * products * sizes.nodes * sizes.features * sizes.hidden;
    counts.streamed += kReal * sizes.nodes * sizes.features;
  }
  counts.flops += 2 * products * sizes.nodes * sizes.embedding * sizes.hidden;
  counts.streamed += kReal * sizes.nodes * sizes.embedding;
}

StageCounts sampleCounts(const StepSizes& sizes) {
  StageCounts counts{.stage = std::string(stage::kSample)};
  counts.streamed = kPair * sizes.pairs + kNode * sizes.positives;
  counts.gathered = kCacheLine * sizes.pairs;
  return counts;
}

// Places counted by node; pairs in, pairs, places and labels out.
double pairIndexBytes(const StepSizes& sizes) {
  return 2 * kNode * sizes.nodes + sizes.pairs * (2 * kPair + 2 * kNode + kReal);
}

StageCounts indexCounts(const StepSizes& sizes) {
  StageCounts counts{.stage = std::string(stage::kIndex)};
  // Degrees in, places of masked edges and scales out; scales of columns too where self is added.
  const double scales = sizes.adds_self ? 2 : 1;
  counts.streamed = sizes.nodes * (kOffset + kOffset + scales * kScale) + pairIndexBytes(sizes);
  counts.gathered = kCacheLine * sizes.positives;
  return counts;
}

// Sums over messages, and a node's own row beside each: lightgcn adds it up, ngcf adds and
// multiplies it before two products.
void addRecommenderLayers(const StepSizes& sizes, double passes, StageCounts& counts) {
  const double products = sizes.products_per_layer;
  addAggregations(sizes, counts);
  counts.flops += 2 * passes * products * sizes.rowsOf(sizes.layers) * sizes.hidden * sizes.hidden;
  counts.streamed += (1 + passes * products) * rowBytes(sizes, sizes.layers);
}

StageCounts encodeCounts(const StepSizes& sizes) {
  StageCounts counts{.stage = std::string(stage::kEncode)};
  if (sizes.recommends) {
    addRecommenderLayers(sizes, 1, counts);
    return counts;
  }
  const double products = sizes.products_per_layer;
  addInputProducts(sizes, counts);
  const double deeper = sizes.layers - 1;
  counts.flops += 2 * products * sizes.rowsOf(deeper) * sizes.hidden * sizes.hidden;
  counts.streamed += rowBytes(sizes, deeper);
  addAggregations(sizes, counts);
  // Products written; those that are not aggregated are read again to be added.
  counts.streamed += (products + products - 1) * rowBytes(sizes, sizes.layers);
  return counts;
}

StageCounts decodeCounts(const StepSizes& sizes) {
  StageCounts counts{.stage = std::string(stage::kDecode)};
  counts.flops = predictorFlops(sizes);
  counts.gathered = kReal * sizes.hidden * sizes.rows_read_per_pair * sizes.pairs;
  counts.streamed = keptByPredictor(sizes) + kReal * sizes.pairs * sizes.scored_per_pair;
  return counts;
}

// From the loss to the layers that pairs were looked at in.
void addDecodeBackward(const StepSizes& sizes, StageCounts& counts) {
  counts.flops += 2 * predictorFlops(sizes);
  counts.streamed += keptByPredictor(sizes);
  if (!sizes.predictor.empty()) {
    // The representations' gradients, written and then picked by both ends.
    const double size = kReal * sizes.predictor.front() * sizes.pairs * sizes.scored_per_pair;
    counts.streamed += size;
    counts.gathered += 2 * size;
  }
  counts.gathered += kReal * sizes.hidden * sizes.rows_read_per_pair * sizes.pairs;
  counts.streamed +=
      sizes.decoded_layers * (sizes.atEnds() ? rowBytes(sizes, 1) : layerBytes(sizes));
}

StageCounts backwardCounts(const StepSizes& sizes) {
  StageCounts counts{.stage = std::string(stage::kBackward)};
  const double products = sizes.products_per_layer;
  addDecodeBackward(sizes, counts);
  if (sizes.recommends) {
    addRecommenderLayers(sizes, 2, counts);
    return counts;
  }
  addAggregations(sizes, counts);
  // Weights' gradients from the layer's input and its gradients, and the input's own gradient.
  const double deeper = sizes.layers - 1;
  counts.flops += 4 * products * sizes.rowsOf(deeper) * sizes.hidden * sizes.hidden;
  counts.streamed += (2 + products) * rowBytes(sizes, deeper);
  addInputProducts(sizes, counts);
  if (sizes.feature_entries == 0 || sizes.embedding > 0) {
    counts.streamed += products * layerBytes(sizes);
  }
  counts.flops += 2 * products * sizes.nodes * sizes.embedding * sizes.hidden;
  counts.streamed += kReal * sizes.nodes * sizes.embedding;
  return counts;
}

StageCounts optimizerCounts(double parameters) {
  // The gradient for its norm; then gradient, value and two moments in, the last three out.
  return {.stage = std::string(stage::kOptimizer), .streamed = (1 + 4 + 3) * kReal * parameters};
}

// Rows of all layers at both ends of these pairs; all their views through the selector.
StageCounts chooseCounts(const StepSizes& sizes) {
  StageCounts counts{.stage = std::string(stage::kChoose)};
  counts.flops = mlpFlops(sizes.selector) * sizes.views() * sizes.chosen();
  counts.gathered = kReal * sizes.hidden * 2 * sizes.layers * sizes.chosen();
  counts.streamed = kReal * sizes.views() * sizes.chosen();
  return counts;
}

// What a pass of the search gives gradients to.
enum class PassGoal : std::uint8_t { kModel, kSelector, kBoth };

// The selector's scores of all views, their mixture, the loss.
StageCounts mixtureCounts(const StepSizes& sizes) {
  StageCounts counts = decodeCounts(sizes);
  counts.flops += mlpFlops(sizes.selector) * sizes.views() * sizes.pairs;
  // The views' weights, on their way there and back.
  counts.streamed += 2 * kReal * sizes.views() * sizes.pairs;
  return counts;
}

// With all layers before it.
StageCounts passForward(const StepSizes& sizes) {
  StageCounts counts = encodeCounts(sizes);
  counts += mixtureCounts(sizes);
  return counts;
}

StageCounts passBackward(const StepSizes& sizes, PassGoal goal) {
  const double rows = sizes.views() * sizes.pairs;
  StageCounts counts;
  if (goal == PassGoal::kSelector) {
    // Through the predictor to the mixture, and once more to all views.
    counts.flops = predictorFlops(sizes);
    counts.streamed = keptByPredictor(sizes);
    counts.gathered = kReal * sizes.hidden * sizes.rows_read_per_pair * sizes.pairs;
    // Weights' gradients of all layers, and what carries down to the lowest of them.
    counts.flops += (mlpFlops(sizes.selector) + mlpFlops(sizes.selector, 1)) * rows;
  } else {
    counts = backwardCounts(sizes);
    counts.flops += (goal == PassGoal::kBoth ? 2 : 1) * mlpFlops(sizes.selector) * rows;
  }
  counts.streamed += 2 * kReal * rows;
  return counts;
}

StageCounts passCounts(std::string_view name, const StepSizes& sizes, PassGoal goal,
                       double times = 1) {
  StageCounts counts = passForward(sizes);
  counts += passBackward(sizes, goal);
  return {.stage = std::string(name),
          .flops = times * counts.flops,
          .streamed = times * counts.streamed,
          .gathered = times * counts.gathered};
}

StageCounts named(std::string_view name, StageCounts counts) {
  counts.stage = name;
  return counts;
}

// Of both levels' batches; messages are masked once.
std::vector<StageCounts> levelCounts(const StepSizes& lower, const StepSizes& upper) {
  std::vector<StageCounts> counts = {sampleCounts(lower), indexCounts(lower)};
  counts[0] += sampleCounts(upper);
  counts[1].streamed += pairIndexBytes(upper);
  return counts;
}

}  // namespace

StepSizes stepSizes(const LinkModel& model, const Dataset& dataset, const RunOptions& options,
                    const MessagePlan& messages, const EdgeBatch& batch) {
  const ModelOptions& network = options.network;
  if (network.encoder.depth_zero || network.encoder.first_depth > 1) {
    throw ConfigError("the work of views that do not begin at 1 hop is not counted",
                      "leave model.depth_zero and model.first_depth out");
  }
  StepSizes sizes;
  sizes.recommends = isRecommender(options.model);
  sizes.nodes = static_cast<double>(dataset.node_count);
  sizes.entries = entriesWithout(messages, batch, options.training.mask_targets);
  const at::Device device = resolveDevice(options.device);
  sizes.dense_messages = aggregatesDensely(messages, device);
  sizes.message_bytes = messageBytes(messages, options.network.encoder.hidden, device);
  sizes.known_layers = knowsFirstSums(dataset, options, device) ? 1 : 0;
  sizes.adds_self = messages.includesSelf();
  sizes.products_per_layer = options.model == "lightgcn" ? 0 : options.model == "gae" ? 1 : 2;
  sizes.layers = static_cast<double>(network.encoder.layers);
  sizes.hidden = static_cast<double>(network.encoder.hidden);
  countInput(dataset, network, sizes);
  countViews(options, !dataset.hasOrderedPairs(), model.encoder().firstHops(), sizes);
  sizes.predictor =
      predictorWidths(network.predictor, static_cast<double>(model.encoder().width()));
  sizes.positives = static_cast<double>(batch.positive.size());
  sizes.pairs = static_cast<double>(batch.positive.size() + batch.negative.size());
  sizes.parameters = static_cast<double>(model.layout().totalSize());
  sizes.selector = selectorWidths(network.selector, sizes.hidden);
  sizes.selector_parameters = static_cast<double>(model.selectorLayout().totalSize());
  countEnds(model, messages, batch, device, sizes);
  return sizes;
}

StageCounts& StageCounts::operator+=(const StageCounts& other) {
  flops += other.flops;
  streamed += other.streamed;
  gathered += other.gathered;
  return *this;
}

std::vector<StageCounts> trainStepCounts(const StepSizes& sizes) {
  std::vector<StageCounts> counts = {sampleCounts(sizes), indexCounts(sizes)};
  if (!sizes.selector.empty()) {
    counts.push_back(chooseCounts(sizes));
  }
  counts.push_back(encodeCounts(sizes));
  counts.push_back(decodeCounts(sizes));
  counts.push_back(backwardCounts(sizes));
  counts.push_back(optimizerCounts(sizes.parameters));
  return counts;
}

std::vector<StageCounts> searchStepCounts(const SearchSizes& sizes, SearchOrder order) {
  if (order == SearchOrder::kExact) {
    throw ConfigError("the work of selector.order=exact is not counted", "use first or second");
  }
  // A mixture reads every layer at both ends.
  StepSizes lower = sizes.lower;
  StepSizes upper = sizes.upper;
  lower.rows_read_per_pair = 2 * lower.layers;
  upper.rows_read_per_pair = 2 * upper.layers;
  std::vector<StageCounts> counts = levelCounts(lower, upper);
  if (order == SearchOrder::kSecond) {
    counts.push_back(passCounts(stage::kVirtual, lower, PassGoal::kModel));
  }
  // Without a virtual step nobody asks where the model's weights lead.
  counts.push_back(passCounts(
      stage::kUpper, upper, order == SearchOrder::kSecond ? PassGoal::kBoth : PassGoal::kSelector));
  if (order == SearchOrder::kSecond) {
    counts.push_back(passCounts(stage::kDifference, lower, PassGoal::kSelector, 2));
  }
  counts.push_back(named(stage::kSelector, optimizerCounts(lower.selector_parameters)));
  // The virtual step has encoded the same weights.
  counts.push_back(named(
      stage::kForward, order == SearchOrder::kSecond ? mixtureCounts(lower) : passForward(lower)));
  counts.push_back(named(stage::kBackward, passBackward(lower, PassGoal::kModel)));
  counts.push_back(optimizerCounts(lower.parameters));
  return counts;
}

StageCounts totalCounts(const std::vector<StageCounts>& stages, std::string_view name) {
  StageCounts total{.stage = std::string(name)};
  for (const StageCounts& counts : stages) {
    total += counts;
  }
  return total;
}

double floorSeconds(const StageCounts& counts, const StepRates& rates) {
  return counts.flops / rates.flops + counts.streamed / rates.streamed +
         counts.gathered / rates.gathered;
}

}  // namespace edgewise
