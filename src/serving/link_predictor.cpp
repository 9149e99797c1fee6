#include "edgewise/serving/link_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "edgewise/data/candidate_nodes.h"
#include "edgewise/training/test_curves.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// Predictions whose views are looked up at once.
constexpr std::size_t kViewBlock = std::size_t{1} << 16;

// "2,216 valid and 4,432 test".
std::string partsText(std::span<const std::pair<std::string, std::size_t>> parts) {
  std::vector<std::string> words;
  words.reserve(parts.size());
  for (const auto& [name, count] : parts) {
    words.push_back(fmt::format("{} {}", groupedCount(count), name));
  }
  return joinText(words, " and ");
}

bool isOne(const std::vector<std::pair<std::string, std::size_t>>& parts) {
  return parts.size() == 1 && parts.front().second == 1;
}

// Collects the parts of a graph.
class GraphParts {
 public:
  explicit GraphParts(Direction direction) : direction_(direction) {}

  void add(const std::string& name, std::span<const Edge> edges, bool carries) {
    if (edges.empty()) {
      return;
    }
    (carries ? graph_.carrying : graph_.silent).emplace_back(name, edges.size());
    graph_.parts.emplace_back(name, EdgeSet::fromEdges(edges, direction_));
  }
  [[nodiscard]] PredictionGraph finish(MessageEdges messages) {
    graph_.messages = std::move(messages);
    return std::move(graph_);
  }

 private:
  Direction direction_;
  PredictionGraph graph_;
};

std::vector<NodeId> candidatesOf(const Dataset& dataset) {
  std::vector<Edge> targets;
  for (std::size_t row = 0; !dataset.edge_classes.empty() && row < dataset.edges.size(); ++row) {
    if (dataset.isTarget(row)) {
      targets.push_back(dataset.edges.edges[row]);
    }
  }
  const CandidateNodes candidates(dataset, targets);
  std::vector<NodeId> nodes;
  for (const std::uint32_t node : candidates.nodes()) {
    nodes.push_back(NodeId{node});
  }
  return nodes;
}

std::vector<NodeId> nodesBetween(std::size_t first, std::size_t end) {
  std::vector<NodeId> nodes;
  for (std::size_t node = first; node < end; ++node) {
    nodes.push_back(NodeId{static_cast<std::uint32_t>(node)});
  }
  return nodes;
}

}  // namespace

std::string PredictionGraph::describe() const {
  std::string text = fmt::format(
      "{} messages", partsText(carrying) + (isOne(carrying) ? " edge carries" : " edges carry"));
  if (!silent.empty()) {
    text += "; " + partsText(silent) + (isOne(silent) ? " edge does not" : " edges do not");
  }
  return text;
}

PredictionGraph runGraph(const ServedRun& run, std::string_view messages) {
  const std::string carried =
      messages.empty() ? run.stored.options.split.message_at_test : std::string(messages);
  if (carried != "train" && carried != "train+valid" && carried != "all") {
    throw ConfigError(fmt::format("--messages: no edges are called '{}'", carried),
                      "train, train+valid, or all for every known edge");
  }
  const bool all = carried == "all";
  const LinkSplit& split = run.split;
  GraphParts parts(run.dataset.direction);
  parts.add("train", split.training.message.table.edges, true);
  parts.add("valid", split.training.valid.positive.edges, carried != "train");
  parts.add("revealed_at_valid", split.training.revealed_at_valid.table.edges, true);
  parts.add("revealed_at_test", split.revealed_at_test.table.edges, true);
  parts.add("test", split.test.positive.edges, all);
  return parts.finish(all ? MessageEdges{run.dataset.edges} : messagesAtTest(split, carried));
}

PredictionGraph newGraph(const Dataset& dataset) {
  GraphParts parts(dataset.direction);
  parts.add("graph", dataset.edges.edges, true);
  return parts.finish(MessageEdges{dataset.edges});
}

ScoreCalibration calibrateRun(const ServedRun& run, ProgressSink& progress) {
  const RunOptions& options = run.stored.options;
  const TrainingEdges training = trainingEdges(run.split, options.split.message_at_train);
  const auto scorer = openScorer(run.stored, run.dataset, messagesAtValid(training), &run.split);
  const std::vector<double> links = scorer->score(training.valid.positive.edges, progress);
  const std::vector<double> others = scorer->score(training.valid.negative.edges, progress);
  return calibrationFor(options.model, links, others);
}

