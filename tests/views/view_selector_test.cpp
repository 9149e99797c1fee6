#include "edgewise/views/view_selector.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "edgewise/ops/gradients.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/util/rng.h"
#include "edgewise/views/decoder.h"
#include "edgewise/views/view_chooser.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

at::Tensor randomMatrix(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  RngStream random(seed, "matrix");
  at::Tensor matrix = at::empty({rows, columns}, at::kDouble);
  for (std::int64_t i = 0; i < matrix.numel(); ++i) {
    matrix.data_ptr<double>()[i] = random.normal();
  }
  return matrix;
}

struct Pairs {
  std::vector<Edge> forth = {makeEdge(0, 1), makeEdge(1, 2), makeEdge(4, 0),
                             makeEdge(3, 3), makeEdge(2, 4), makeEdge(1, 0)};
  std::vector<Edge> back;
  Pairs() {
    for (const Edge& pair : forth) {
      back.push_back(reversed(pair));
    }
  }
};

LayerPair mirrored(LayerPair view) { return {view.target, view.source}; }

TEST(ViewSoftmax, AddsUpToOneAndFollowsItsDefinition) {
  const at::Tensor scores = randomMatrix(1, 4, 7) * 3;
  const at::Tensor weights = viewSoftmax(scores, 0.5);
  EXPECT_LT((weights - at::softmax(scores / 0.5, 0)).abs().max().item<double>(), 1e-14);
  expectFailure<ConfigError>([&] { std::ignore = viewSoftmax(scores, 0); }, "not positive");
}

TEST(ViewSoftmax, FirstAndSecondDerivativesEqualTorchs) {
  const at::Tensor cotangent = randomMatrix(3, 4, 7);
  const at::Tensor direction = randomMatrix(4, 4, 7);
  const auto second = [&](const auto& softmax) {
    const at::Tensor scores = randomMatrix(2, 4, 7).set_requires_grad(true);
    const std::vector<at::Tensor> inputs = {scores};
    const at::Tensor value = (softmax(scores) * cotangent).sum();
    const at::Tensor slope = gradients(value, inputs, GradientUse::kAgain)[0];
    return std::pair(slope.detach(), gradients((slope * direction).sum(), inputs)[0]);
  };
  const auto ours = second([](const at::Tensor& x) { return viewSoftmax(x, 0.3); });
  const auto theirs = second([](const at::Tensor& x) { return at::softmax(x / 0.3, 0); });
  EXPECT_LT((ours.first - theirs.first).abs().max().item<double>(), 1e-12);
  EXPECT_LT((ours.second - theirs.second).abs().max().item<double>(), 1e-11);
}

TEST(ChosenPairs, EqualTheProductsOfTheirViews) {
  const std::vector<at::Tensor> layers = {randomMatrix(1, 5, 3).set_requires_grad(true),
                                          randomMatrix(2, 5, 3).set_requires_grad(true)};
  const Pairs pairs;
  const auto index = PairIndex::make(pairs.forth, 5);
  const auto views = allViews(2);
  auto choice = std::make_shared<std::vector<LayerPair>>();
  for (std::size_t i = 0; i < pairs.forth.size(); ++i) {
    choice->push_back(views[(i * 3) % views.size()]);
  }
  const at::Tensor got = chosenPairs(layers, index, choice);
  std::vector<at::Tensor> rows;
  for (std::size_t i = 0; i < pairs.forth.size(); ++i) {
    rows.push_back(layers[(*choice)[i].source][edgewise::index(pairs.forth[i].src)] *
                   layers[(*choice)[i].target][edgewise::index(pairs.forth[i].dst)]);
  }
  const at::Tensor want = at::stack(rows);
  EXPECT_TRUE(at::equal(got, want));
  const at::Tensor cotangent = randomMatrix(5, 6, 3);
  const auto ours = gradients((got * cotangent).sum(), layers);
  const auto theirs = gradients((want * cotangent).sum(), layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_LT((ours[i] - theirs[i]).abs().max().item<double>(), 1e-13);
  }
}

