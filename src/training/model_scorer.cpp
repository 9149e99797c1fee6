#include "edgewise/training/model_scorer.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "edgewise/ops/device.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/ops/product.h"
#include "edgewise/util/interrupt.h"

namespace edgewise {
namespace {

// Pairs scored at once on a device.
constexpr std::size_t kDeviceBlock = 1 << 18;

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

// Where masked targets stand in scores [sources, targets], one row after the other.
at::Tensor maskedPlaces(std::span<const UserItems> known, std::size_t targets) {
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < known.size(); ++i) {
    for (const std::uint32_t item : known[i].masked) {
      places.push_back(static_cast<std::int64_t>(i * targets + item));
    }
  }
  return at::tensor(places, at::kLong);
}

// From places [count, 2] in order and as many scores.
TopLists listsOf(const at::Tensor& places, const at::Tensor& scores, std::size_t sources) {
  TopLists lists;
  lists.offsets.assign(sources + 1, 0);
  const auto* const place = places.data_ptr<std::int64_t>();
  const auto* const score = scores.data_ptr<float>();
  for (std::int64_t i = 0; i < scores.numel(); ++i) {
    ++lists.offsets[static_cast<std::size_t>(place[2 * i]) + 1];
    lists.items.push_back(static_cast<std::uint32_t>(place[2 * i + 1]));
    lists.scores.push_back(score[i]);
  }
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  return lists;
}

// Ranks are told by the last digits too, so products that make scores are not rounded.
class ExactProducts {
 public:
  ExactProducts() { setProductPrecision(ProductPrecision::kFloat); }
  ExactProducts(const ExactProducts&) = delete;
  ExactProducts& operator=(const ExactProducts&) = delete;
  ExactProducts(ExactProducts&&) = delete;
  ExactProducts& operator=(ExactProducts&&) = delete;
  ~ExactProducts() { setProductPrecision(before_); }

 private:
  ProductPrecision before_ = productPrecision();
};

}  // namespace

ViewChoice chooseViews(const BoundChooser& chooser, std::span<const Edge> pairs,
                       std::size_t node_count, std::size_t at_once) {
  std::shared_ptr<ViewChoices> all;
  for (std::size_t begin = 0; begin < pairs.size(); begin += at_once) {
    const auto block = pairs.subspan(begin, std::min(at_once, pairs.size() - begin));
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

void ViewScorer::scoreTile(std::span<const NodeId> sources, std::span<const NodeId> targets,
                           std::span<double> out) const {
  std::vector<Edge> pairs;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::size_t j = 0; j < targets.size(); ++j) {
      if (sources[i] != targets[j]) {
        pairs.push_back({sources[i], targets[j]});
        places.push_back(i * targets.size() + j);
      }
    }
  }
  std::ranges::fill(out, -std::numeric_limits<double>::infinity());
  const std::vector<double> scores = score(pairs, silentProgress());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    out[places[i]] = scores[i];
  }
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
  factors_ = model.decoder().factors(parameters, layers_);
}

HopPair hopsOf(LayerPair view, int first_hops) {
  return {static_cast<int>(view.source) + first_hops, static_cast<int>(view.target) + first_hops};
}

std::size_t ModelScorer::pairsAtOnce() const {
  return onDevice(parameters_.flat()) ? kDeviceBlock : kPairsAtOnce;
}

// A device needs the ends alone, which spares the host the sorting.
std::shared_ptr<const PairIndex> ModelScorer::indexOf(std::span<const Edge> pairs) const {
  if (!onDevice(parameters_.flat())) {
    return PairIndex::make(pairs, model_.nodeCount());
  }
  auto* const ends = const_cast<Edge*>(pairs.data());
  const at::Tensor host =
      at::from_blob(ends, {static_cast<std::int64_t>(pairs.size()), 2}, at::kInt);
  return PairIndex::makeOnDevice(
      host.to(parameters_.flat().device(), /*non_blocking=*/false, /*copy=*/true),
      model_.nodeCount());
}

ViewChoice ModelScorer::choiceFor(const std::shared_ptr<const PairIndex>& pairs) const {
  return chooser_ ? chooser_->choose(pairs) : nullptr;
}

ViewChoice ModelScorer::viewsOf(std::span<const Edge> pairs) const {
  return chooser_ ? chooseViews(*chooser_, pairs, model_.nodeCount(), pairsAtOnce()) : nullptr;
}