LinkPredictor::LinkPredictor(const StoredRun& run, const Dataset& dataset, PredictionGraph graph,
                             std::optional<ScoreCalibration> calibration, const LinkSplit* split)
    : dataset_(dataset),
      graph_(std::move(graph)),
      known_(CsrGraph::fromEdges(dataset.node_count, dataset.edges.edges, dataset.direction)),
      candidates_(candidatesOf(dataset)),
      calibration_(std::move(calibration)),
      scorer_(openScorer(run, dataset, graph_.messages, split)) {}

Prediction LinkPredictor::predictionOf(Edge pair, double score, std::size_t rank) const {
  Prediction prediction;
  prediction.pair = pair;
  prediction.score = score;
  prediction.rank = rank;
  if (calibration_) {
    prediction.probability = calibration_->probability(score);
  }
  return prediction;
}

void LinkPredictor::addViews(std::span<Prediction> predictions) const {
  for (std::size_t begin = 0; begin < predictions.size(); begin += kViewBlock) {
    const auto block = predictions.subspan(begin, std::min(kViewBlock, predictions.size() - begin));
    std::vector<Edge> pairs;
    pairs.reserve(block.size());
    for (const Prediction& prediction : block) {
      pairs.push_back(prediction.pair);
    }
    const std::vector<HopPair> views = scorer_->views(pairs);
    for (std::size_t i = 0; i < views.size(); ++i) {
      block[i].view = views[i];
    }
  }
}

std::vector<Prediction> LinkPredictor::scorePairs(std::span<const Edge> pairs,
                                                  ProgressSink& progress) const {
  const std::vector<double> scores = scorer_->score(pairs, progress);
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return scores[i]; });
  std::vector<Prediction> predictions(pairs.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t i = order[rank];
    predictions[i] = predictionOf(pairs[i], scores[i], rank + 1);
    for (const auto& [name, edges] : graph_.parts) {
      if (edges.contains(pairs[i])) {
        predictions[i].known = name;
        predictions[i].carried = std::ranges::find(graph_.carrying, name, [](const auto& part) {
                                   return part.first;
                                 }) != graph_.carrying.end();
        break;
      }
    }
  }
  addViews(predictions);
  return predictions;
}

TopRequest LinkPredictor::requestForAll(std::size_t top) const {
  TopRequest request{.sources = candidates_, .targets = candidates_, .top = top};
  if (dataset_.bipartite) {
    request.sources = nodesBetween(0, dataset_.bipartite->users);
    request.targets = nodesBetween(dataset_.bipartite->users, dataset_.node_count);
  }
  request.mutual = !dataset_.hasOrderedPairs();
  return request;
}

std::vector<Prediction> LinkPredictor::topOf(NodeId node, std::size_t top,
                                             ProgressSink& progress) const {
  TopRequest request = requestForAll(top);
  if (dataset_.bipartite && index(node) >= dataset_.bipartite->users) {
    request.targets = std::move(request.sources);
  }
  request.sources = {node};
  request.mutual = false;
  std::vector<Prediction> predictions;
  topOfAll(
      request,
      [&](std::span<const Prediction> found) { predictions.assign(found.begin(), found.end()); },
      progress);
  return predictions;
}

SearchEstimate LinkPredictor::estimate(const TopRequest& request) const {
  return estimateSearch(*scorer_, request);
}

void LinkPredictor::topOfAll(const TopRequest& request,
                             const std::function<void(std::span<const Prediction>)>& visit,
                             ProgressSink& progress) const {
  const auto best = topTargets(*scorer_, known_, request, progress);
  std::vector<Prediction> block;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < best.size(); ++i) {
    std::size_t rank = 0;
    for (const ScoredTarget& found : best[i]) {
      block.push_back(predictionOf({request.sources[i], found.target}, found.score, ++rank));
    }
    ends.push_back(block.size());
    if (block.size() < kViewBlock && i + 1 < best.size()) {
      continue;
    }
    addViews(block);
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      visit(std::span(block).subspan(begin, end - begin));
      begin = end;
    }
    block.clear();
    ends.clear();
  }
}

}  // namespace edgewise