TEST(ViewSelector, ChoosesMirroredViewsForMirroredPairs) {
  ParameterLayout layout;
  SelectorOptions options;
  options.hidden = 8;
  const ViewSelector selector(options, {.depth = 3, .width = 4}, layout);
  const Parameters theta = Parameters::initial(layout, 4, at::kDouble);
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4), randomMatrix(3, 5, 4)};
  const Pairs pairs;
  const auto forth = selector.choose(theta, {layers, PairIndex::make(pairs.forth, 5)});
  const auto back = selector.choose(theta, {layers, PairIndex::make(pairs.back, 5)});
  std::set<LayerPair> seen;
  for (std::size_t i = 0; i < forth->pairCount(); ++i) {
    seen.insert(forth->best(i));
    if (pairs.forth[i].src != pairs.forth[i].dst) {
      EXPECT_EQ(forth->best(i), mirrored(back->best(i)));
    }
  }
  EXPECT_GT(seen.size(), 1U);
}

TEST(ViewSelector, ColdMixturesAreTheChosenView) {
  ParameterLayout layout;
  SelectorOptions options;
  options.layers = 3;
  options.hidden = 32;
  const ViewSelector selector(options, {.depth = 2, .width = 4}, layout);
  const Parameters theta = Parameters::initial(layout, 4, at::kDouble);
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const auto index = PairIndex::make(Pairs().forth, 5);
  const ViewChoice hard = selector.choose(theta, {layers, index});
  const at::Tensor soft = selector.mix(theta, {layers, index}, {.temperature = 1e-7}).shares;
  for (std::size_t pair = 0; pair < index->size(); ++pair) {
    const LayerPair best = hard->best(pair);
    if (index->pairs()[pair].src == index->pairs()[pair].dst) {
      continue;  // a view and its mirror image share the first place
    }
    EXPECT_NEAR(soft[best.source * 2 + best.target][pair].item<double>(), 1, 1e-9);
  }
}

// The kernels of the search against the operations that can be differentiated twice.
TEST(ViewSelector, BothWaysToMixAgreeWithTheirGradients) {
  const std::vector<Edge> one = {makeEdge(4, 1)};
  for (const std::size_t depth : {1U, 2U, 3U}) {
    for (const std::int64_t mlp_layers : {1, 2, 3}) {
      for (const std::vector<Edge>& edges : {Pairs().forth, one}) {
        ParameterLayout layout;
        SelectorOptions options;
        options.layers = mlp_layers;
        options.hidden = 24;
        const ViewSelector selector(options, {.depth = depth, .width = 4}, layout);
        const Parameters theta = Parameters::initial(layout, 4, at::kDouble);
        LayerOutputs layers;
        for (std::size_t i = 0; i < depth; ++i) {
          layers.push_back(randomMatrix(1 + i, 6, 4).set_requires_grad(true));
        }
        const auto index = PairIndex::make(edges, 6);
        const at::Tensor cotangent = randomMatrix(9, static_cast<std::int64_t>(edges.size()), 4);
        std::vector<at::Tensor> inputs(layers.begin(), layers.end());
        inputs.insert(inputs.end(), theta.tensors().begin(), theta.tensors().end());
        const auto mixed = [&](GradientUse use) {
          const at::Tensor shares =
              selector.mix(theta, {layers, index}, {.temperature = 0.3, .use = use}).shares;
          const at::Tensor z = use == GradientUse::kOnce
                                   ? mixedPairs(layers, index, selector.views(), shares)
                                   : mixViews(viewPairs(layers, index, selector.views()), shares);
          std::vector<at::Tensor> result = gradients((z * cotangent).sum(), inputs);
          result.push_back(z.detach());
          return result;
        };
        const std::vector<at::Tensor> fused = mixed(GradientUse::kOnce);
        const std::vector<at::Tensor> plain = mixed(GradientUse::kAgain);
        for (std::size_t i = 0; i < fused.size(); ++i) {
          const double size = std::max(1.0, plain[i].abs().max().item<double>());
          EXPECT_LE((fused[i] - plain[i]).abs().max().item<double>(), 1e-12 * size) << i;
        }
      }
    }
  }
}