std::vector<double> ModelScorer::score(std::span<const Edge> pairs, ProgressSink& progress) const {
  const WithoutGradients guard;
  ProgressTask task(progress, "scoring", pairs.size());
  std::vector<double> scores;
  scores.reserve(pairs.size());
  for (std::size_t begin = 0; begin < pairs.size(); begin += pairsAtOnce()) {
    throwIfInterrupted();
    const auto block = pairs.subspan(begin, std::min(pairsAtOnce(), pairs.size() - begin));
    const auto index = indexOf(block);
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
    ViewScorer::scoreTile(sources, targets, out);
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

at::Tensor ModelScorer::products(std::span<const NodeId> sources, NodeRange targets) const {
  const auto first = static_cast<std::int64_t>(targets.first);
  const auto count = static_cast<std::int64_t>(targets.count);
  const ExactProducts exact;
  const at::Tensor picked = rowsOf(sources).to(factors_->sources.device());
  return product(factors_->sources.index_select(0, picked),
                 factors_->targets.narrow(0, first, count), Transpose::kSecond);
}

// Every pair through the decoder, some sources at a time.
at::Tensor ModelScorer::decoded(std::span<const NodeId> sources, NodeRange targets) const {
  std::vector<at::Tensor> scores;
  std::vector<Edge> pairs;
  const auto score = [&] {
    const auto index = indexOf(pairs);
    scores.push_back(model_.decoder().logits(parameters_, layers_, index, choiceFor(index)));
    pairs.clear();
  };
  for (const NodeId source : sources) {
    for (std::size_t i = 0; i < targets.count; ++i) {
      pairs.push_back({source, NodeId{static_cast<std::uint32_t>(targets.first + i)}});
      if (pairs.size() == pairsAtOnce()) {
        throwIfInterrupted();
        score();
      }
    }
  }
  if (!pairs.empty()) {
    score();
  }
  return at::cat(scores, 0).reshape(
      {static_cast<std::int64_t>(sources.size()), static_cast<std::int64_t>(targets.count)});
}

at::Tensor ModelScorer::blockScores(std::span<const NodeId> sources, NodeRange targets) const {
  return factors_ ? products(sources, targets) : decoded(sources, targets);
}

ScoreSpan ModelScorer::scoreBlock(std::span<const NodeId> sources, NodeRange targets, std::size_t,
                                  ScoreMemory& memory) const {
  const WithoutGradients guard;
  memory.floats.resize(sources.size() * targets.count);
  if (!memory.floats.empty()) {
    const at::Tensor scores = blockScores(sources, targets);
    at::from_blob(memory.floats.data(), scores.sizes(), at::kFloat).copy_(scores);
  }
  return memory.floats;
}

std::optional<TopLists> ModelScorer::topBlock(std::span<const NodeId> sources, NodeRange targets,
                                              std::span<const UserItems> known,
                                              std::size_t count) const {
  if (!onDevice(parameters_.flat()) || sources.empty() || count == 0 || targets.count == 0) {
    return std::nullopt;
  }
  const WithoutGradients guard;
  at::Tensor scores = blockScores(sources, targets);
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  scores.view({-1}).index_fill_(0, maskedPlaces(known, targets.count).to(scores.device()), kNever);
  const auto best = static_cast<std::int64_t>(std::min(count, targets.count));
  const at::Tensor bar = std::get<0>(at::topk(scores, best, 1)).narrow(1, best - 1, 1);
  // Written so that what is not a number is told of, too.
  const at::Tensor reach = at::logical_not(scores < bar).logical_and_(scores != kNever);
  return listsOf(at::nonzero(reach).to(at::kCPU).contiguous(),
                 scores.masked_select(reach).to(at::kCPU), sources.size());
}

std::uint64_t ModelScorer::pairsWithinReach() const {
  constexpr std::uint64_t kDecodedPairs = 20'000'000;
  constexpr std::uint64_t kDecodedOnDevice = 200'000'000;
  if (factors_) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return onDevice(parameters_.flat()) ? kDecodedOnDevice : kDecodedPairs;
}

std::vector<std::vector<double>> ModelScorer::scoreByView(std::span<const Edge> pairs) const {
  const WithoutGradients guard;
  std::vector<std::vector<double>> scores;
  for (std::size_t begin = 0; begin < pairs.size(); begin += kPairsAtOnce) {
    const auto block = pairs.subspan(begin, std::min(kPairsAtOnce, pairs.size() - begin));
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
