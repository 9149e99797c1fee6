#include "edgewise/ops/view_mixture.h"

#include "edgewise/ops/rowwise.h"
#include "ops/autograd_support.h"
#include "ops/cpu_mixture.h"
#include "ops/view_checks.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::sizeOf;
using detail::variable_list;

class ViewSoftmax : public torch::autograd::Function<ViewSoftmax> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& scores,
                            double temperature) {
    context->save_for_backward({scores});
    context->saved_data["temperature"] = temperature;
    const at::Tensor input = scores.contiguous();
    at::Tensor out = at::empty_like(input);
    detail::dispatchReal(
        "viewSoftmax", input,
        [&]<class Real>(Real) {
          detail::viewSoftmaxOnCpu(input.data_ptr<Real>(), sizeOf(input, 0), sizeOf(input, 1),
                                   static_cast<Real>(temperature), out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::viewSoftmax<Real>(stream, input.data_ptr<Real>(), sizeOf(input, 0),
                                  sizeOf(input, 1), static_cast<Real>(temperature),
                                  out.data_ptr<Real>());
        });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor scores = context->get_saved_variables()[0];
    const double temperature = context->saved_data["temperature"].toDouble();
    const at::Tensor weights = viewSoftmax(scores, temperature);
    const at::Tensor weighted = gradients[0] * weights;
    const at::Tensor mean = expandRows(columnSum(weighted), scores.size(0));
    return {(weighted - weights * mean) / temperature, at::Tensor()};
  }
};

struct ChosenShape {
  std::shared_ptr<const PairIndex> pairs;
  std::shared_ptr<const std::vector<LayerPair>> choice;
};

template <class Real>
detail::ChosenInput<Real> inputOf(const ChosenShape& shape, const variable_list& layers) {
  std::vector<const Real*> pointers;
  for (const at::Tensor& layer : layers) {
    pointers.push_back(layer.data_ptr<Real>());
  }
  return {*shape.pairs, *shape.choice, std::move(pointers), sizeOf(layers.front(), 1)};
}

class ChosenPairs : public torch::autograd::Function<ChosenPairs> {
 public:
  static at::Tensor forward(AutogradContext* context, at::TensorList layers,
                            const std::shared_ptr<const ChosenShape>& shape) {
    const variable_list h = detail::contiguous(layers);
    context->save_for_backward(h);
    detail::keep(context, "shape", shape);
    at::Tensor out = at::empty({static_cast<std::int64_t>(shape->pairs->size()), h[0].size(1)},
                               h[0].options().requires_grad(false));
    detail::dispatchReal("chosenPairs", h[0], [&]<class Real>(Real) {
      detail::chosenPairsOnCpu(inputOf<Real>(*shape, h), out.data_ptr<Real>());
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list h = context->get_saved_variables();
    const auto shape = detail::kept<ChosenShape>(context, "shape");
    const at::Tensor gradient = gradients[0].contiguous();
    variable_list result;
    for (const at::Tensor& layer : h) {
      result.push_back(at::zeros_like(layer).detach());
    }
    detail::dispatchReal("chosenPairs", gradient, [&]<class Real>(Real) {
      std::vector<Real*> to;
      for (const at::Tensor& layer : result) {
        to.push_back(layer.data_ptr<Real>());
      }
      detail::chosenPairsBackwardOnCpu<Real>(inputOf<Real>(*shape, h), gradient.data_ptr<Real>(),
                                             to);
    });
    result.emplace_back();
    return result;
  }
};

// The same as a mixture in which one view of each pair counts.
at::Tensor chosenByWeight(std::span<const at::Tensor> layers,
                          const std::shared_ptr<const PairIndex>& pairs,
                          std::span<const LayerPair> choice) {
  std::vector<LayerPair> views;
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    for (std::uint32_t j = 0; j < layers.size(); ++j) {
      views.push_back({i, j});
    }
  }
  at::Tensor weights =
      at::zeros({static_cast<std::int64_t>(views.size()), static_cast<std::int64_t>(choice.size())},
                at::kFloat);
  auto* const out = weights.data_ptr<float>();
  for (std::size_t p = 0; p < choice.size(); ++p) {
    out[(choice[p].source * layers.size() + choice[p].target) * choice.size() + p] = 1;
  }
  return mixedPairs(layers, pairs, views,
                    weights.to(layers.front().options().requires_grad(false)));
}

// At least one view, all [pairs, width] alike, with a weight for each.
void requireMixture(std::span<const at::Tensor> z, const at::Tensor& weights) {
  if (z.empty()) {
    throw ShapeError("mixViews needs a view");
  }
  for (const at::Tensor& view : z) {
    detail::requireMatrix("mixViews", view);
    if (view.sizes() != z.front().sizes()) {
      throw ShapeError(fmt::format("mixViews: views are [{}, {}] and [{}, {}]", z.front().size(0),
                                   z.front().size(1), view.size(0), view.size(1)));
    }
  }
  detail::requireViewWeights("mixViews", weights, z.size(), sizeOf(z.front(), 0));
}

}  // namespace

at::Tensor viewSoftmax(const at::Tensor& scores, double temperature) {
  detail::requireMatrix("viewSoftmax", scores);
  if (scores.size(0) == 0) {
    throw ShapeError("viewSoftmax needs a view");
  }
  if (!(temperature > 0)) {
    throw ConfigError(fmt::format("a temperature of {} is not positive", temperature));
  }
  return ViewSoftmax::apply(scores, temperature);
}

at::Tensor mixViews(std::span<const at::Tensor> z, const at::Tensor& weights) {
  requireMixture(z, weights);
  at::Tensor mixed;
  for (std::size_t view = 0; view < z.size(); ++view) {
    const at::Tensor share =
        expandColumns(weights[static_cast<std::int64_t>(view)], z[view].size(1)) * z[view];
    mixed = view == 0 ? share : mixed + share;
  }
  return mixed;
}

at::Tensor chosenPairs(std::span<const at::Tensor> layers,
                       const std::shared_ptr<const PairIndex>& pairs,
                       std::shared_ptr<const std::vector<LayerPair>> choice) {
  detail::requireLayers("chosenPairs", layers, *pairs);
  if (choice->size() != pairs->size()) {
    throw ShapeError(fmt::format("{} choices for {} pairs", choice->size(), pairs->size()));
  }
  detail::requireViews(*choice, layers.size());
  if (onDevice(layers.front())) {
    return chosenByWeight(layers, pairs, *choice);
  }
  return ChosenPairs::apply(
      at::TensorList(layers.data(), layers.size()),
      std::make_shared<const ChosenShape>(ChosenShape{pairs, std::move(choice)}));
}

}  // namespace edgewise