TEST(ChosenViewDecoder, ForcedToOneViewEqualsThatFixedView) {
  for (const bool symmetric : {true, false}) {
    for (const LayerPair view : allViews(2)) {
      if (symmetric && view.source != view.target) {
        continue;  // a fixed view of undirected pairs averages both ways
      }
      const DecoderContext context{.depth = 2, .width = 4, .symmetric = symmetric};
      SelectorOptions options;
      ParameterLayout chosen_layout;
      options.kind = "ps2";
      const auto chosen = makeDecoder(options, context, chosen_layout);
      ParameterLayout fixed_layout;
      options.kind = fmt::format("fixed:{},{}", view.source + 1, view.target + 1);
      const auto fixed = makeDecoder(options, context, fixed_layout);
      const Parameters parameters = Parameters::initial(chosen_layout, 4, at::kDouble);
      const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
      const auto index = PairIndex::make(Pairs().forth, 5);
      const auto choice = singleViews(std::vector<LayerPair>(index->size(), view));
      EXPECT_TRUE(at::equal(chosen->logits(parameters, layers, index, choice),
                            fixed->logits(parameters, layers, index)));
    }
  }
}

// All predictors, both ways of mixing: what a pair scores does not depend on which end comes first.
TEST(ViewSelector, JudgesConcatenatedPairsTheSameBothWays) {
  const Pairs pairs;
  const auto forth = PairIndex::make(pairs.forth, 5);
  const auto back = PairIndex::make(pairs.back, 5);
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  for (const std::string mix : {"representation", "score"}) {
    for (const std::int64_t top : {1, 2, 4}) {
      SCOPED_TRACE(mix + fmt::format(", top {}", top));
      SelectorOptions options{.kind = "ps2", .mix = mix};
      options.hidden = 8;
      options.temperature = 0.5;
      options.top = top;
      ParameterLayout selector_layout;
      const ViewSelector selector(options, {.depth = 2, .width = 4, .concatenate = true},
                                  selector_layout);
      const Parameters theta = Parameters::initial(selector_layout, 4, at::kDouble);
      ParameterLayout layout;
      DecoderContext context{.depth = 2, .width = 4, .symmetric = true};
      context.predictor.kind = "concat";
      const auto decoder = makeDecoder(options, context, layout);
      const Parameters weights = Parameters::initial(layout, 5, at::kDouble);
      const auto scored = [&](const std::shared_ptr<const PairIndex>& index) {
        return decoder->logits(weights, layers, index, selector.choose(theta, {layers, index}));
      };
      EXPECT_LT((scored(forth) - scored(back)).abs().max().item<double>(), 1e-6);
      const auto lost = [&](const std::shared_ptr<const PairIndex>& index) {
        const PairBatch batch{index, at::ones({6}, at::kDouble)};
        return decoder->mixtureLoss(weights, layers, batch,
                                    selector.mix(theta, {layers, index}, {.temperature = 0.5}),
                                    Noise());
      };
      EXPECT_NEAR(lost(forth).item<double>(), lost(back).item<double>(), 1e-12);
    }
  }
}

