#include "edgewise/views/view_selector.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "edgewise/ops/gradients.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/ops/view_scores.h"
#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
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

  // Sets the choice of a pair; `scores` are its own, `stride` apart. Of equals the earlier view
  // comes first, or with `mirrored` the one whose mirror image is: (u, v) and (v, u) then choose
  // alike.
  void put(const double* scores, std::size_t stride, bool mirrored, std::size_t pair,
           ViewChoices& choices) {
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
    choices.set(pair, chosen_, weights_, static_cast<float>(1 / all));
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

// What is made of the ends' degrees [pairs, 2]: 1, the source's and its square, the target's and
// its square, and both's product; -1 to 1 where ends have up to 50 neighbours. [terms, pairs].
constexpr std::int64_t kDegreeTerms = 6;
// So many say nothing of the target.
constexpr std::int64_t kSourceTerms = 3;

at::Tensor degreeTerms(const at::Tensor& degrees) {
  const at::Tensor ends = (degrees / 2 - 1).t();
  const at::Tensor source = ends[0];
  const at::Tensor target = ends[1];
  return at::stack(
      {at::ones_like(source), source, source * source, target, target * target, source * target},
      0);
}

// They say nothing until they have learned to.
ParameterId addDegreeWeights(std::size_t outputs, ParameterLayout& layout) {
  return layout.add("selector.degrees.weight", {kDegreeTerms, static_cast<std::int64_t>(outputs)},
                    Initial::constant(0));
}

// What is known of views [views, any], that of (i, j) in the place of (j, i).
at::Tensor mirroredViews(const at::Tensor& known, std::size_t depth) {
  const auto layers = static_cast<std::int64_t>(depth);
  return known.reshape({layers, layers, -1}).transpose(0, 1).reshape({layers * layers, -1});
}

// Weights [terms, views (and a bonus)] of the same terms with source and target exchanged.
at::Tensor exchanged(const at::Tensor& weight, std::size_t depth) {
  const auto views = static_cast<std::int64_t>(depth * depth);
  const at::Tensor mirrored = mirroredViews(weight.narrow(1, 0, views).t(), depth).t();
  const at::Tensor all = at::cat({mirrored, weight.narrow(1, views, weight.size(1) - views)}, 1);
  const auto term = [&](std::int64_t number) { return all.narrow(0, number, 1); };
  return at::cat({term(0), term(3), term(4), term(1), term(2), term(5)}, 0);
}

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
      rewards_(options.degrees == "views+score"),
      within_source_(context.within_source && !context.symmetric),
      degrees_(options.degrees == "none"
                   ? std::nullopt
                   : std::optional(addDegreeWeights(views_.size() + (rewards_ ? 1 : 0), layout))),
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

at::Tensor ViewSelector::scoresOf(const Parameters& selector, const EncodedPairs& pairs,
                                  GradientUse use) const {
  const at::Tensor forth = scoresOneWay(selector, pairs.layers, pairs.pairs, use);
  if (!both_ways_) {
    return forth;
  }
  const at::Tensor back = scoresOneWay(selector, pairs.layers, detail::turned(*pairs.pairs), use);
  return (forth + mirroredViews(back, depth_)) / 2;
}

ViewVerdict ViewSelector::byDegrees(const Parameters& selector, const at::Tensor& degrees) const {
  at::Tensor weight = selector[*degrees_];
  if (symmetric_) {
    // View (i, j) judges ends as (j, i) judges them exchanged.
    weight = (weight + exchanged(weight, depth_)) / 2;
  }
  const at::Tensor terms = degreeTerms(degrees);
  const auto views = static_cast<std::int64_t>(views_.size());
  ViewVerdict said{product(weight.narrow(1, 0, views), terms, Transpose::kFirst)};
  if (rewards_) {
    const std::int64_t first = within_source_ ? kSourceTerms : 0;
    const std::int64_t count = kDegreeTerms - first;
    said.bonus = product(weight.narrow(0, first, count).narrow(1, views, 1),
                         terms.narrow(0, first, count), Transpose::kFirst)
                     .reshape({-1});
  }
  return said;
}

ViewVerdict ViewSelector::judge(const Parameters& selector, const EncodedPairs& pairs,
                                GradientUse use) const {
  const at::Tensor scores = scoresOf(selector, pairs, use);
  if (!degrees_) {
    return {scores};
  }
  invariant(pairs.degrees.defined(), "a selector that looks at degrees was given none");
  const ViewVerdict said = byDegrees(selector, pairs.degrees);
  return {scores + said.scores, said.bonus};
}

ViewMixture ViewSelector::mix(const Parameters& selector, const EncodedPairs& pairs,
                              const MixtureOptions& options) const {
  if (options.alike) {
    return {.shares = {}, .use = options.use};
  }
  const ViewVerdict verdict = judge(selector, pairs, options.use);
  const at::Tensor shares = options.inverse_temperature.defined()
                                ? viewSoftmax(verdict.scores * options.inverse_temperature, 1)
                                : viewSoftmax(verdict.scores, options.temperature);
  return {.shares = shares,
          .bonus = options.rewarded ? verdict.bonus : at::Tensor(),
          .use = options.use};
}

ViewChoice ViewSelector::choose(const Parameters& selector, const EncodedPairs& pairs) const {
  const WithoutGradients guard;
  const ViewVerdict verdict = judge(selector, pairs);
  const PairIndex& index = *pairs.pairs;
  if (!index.onHost()) {
    return ViewChoices::onDevice(
        topShares(
            verdict.scores, index,
            {.depth = depth_, .top = top_, .temperature = temperature_, .symmetric = symmetric_}),
        top_, verdict.bonus);
  }
  const at::Tensor values = verdict.scores.to(at::kCPU, at::kDouble).contiguous();
  auto choices = std::make_shared<ViewChoices>(top_, index.size());
  const auto put = [&](std::size_t begin, std::size_t end) {
    BestViews best(views_, depth_, top_, temperature_);
    for (std::size_t p = begin; p < end; ++p) {
      const Edge pair = index.pairs()[p];
      best.put(values.data_ptr<double>() + p, index.size(), symmetric_ && pair.dst < pair.src, p,
               *choices);
    }
  };
  constexpr std::size_t kPairs = 1024;
  constexpr double kViewNs = 30;
  parallelFor(index.size(), kPairs, put, kViewNs * static_cast<double>(values.numel()));
  if (verdict.bonus.defined()) {
    const at::Tensor bonus = verdict.bonus.to(at::kCPU, at::kFloat).contiguous();
    choices->setBonus({bonus.data_ptr<float>(), bonus.data_ptr<float>() + bonus.numel()});
  }
  return choices;
}

}  // namespace edgewise
