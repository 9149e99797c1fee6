#include "edgewise/views/view_chooser.h"

#include <utility>
#include <vector>

#include "edgewise/ops/gradients.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

// Waits for the device where only that knows them.
std::vector<Edge> pairsOf(const PairIndex& pairs) {
  if (pairs.onHost()) {
    return {pairs.pairs().begin(), pairs.pairs().end()};
  }
  const at::Tensor ends = pairs.endsThere().to(at::kCPU);
  const auto* const values = ends.data_ptr<std::int32_t>();
  std::vector<Edge> result;
  result.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    result.push_back(makeEdge(static_cast<std::uint32_t>(values[2 * i]),
                              static_cast<std::uint32_t>(values[2 * i + 1])));
  }
  return result;
}

// Knows each pair's view without looking at messages.
class RuleChooser : public ViewChooser {
 public:
  [[nodiscard]] std::unique_ptr<BoundChooser> on(
      const std::shared_ptr<const MessagePlan>&) const override {
    return std::make_unique<Bound>(*this);
  }
  [[nodiscard]] bool looksAtMessages() const override { return false; }

 private:
  class Bound final : public BoundChooser {
   public:
    explicit Bound(const RuleChooser& chooser) : chooser_(chooser) {}
    [[nodiscard]] ViewChoice choose(const std::shared_ptr<const PairIndex>& pairs) const override {
      if (!pairs->onHost() && chooser_.choosesOnDevice()) {
        return ViewChoices::onDevice(chooser_.sharesOf(*pairs), 1);
      }
      std::vector<LayerPair> views;
      for (const Edge& pair : pairsOf(*pairs)) {
        views.push_back(chooser_.viewOf(pair));
      }
      return singleViews(views);
    }
    [[nodiscard]] bool choosesOnDevice() const override { return chooser_.choosesOnDevice(); }

   private:
    const RuleChooser& chooser_;
  };

  [[nodiscard]] virtual LayerPair viewOf(Edge pair) const = 0;
  [[nodiscard]] virtual bool choosesOnDevice() const { return false; }
  // Of pairs that only a device knows.
  [[nodiscard]] virtual at::Tensor sharesOf(const PairIndex&) const { return {}; }
};

LayerPair mirrored(LayerPair view) { return {view.target, view.source}; }

class RandomChooser final : public RuleChooser {
 public:
  RandomChooser(std::uint64_t seed, std::size_t depth, bool symmetric)
      : random_(seed, "views.random"),
        depth_(depth),
        views_(allViews(depth)),
        symmetric_(symmetric) {}

 private:
  [[nodiscard]] LayerPair viewOf(Edge pair) const override {
    const Edge known = symmetric_ ? canonical(pair) : pair;
    const LayerPair view = views_[random_.below(edgeKey(known), views_.size())];
    return known == pair ? view : mirrored(view);
  }
  [[nodiscard]] bool choosesOnDevice() const override { return true; }
  [[nodiscard]] at::Tensor sharesOf(const PairIndex& pairs) const override {
    return randomShares(random_, pairs, depth_, symmetric_);
  }

  CounterRng random_;
  std::size_t depth_;
  std::vector<LayerPair> views_;
  bool symmetric_;
};

class OracleChooser final : public RuleChooser {
 public:
  OracleChooser(std::vector<std::uint8_t> kinds, std::span<const KindsView> known,
                std::size_t depth)
      : kinds_(std::move(kinds)), known_(known.begin(), known.end()) {
    const auto last = static_cast<std::uint32_t>(depth - 1);
    deepest_ = {last, last};
    for (const KindsView& each : known_) {
      if (each.view.source >= depth || each.view.target >= depth) {
        throw ConfigError("the views known for this data look deeper than the model's layers",
                          "raise model.layers");
      }
    }
  }

 private:
  [[nodiscard]] LayerPair viewOf(Edge pair) const override {
    const std::uint8_t source = kinds_[index(pair.src)];
    const std::uint8_t target = kinds_[index(pair.dst)];
    for (const KindsView& each : known_) {
      if (each.source == source && each.target == target) {
        return each.view;
      }
      if (each.source == target && each.target == source) {
        return mirrored(each.view);
      }
    }
    return deepest_;
  }

  std::vector<std::uint8_t> kinds_;
  std::vector<KindsView> known_;
  LayerPair deepest_;
};

class SelectorChooser final : public ViewChooser {
 public:
  SelectorChooser(const LinkModel& model, Parameters weights, Parameters selector)
      : model_(model), weights_(std::move(weights)), selector_(std::move(selector)) {
    invariant(model.selector() != nullptr, "this model has no selector to choose by");
  }

  [[nodiscard]] std::unique_ptr<BoundChooser> on(
      const std::shared_ptr<const MessagePlan>& messages) const override {
    return std::make_unique<Bound>(*this, messages);
  }
  [[nodiscard]] bool looksAtMessages() const override { return true; }

 private:
  class Bound final : public BoundChooser {
   public:
    Bound(const SelectorChooser& chooser, const std::shared_ptr<const MessagePlan>& messages)
        : chooser_(chooser) {
      const WithoutGradients guard;
      layers_ = chooser.model_.encode(chooser.weights_, messages, Noise());
      degrees_ = chooser.model_.degrees(*messages, layers_.front().options());
    }
    [[nodiscard]] ViewChoice choose(const std::shared_ptr<const PairIndex>& pairs) const override {
      return chooser_.model_.selector()->choose(chooser_.selector_,
                                                {layers_, pairs, ofBothEnds(degrees_, pairs)});
    }

   private:
    const SelectorChooser& chooser_;
    LayerOutputs layers_;
    at::Tensor degrees_;
  };

  const LinkModel& model_;
  Parameters weights_;
  Parameters selector_;
};

}  // namespace

std::shared_ptr<const ViewChooser> makeRandomChooser(std::uint64_t seed, std::size_t depth,
                                                     bool symmetric) {
  return std::make_shared<const RandomChooser>(seed, depth, symmetric);
}

std::shared_ptr<const ViewChooser> makeOracleChooser(std::vector<std::uint8_t> kinds,
                                                     std::span<const KindsView> known,
                                                     std::size_t depth) {
  return std::make_shared<const OracleChooser>(std::move(kinds), known, depth);
}

std::shared_ptr<const ViewChooser> makeSelectorChooser(const LinkModel& model, Parameters weights,
                                                       Parameters selector) {
  return std::make_shared<const SelectorChooser>(model, std::move(weights), std::move(selector));
}

}  // namespace edgewise