// The product of means of layers is the mean of all products, and means side by side are the mean
// of layers side by side.
TEST(ViewSelector, LearnsAlikeWhatTheMeanOfAllViewsLearns) {
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const auto index = PairIndex::make(Pairs().forth, 5);
  const PairBatch batch{index, at::ones({6}, at::kDouble)};
  const ViewMixture even{.shares = at::full({4, 6}, 0.25, at::kDouble), .use = GradientUse::kAgain};
  for (const std::string mix : {"representation", "score"}) {
    for (const std::string predictor : {"dot", "hadamard", "concat"}) {
      for (const bool symmetric : {false, true}) {
        SCOPED_TRACE(mix + ", " + predictor);
        ParameterLayout layout;
        DecoderContext context{.depth = 2, .width = 4, .symmetric = symmetric};
        context.predictor.kind = predictor;
        const auto decoder = makeDecoder({.kind = "ps2", .mix = mix}, context, layout);
        const Parameters weights = Parameters::initial(layout, 5, at::kDouble);
        const double mean =
            decoder->mixtureLoss(weights, layers, batch, even, Noise()).item<double>();
        EXPECT_NEAR(decoder->loss(weights, layers, batch, Noise()).item<double>(), mean, 1e-12);
        EXPECT_NEAR(decoder->mixtureLoss(weights, layers, batch, {}, Noise()).item<double>(), mean,
                    1e-12);
      }
    }
  }
}

// With all views used, the weights of a choice are the shares of the search.
TEST(ViewSelector, AllViewsTogetherAreTheMixture) {
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const auto index = PairIndex::make(Pairs().forth, 5);
  for (const std::string mix : {"representation", "score"}) {
    for (const std::string predictor : {"hadamard", "concat"}) {
      SCOPED_TRACE(mix + ", " + predictor);
      SelectorOptions options{.kind = "ps2", .mix = mix};
      options.hidden = 8;
      options.temperature = 0.5;
      options.top = 9;
      ParameterLayout selector_layout;
      const bool concatenate = predictor == "concat";
      const ViewSelector selector(options, {.depth = 2, .width = 4, .concatenate = concatenate},
                                  selector_layout);
      const Parameters theta = Parameters::initial(selector_layout, 4, at::kDouble);
      ParameterLayout layout;
      DecoderContext context{.depth = 2, .width = 4, .symmetric = true};
      context.predictor.kind = predictor;
      const auto decoder = makeDecoder(options, context, layout);
      const Parameters weights = Parameters::initial(layout, 5, at::kDouble);
      PairBatch batch{index, at::ones({6}, at::kDouble)};
      batch.choice = selector.choose(theta, {layers, index});
      ASSERT_EQ(batch.choice->perPair(), 4U);
      const at::Tensor soft =
          decoder->mixtureLoss(weights, layers, batch,
                               selector.mix(theta, {layers, index}, {.temperature = 0.5}), Noise());
      EXPECT_NEAR(decoder->loss(weights, layers, batch, Noise()).item<double>(),
                  soft.item<double>(), 1e-6);
    }
  }
}

// A selector that finds all views alike still chooses the same for (u, v) and (v, u).
TEST(ViewSelector, MirrorsTiesToo) {
  ParameterLayout layout;
  SelectorOptions options;
  options.hidden = 8;
  options.top = 2;
  const ViewSelector selector(options, {.depth = 2, .width = 4}, layout);
  Parameters theta = Parameters::initial(layout, 4, at::kDouble);
  theta.flat().zero_();
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const Pairs pairs;
  const auto forth = selector.choose(theta, {layers, PairIndex::make(pairs.forth, 5)});
  const auto back = selector.choose(theta, {layers, PairIndex::make(pairs.back, 5)});
  for (std::size_t i = 0; i < forth->pairCount(); ++i) {
    for (std::size_t rank = 0; rank < 2 && pairs.forth[i].src != pairs.forth[i].dst; ++rank) {
      EXPECT_EQ(forth->views(i)[rank], mirrored(back->views(i)[rank])) << i;
    }
  }
}

// Both ends' degrees of some pairs, [pairs, 2].
at::Tensor someDegrees(std::span<const Edge> pairs) {
  const at::Tensor degrees = at::tensor({0.7, 1.1, 3.0, 2.2, 5.9}, at::kDouble);
  return ofBothEnds(degrees, PairIndex::make(pairs, 5));
}

