#include "edgewise/views/view_chooser.h"

#include <utility>

#include "edgewise/ops/gradients.h"
#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

class RandomChooser final : public ViewChooser {
 public:
  RandomChooser(std::uint64_t seed, std::size_t depth, bool symmetric)
      : random_(seed, "views.random"), views_(allViews(depth)), symmetric_(symmetric) {}

  [[nodiscard]] std::unique_ptr<BoundChooser> on(
      const std::shared_ptr<const MessagePlan>&) const override {
    return std::make_unique<Bound>(*this);
  }
  [[nodiscard]] bool looksAtMessages() const override { return false; }

 private:
  class Bound final : public BoundChooser {
   public:
    explicit Bound(const RandomChooser& chooser) : chooser_(chooser) {}
    [[nodiscard]] ViewChoice choose(const std::shared_ptr<const PairIndex>& pairs) const override {
      auto choice = std::make_shared<std::vector<LayerPair>>();
      for (const Edge& pair : pairs->pairs()) {
        choice->push_back(chooser_.viewOf(pair));
      }
      return choice;
    }

   private:
    const RandomChooser& chooser_;
  };

  [[nodiscard]] LayerPair viewOf(Edge pair) const {
    const Edge known = symmetric_ ? canonical(pair) : pair;
    const LayerPair view = views_[random_.below(edgeKey(known), views_.size())];
    return known == pair ? view : LayerPair{view.target, view.source};
  }

  CounterRng random_;
  std::vector<LayerPair> views_;
  bool symmetric_;
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
    }
    [[nodiscard]] ViewChoice choose(const std::shared_ptr<const PairIndex>& pairs) const override {
      return chooser_.model_.selector()->choose(chooser_.selector_, layers_, pairs);
    }

   private:
    const SelectorChooser& chooser_;
    LayerOutputs layers_;
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

std::shared_ptr<const ViewChooser> makeSelectorChooser(const LinkModel& model, Parameters weights,
                                                       Parameters selector) {
  return std::make_shared<const SelectorChooser>(model, std::move(weights), std::move(selector));
}

}  // namespace edgewise
