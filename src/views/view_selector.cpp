#include "edgewise/views/view_selector.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "edgewise/ops/gradients.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/ops/view_scores.h"
#include "edgewise/views/decoder.h"
#include "views/pair_representation.h"

namespace edgewise {
namespace {

std::vector<std::int64_t> widthsOf(const SelectorOptions& options, std::int64_t width) {
  std::vector<std::int64_t> widths = {width};
  for (std::int64_t i = 1; i < options.layers; ++i) {
    widths.push_back(options.hidden);
  }
  widths.push_back(1);
  return widths;
}

// Picks the best views of one pair after another.
class BestViews {
 public:
  // Of all views of `depth` layers.
  BestViews(std::span<const LayerPair> views, std::size_t depth, std::size_t top,
            double temperature)
      : views_(views),
        depth_(depth),
        temperature_(temperature),
        places_(views.size()),
        order_(views.size()),
        chosen_(top),
        weights_(top) {}

  // `scores` are those of the pair, `stride` apart. Of equals the earlier view comes first, or with
  // `mirrored` the one whose mirror image is: (u, v) and (v, u) then choose alike.
  void add(const double* scores, std::size_t stride, bool mirrored, ViewChoices& choices) {
    const auto scoreAt = [&](std::size_t place) { return scores[place * stride]; };
    for (std::size_t place = 0; place < places_.size(); ++place) {
      const std::size_t mirror = place % depth_ * depth_ + place / depth_;
      places_[place] = place;
      order_[place] = mirrored ? mirror : place;
    }
    std::ranges::partial_sort(
        places_, places_.begin() + static_cast<std::ptrdiff_t>(chosen_.size()),
        [&](std::size_t a, std::size_t b) {
          return scoreAt(a) != scoreAt(b) ? scoreAt(a) > scoreAt(b) : order_[a] < order_[b];
        });
    double all = 0;
    double used = 0;
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      const double share = std::exp((scoreAt(places_[rank]) - scoreAt(places_[0])) / temperature_);
      all += share;
      if (rank < chosen_.size()) {
        used += share;
        chosen_[rank] = views_[places_[rank]];
        weights_[rank] = static_cast<float>(share);
      }
    }
    for (float& weight : weights_) {
      weight = static_cast<float>(weight / used);
    }
    choices.add(chosen_, weights_, static_cast<float>(1 / all));
  }

 private:
  std::span<const LayerPair> views_;
  std::size_t depth_;
  double temperature_;
  std::vector<std::size_t> places_;
  std::vector<std::size_t> order_;
  std::vector<LayerPair> chosen_;
  std::vector<float> weights_;
};

}  // namespace

ViewSelector::ViewSelector(const SelectorOptions& options, const SelectorContext& context,
                           ParameterLayout& layout)
    : depth_(context.depth),
      concatenate_(context.concatenate),
      symmetric_(context.symmetric),
      both_ways_(context.concatenate && context.symmetric),
      top_(std::min(static_cast<std::size_t>(options.top), context.depth * context.depth)),
      temperature_(options.temperature),
      views_(allViews(context.depth)),
      mlp_("selector", widthsOf(options, context.concatenate ? 2 * context.width : context.width),
           0, layout) {}

at::Tensor ViewSelector::scoresOneWay(const Parameters& selector, const LayerOutputs& layers,
                                      const std::shared_ptr<const PairIndex>& pairs,
                                      GradientUse use) const {
  if (use == GradientUse::kOnce && !concatenate_) {
    return viewScores(layers, pairs, views_, mlp_.weights(selector), mlp_.biases(selector));
  }
  const at::Tensor all = at::cat(detail::representPairs(layers, pairs, views_, concatenate_), 0);
  return mlp_.apply(selector, all, Noise()).view({static_cast<std::int64_t>(views_.size()), -1});
}

at::Tensor ViewSelector::scores(const Parameters& selector, const LayerOutputs& layers,
                                const std::shared_ptr<const PairIndex>& pairs,
                                GradientUse use) const {
  const at::Tensor forth = scoresOneWay(selector, layers, pairs, use);
  if (!both_ways_) {
    return forth;
  }
  const at::Tensor back = scoresOneWay(selector, layers, detail::turned(*pairs), use);
  std::vector<at::Tensor> mirrored;
  for (const LayerPair& view : views_) {
    mirrored.push_back(
        back.narrow(0, static_cast<std::int64_t>(view.target * depth_ + view.source), 1));
  }
  return (forth + at::cat(mirrored, 0)) / 2;
}

at::Tensor ViewSelector::shares(const Parameters& selector, const LayerOutputs& layers,
                                const std::shared_ptr<const PairIndex>& pairs,
                                const MixtureOptions& options) const {
  const at::Tensor all = scores(selector, layers, pairs, options.use);
  return options.inverse_temperature.defined() ? viewSoftmax(all * options.inverse_temperature, 1)
                                               : viewSoftmax(all, options.temperature);
}

ViewChoice ViewSelector::choose(const Parameters& selector, const LayerOutputs& layers,
                                const std::shared_ptr<const PairIndex>& pairs) const {
  const WithoutGradients guard;
  if (!pairs->onHost()) {
    return ViewChoices::onDevice(topShares(
        scores(selector, layers, pairs), *pairs,
        {.depth = depth_, .top = top_, .temperature = temperature_, .symmetric = symmetric_}));
  }
  const at::Tensor values = scores(selector, layers, pairs).to(at::kCPU, at::kDouble).contiguous();
  auto choices = std::make_shared<ViewChoices>(top_);
  BestViews best(views_, depth_, top_, temperature_);
  for (std::size_t p = 0; p < pairs->size(); ++p) {
    const Edge pair = pairs->pairs()[p];
    best.add(values.data_ptr<double>() + p, pairs->size(), symmetric_ && pair.dst < pair.src,
             *choices);
  }
  return choices;
}

}  // namespace edgewise