TEST(ViewSelector, MixesViewsAlikeWithoutLookingAtThem) {
  ParameterLayout layout;
  const ViewSelector selector({}, {.depth = 2, .width = 4}, layout);
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const auto index = PairIndex::make(Pairs().forth, 5);
  const ViewMixture mixture = selector.mix(Parameters(), {layers, index}, {.alike = true});
  EXPECT_FALSE(mixture.shares.defined());
  EXPECT_FALSE(mixture.bonus.defined());
}

TEST(ViewSelector, ThatHasNotLearnedFromDegreesJudgesWithoutThem) {
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const Pairs pairs;
  const auto index = PairIndex::make(pairs.forth, 5);
  SelectorOptions options;
  options.hidden = 8;
  ParameterLayout plain_layout;
  const ViewSelector plain(options, {.depth = 2, .width = 4}, plain_layout);
  const Parameters plain_theta = Parameters::initial(plain_layout, 4, at::kDouble);
  options.degrees = "views+score";
  ParameterLayout layout;
  const ViewSelector selector(options, {.depth = 2, .width = 4}, layout);
  const Parameters theta = Parameters::initial(layout, 4, at::kDouble);
  EXPECT_FALSE(plain.seesDegrees());
  EXPECT_TRUE(selector.seesDegrees());
  const ViewVerdict verdict = selector.judge(theta, {layers, index, someDegrees(pairs.forth)});
  EXPECT_TRUE(at::equal(verdict.scores, plain.judge(plain_theta, {layers, index}).scores));
  EXPECT_EQ(verdict.bonus.abs().max().item<double>(), 0);
  EXPECT_FALSE(plain.judge(plain_theta, {layers, index}).bonus.defined());
  EXPECT_ANY_THROW((void)selector.judge(theta, {layers, index})) << "no degrees";
}

// What is learned of degrees, worked out by hand: with a = d / 2 - 1 of the source, b of the target
// the terms are 1, a, a², b, b², ab.
TEST(ViewSelector, AddsWhatDegreesSayToViewsAndScore) {
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const std::vector<Edge> pairs = {makeEdge(0, 4)};
  SelectorOptions options;
  options.degrees = "views+score";
  options.hidden = 8;
  ParameterLayout layout;
  const ViewSelector selector(options, {.depth = 2, .width = 4, .symmetric = false}, layout);
  const Parameters theta = Parameters::initial(layout, 4, at::kDouble);
  at::Tensor weight = theta.tensors().front();
  ASSERT_EQ(weight.sizes().vec(), (std::vector<std::int64_t>{6, 5}));
  {
    const WithoutGradients guard;
    theta.flat().zero_();
    weight.copy_(randomMatrix(7, 6, 5));
  }
  const ViewVerdict verdict =
      selector.judge(theta, {layers, PairIndex::make(pairs, 5), someDegrees(pairs)});
  const double a = 0.7 / 2 - 1;
  const double b = 5.9 / 2 - 1;
  const at::Tensor terms = at::tensor({1.0, a, a * a, b, b * b, a * b}, at::kDouble);
  const at::Tensor want = at::matmul(terms, weight.detach());
  EXPECT_LT((verdict.scores.reshape({-1}) - want.narrow(0, 0, 4)).abs().max().item<double>(),
            1e-12);
  EXPECT_NEAR(verdict.bonus.item<double>(), want[4].item<double>(), 1e-12);
  // Where items of a user are compared nothing is said of the user alone.
  ParameterLayout same_layout;
  const ViewSelector within(
      options, {.depth = 2, .width = 4, .symmetric = false, .within_source = true}, same_layout);
  const at::Tensor of_target = at::matmul(terms.narrow(0, 3, 3), weight.detach().narrow(0, 3, 3));
  const ViewVerdict compared =
      within.judge(theta, {layers, PairIndex::make(pairs, 5), someDegrees(pairs)});
  EXPECT_NEAR(compared.bonus.item<double>(), of_target[4].item<double>(), 1e-12);
  EXPECT_TRUE(at::equal(compared.scores, verdict.scores));
}

