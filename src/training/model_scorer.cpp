#include "edgewise/training/model_scorer.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>

#include "edgewise/ops/gradients.h"
#include "edgewise/util/interrupt.h"

namespace edgewise {
namespace {

// Pairs scored at once: enough for full speed, little memory.
constexpr std::size_t kBlock = 16'384;

}  // namespace

ViewChoice chooseViews(const BoundChooser& chooser, std::span<const Edge> pairs,
                       std::size_t node_count) {
  std::shared_ptr<ViewChoices> all;
  for (std::size_t begin = 0; begin < pairs.size(); begin += kBlock) {
    const auto block = pairs.subspan(begin, std::min(kBlock, pairs.size() - begin));
    const ViewChoice choice = chooser.choose(PairIndex::make(block, node_count));
    if (!all) {
      all = std::make_shared<ViewChoices>(choice->perPair());
    }
    all->append(*choice);
  }
  return all;
}

void appendScores(const at::Tensor& logits, std::vector<double>& out) {
  const at::Tensor values = logits.to(at::kCPU, at::kDouble).contiguous();
  const auto* first = values.data_ptr<double>();
  out.insert(out.end(), first, first + values.numel());
}

namespace {

at::Tensor rowsOf(std::span<const NodeId> nodes) {
  at::Tensor rows = at::empty({static_cast<std::int64_t>(nodes.size())}, at::kLong);
  std::ranges::transform(nodes, rows.data_ptr<std::int64_t>(),
                         [](NodeId node) { return static_cast<std::int64_t>(index(node)); });
  return rows;
}

// Views that look as deep around the target are one product: their weighed sources are added up
// first.
TileRows tileRows(const ScoreTerm& term, std::span<const at::Tensor> left,
                  std::span<const at::Tensor> right) {
  TileRows rows;
  for (std::uint32_t depth = 0; depth < right.size(); ++depth) {
    at::Tensor sum;
    for (const auto& [view, weight] : term.views) {
      if (view.target == depth) {
        const at::Tensor part = weight == 1 ? left[view.source] : left[view.source] * weight;
        sum = sum.defined() ? sum + part : part;
      }
    }
    if (sum.defined()) {
      rows.left.push_back(sum);
      rows.right.push_back(right[depth]);
    }
  }
  return rows;
}

}  // namespace

ModelScorer::ModelScorer(const LinkModel& model, const Parameters& parameters,
                         const std::shared_ptr<const MessagePlan>& messages,
                         const ViewChooser* chooser)
    : model_(model), parameters_(parameters) {
  const WithoutGradients guard;
  if (chooser != nullptr) {
    chooser_ = chooser->on(messages);
  }
  layers_ = model.encode(parameters, messages, Noise());
}

ViewChoice ModelScorer::choiceFor(const std::shared_ptr<const PairIndex>& pairs) const {
  return chooser_ ? chooser_->choose(pairs) : nullptr;
}

ViewChoice ModelScorer::viewsOf(std::span<const Edge> pairs) const {
  return chooser_ ? chooseViews(*chooser_, pairs, model_.nodeCount()) : nullptr;
}

std::vector<double> ModelScorer::score(std::span<const Edge> pairs, ProgressSink& progress) const {
  const WithoutGradients guard;
  ProgressTask task(progress, "scoring", pairs.size());
  std::vector<double> scores;
  scores.reserve(pairs.size());
  for (std::size_t begin = 0; begin < pairs.size(); begin += kBlock) {
    throwIfInterrupted();
    const auto block = pairs.subspan(begin, std::min(kBlock, pairs.size() - begin));
    const auto index = PairIndex::make(block, model_.nodeCount());
    appendScores(model_.decoder().logits(parameters_, layers_, index, choiceFor(index)), scores);
    task.advance(block.size());
  }
  return scores;
}

void ModelScorer::scoreSources(std::span<const NodeId> sources, std::span<double> out,
                               ProgressSink& progress) const {
  const std::size_t nodes = model_.nodeCount();
  std::vector<Edge> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    pairs.clear();
    for (std::uint32_t node = 0; node < nodes; ++node) {
      pairs.push_back({sources[i], NodeId{node}});
    }
    const std::vector<double> scores = score(pairs, progress);
    std::ranges::copy(scores, out.begin() + static_cast<std::ptrdiff_t>(i * nodes));
  }
}

void ModelScorer::scoreTile(std::span<const NodeId> sources, std::span<const NodeId> targets,
                            std::span<double> out) const {
  const WithoutGradients guard;
  const std::vector<ScoreTerm> terms = model_.decoder().scoreTerms(parameters_);
  if (terms.empty()) {
    std::vector<Edge> pairs;
    pairs.reserve(sources.size() * targets.size());
    for (const NodeId source : sources) {
      for (const NodeId target : targets) {
        pairs.push_back({source, target});
      }
    }
    std::ranges::copy(score(pairs, silentProgress()), out.begin());
    return;
  }
  std::vector<at::Tensor> left;
  std::vector<at::Tensor> right;
  for (const at::Tensor& layer : layers_) {
    left.push_back(layer.index_select(0, rowsOf(sources)));
    right.push_back(layer.index_select(0, rowsOf(targets)));
  }
  std::ranges::fill(out, 0);
  for (const ScoreTerm& term : terms) {
    addTileScores(tileRows(term, left, right), term.predictor, term.weight, out);
  }
}

std::vector<std::vector<double>> ModelScorer::scoreByView(std::span<const Edge> pairs) const {
  const WithoutGradients guard;
  std::vector<std::vector<double>> scores;
  for (std::size_t begin = 0; begin < pairs.size(); begin += kBlock) {
    const auto block = pairs.subspan(begin, std::min(kBlock, pairs.size() - begin));
    const auto index = PairIndex::make(block, model_.nodeCount());
    const std::vector<at::Tensor> views =
        model_.decoder().logitsByView(parameters_, layers_, index);
    scores.resize(views.size());
    for (std::size_t view = 0; view < views.size(); ++view) {
      appendScores(views[view], scores[view]);
    }
  }
  return scores;
}

}  // namespace edgewise
