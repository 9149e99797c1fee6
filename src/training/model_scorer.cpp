#include "edgewise/training/model_scorer.h"

#include <ATen/Functions.h>

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