// What a selector learns of degrees has the slope it should.
TEST(ViewSelector, LearnsFromDegreesByTheirSlopes) {
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const Pairs pairs;
  const EncodedPairs encoded{layers, PairIndex::make(pairs.forth, 5), someDegrees(pairs.forth)};
  SelectorOptions options;
  options.hidden = 8;
  options.degrees = "views+score";
  for (const bool symmetric : {true, false}) {
    ParameterLayout layout;
    const ViewSelector selector(options, {.depth = 2, .width = 4, .symmetric = symmetric}, layout);
    const Parameters theta = Parameters::initial(layout, 4, at::kDouble);
    const at::Tensor along = randomMatrix(11, 1, theta.flat().numel()).reshape({-1});
    const at::Tensor cotangent = randomMatrix(9, 4, 6);
    const auto value = [&](double step, GradientUse use) {
      Parameters there = theta.clone();
      {
        const WithoutGradients guard;
        there.flat().add_(along, step);
      }
      const ViewMixture mixture = selector.mix(there, encoded, {.temperature = 0.7, .use = use});
      at::Tensor sum = (mixture.shares * cotangent).sum() + (mixture.bonus * mixture.bonus).sum();
      return std::pair(std::move(sum), std::move(there));
    };
    for (const GradientUse use : {GradientUse::kOnce, GradientUse::kAgain}) {
      const auto [here, parameters] = value(0.3, use);
      const at::Tensor slope = flattened(gradients(here, parameters.tensors()));
      constexpr double kStep = 1e-6;
      const double difference =
          (value(0.3 + kStep, use).first - value(0.3 - kStep, use).first).item<double>() /
          (2 * kStep);
      EXPECT_NEAR((slope * along).sum().item<double>(), difference, 1e-6) << symmetric;
    }
  }
}

TEST(ViewSelector, SeesDegreesTheSameBothWays) {
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4), randomMatrix(3, 5, 4)};
  const Pairs pairs;
  SelectorOptions options{.kind = "ps2"};
  options.hidden = 8;
  options.temperature = 0.5;
  options.top = 9;
  options.degrees = "views+score";
  ParameterLayout layout;
  const ViewSelector selector(options, {.depth = 3, .width = 4}, layout);
  const Parameters theta = Parameters::initial(layout, 4, at::kDouble);
  {
    const WithoutGradients guard;
    theta.tensors().front().copy_(randomMatrix(7, 6, 10));
  }
  const EncodedPairs forth{layers, PairIndex::make(pairs.forth, 5), someDegrees(pairs.forth)};
  const EncodedPairs back{layers, PairIndex::make(pairs.back, 5), someDegrees(pairs.back)};
  const ViewVerdict there = selector.judge(theta, forth);
  const ViewVerdict again = selector.judge(theta, back);
  for (const LayerPair& view : selector.views()) {
    const at::Tensor one = there.scores[view.source * 3 + view.target];
    const at::Tensor other = again.scores[view.target * 3 + view.source];
    EXPECT_LT((one - other).abs().max().item<double>(), 1e-12);
  }
  EXPECT_LT((there.bonus - again.bonus).abs().max().item<double>(), 1e-12);
  EXPECT_GT(there.bonus.std().item<double>(), 0.1);
  for (const std::string mix : {"representation", "score"}) {
    options.mix = mix;
    ParameterLayout weights_layout;
    const auto decoder =
        makeDecoder(options, {.depth = 3, .width = 4, .symmetric = true}, weights_layout);
    const Parameters weights = Parameters::initial(weights_layout, 5, at::kDouble);
    const auto scored = [&](const EncodedPairs& encoded) {
      return decoder->logits(weights, layers, encoded.pairs, selector.choose(theta, encoded));
    };
    EXPECT_LT((scored(forth) - scored(back)).abs().max().item<double>(), 1e-6);
    // The bonus is part of the score and of held-out edges' loss, not of what the model learns by.
    PairBatch batch{forth.pairs, at::ones({6}, at::kDouble)};
    batch.choice = selector.choose(theta, forth);
    const auto mixed = [&](bool rewarded) {
      const ViewMixture mixture =
          selector.mix(theta, forth, {.temperature = 0.5, .rewarded = rewarded});
      EXPECT_EQ(mixture.bonus.defined(), rewarded);
      return decoder->mixtureLoss(weights, layers, batch, mixture, Noise()).item<double>();
    };
    EXPECT_NEAR(decoder->loss(weights, layers, batch, Noise()).item<double>(), mixed(false), 1e-6);
    if (mix == "representation") {
      EXPECT_NEAR(at::softplus(-scored(forth)).mean().item<double>(), mixed(true), 1e-6);
    }
    EXPECT_GT(std::abs(mixed(true) - mixed(false)), 1e-3);
    const auto plain = std::make_shared<ViewChoices>(*batch.choice);
    plain->setBonus(std::vector<float>(6, 0));
    const at::Tensor without = decoder->logits(weights, layers, forth.pairs, plain);
    EXPECT_LT((scored(forth) - without - there.bonus).abs().max().item<double>(), 1e-6);
  }
}

TEST(ViewChoices, KeepEachPairsBonus) {
  const std::vector<LayerPair> view = {{0, 1}};
  const std::vector<float> weight = {1};
  ViewChoices choices(1);
  choices.add(view, weight, 1);
  choices.add(view, weight, 1);
  EXPECT_FALSE(choices.bonus(at::kFloat).defined());
  choices.setBonus({0.5F, -2});
  ViewChoices more(1);
  more.add(view, weight, 1);
  EXPECT_ANY_THROW(choices.append(more)) << "some with, some without";
  more.setBonus({3});
  choices.append(more);
  const at::Tensor picked =
      choices.select(std::vector<std::uint32_t>{2, 0}).rewarded(at::zeros({2}, at::kDouble));
  EXPECT_TRUE(at::equal(picked, at::tensor({3.0, 0.5}, at::kDouble)));
}

TEST(ViewChoices, KeepTheBestAndCountThemByTheirShares) {
  ViewChoices choices(2);
  const std::vector<LayerPair> first = {{0, 1}, {1, 1}};
  const std::vector<LayerPair> second = {{1, 0}, {0, 0}};
  const std::vector<float> weights = {0.75F, 0.25F};
  choices.add(first, weights, 0.6F);
  ViewChoices more(2);
  more.add(second, weights, 0.5F);
  choices.append(more);
  ASSERT_EQ(choices.pairCount(), 2U);
  const ViewChoices turned = choices.select(std::vector<std::uint32_t>{1, 0, 1});
  ASSERT_EQ(turned.pairCount(), 3U);
  EXPECT_EQ(turned.best(0), second[0]);
  EXPECT_EQ(turned.best(1), first[0]);
  EXPECT_EQ(turned.views(2)[1], second[1]);
  EXPECT_FLOAT_EQ(turned.confidence(1), 0.6F);
}

TEST(OracleChooser, KnowsTheViewOfEveryPairOfKinds) {
  const std::vector<KindsView> known = {{0, 0, {0, 0}}, {0, 1, {0, 1}}};
  const auto oracle = makeOracleChooser({0, 1, 0, 2}, known, 3);
  const auto chooser = oracle->on(nullptr);
  const std::vector<Edge> pairs = {makeEdge(0, 2), makeEdge(0, 1), makeEdge(1, 0), makeEdge(3, 1)};
  const ViewChoice choice = chooser->choose(PairIndex::make(pairs, 4));
  EXPECT_EQ(choice->best(0), (LayerPair{0, 0}));
  EXPECT_EQ(choice->best(1), (LayerPair{0, 1}));
  EXPECT_EQ(choice->best(2), (LayerPair{1, 0}));
  EXPECT_EQ(choice->best(3), (LayerPair{2, 2})) << "nothing known: the deepest";
  expectFailure<ConfigError>([&] { std::ignore = makeOracleChooser({0}, known, 1); }, "deeper");
}

TEST(RandomChooser, FixesAViewAPairAndMirrorsIt) {
  const Pairs pairs;
  const auto one = makeRandomChooser(3, 3, true);
  const auto two = makeRandomChooser(3, 3, true);
  const auto chooser = one->on(nullptr);
  const auto again = two->on(nullptr);
  const auto forth = chooser->choose(PairIndex::make(pairs.forth, 5));
  const auto back = again->choose(PairIndex::make(pairs.back, 5));
  for (std::size_t i = 0; i < forth->pairCount(); ++i) {
    if (pairs.forth[i].src != pairs.forth[i].dst) {
      EXPECT_EQ(forth->best(i), mirrored(back->best(i)));
    }
  }
  // All nine views, about equally often.
  std::vector<Edge> many;
  for (std::uint32_t i = 0; i < 9000; ++i) {
    many.push_back(makeEdge(i, i + 1));
  }
  std::map<LayerPair, int> counts;
  const ViewChoice chosen = chooser->choose(PairIndex::make(many, 9001));
  for (std::size_t pair = 0; pair < chosen->pairCount(); ++pair) {
    ++counts[chosen->best(pair)];
  }
  ASSERT_EQ(counts.size(), 9U);
  for (const auto& [view, count] : counts) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

TEST(ViewChoices, DrawsAViewByItsShareOfTheLots) {
  ViewChoices choices(3);
  const std::vector<LayerPair> views = {{1, 1}, {0, 1}, {0, 0}};
  choices.add(views, std::vector<float>{0.5F, 0.375F, 0.125F}, 0.5F);
  // Rounding may leave a little.
  choices.add(views, std::vector<float>{0.5F, 0.25F, 0.2F}, 0.5F);
  EXPECT_EQ(choices.drawn(0, 0), views[0]);
  EXPECT_EQ(choices.drawn(0, 0.499), views[0]);
  EXPECT_EQ(choices.drawn(0, 0.5), views[1]);
  EXPECT_EQ(choices.drawn(0, 0.874), views[1]);
  EXPECT_EQ(choices.drawn(0, 0.875), views[2]);
  EXPECT_EQ(choices.drawn(0, 0.9999999), views[2]);
  EXPECT_EQ(choices.drawn(1, 0.94), views[2]);
  EXPECT_EQ(choices.drawn(1, 0.96), views[0]);
}

TEST(JkDecoder, StartsAsThePlainMeanOfViewsAndIsSymmetric) {
  const DecoderContext context{.depth = 2, .width = 4, .symmetric = true};
  SelectorOptions options;
  options.kind = "jk";
  ParameterLayout layout;
  const auto decoder = makeDecoder(options, context, layout);
  const Parameters parameters = Parameters::initial(layout, 4, at::kDouble);
  const LayerOutputs layers = {randomMatrix(1, 5, 4), randomMatrix(2, 5, 4)};
  const Pairs pairs;
  const at::Tensor forth = decoder->logits(parameters, layers, PairIndex::make(pairs.forth, 5));
  const at::Tensor back = decoder->logits(parameters, layers, PairIndex::make(pairs.back, 5));
  EXPECT_LT((forth - back).abs().max().item<double>(), 1e-12);
  const at::Tensor mean = (layers[0] + layers[1]) / 2;
  // (h1 + h2)(g1 + g2) / 4 is the mean over the four views.
  SelectorOptions none;
  ParameterLayout plain_layout;
  const auto plain = makeDecoder(none, {.depth = 1, .width = 4, .symmetric = true}, plain_layout);
  Parameters copy = Parameters::initial(plain_layout, 4, at::kDouble);
  EXPECT_LT((plain->logits(copy, {mean}, PairIndex::make(pairs.forth, 5)) - forth)
                .abs()
                .max()
                .item<double>(),
            1e-12);
}

}  // namespace
}  // namespace edgewise
