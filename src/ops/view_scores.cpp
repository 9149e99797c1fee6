#include "edgewise/ops/view_scores.h"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "ops/autograd_support.h"
#include "ops/cpu_view_scores.h"
#include "ops/device_view_scores.h"
#include "ops/view_checks.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::sizeOf;
using detail::variable_list;

struct ScoreShape {
  std::shared_ptr<const PairIndex> pairs;
  std::vector<LayerPair> views;
  std::size_t layers = 0;
  std::size_t weights = 0;
  // Place of each weight's bias among all inputs, which are the layers, the weights and those
  // biases that there are; 0: none.
  std::vector<std::size_t> bias_places;
  bool differentiated = false;

  [[nodiscard]] std::size_t weightPlace(std::size_t i) const { return layers + i; }
};

template <class Real>
detail::ViewScoreInput<Real> inputOf(const ScoreShape& shape, const variable_list& inputs) {
  detail::ViewScoreInput<Real> input{*shape.pairs, shape.views, {}, {}};
  for (std::size_t i = 0; i < shape.layers; ++i) {
    input.layers.push_back(inputs[i].data_ptr<Real>());
  }
  input.mlp.widths.push_back(sizeOf(inputs.front(), 1));
  for (std::size_t i = 0; i < shape.weights; ++i) {
    const at::Tensor& weight = inputs[shape.weightPlace(i)];
    const std::size_t bias = shape.bias_places[i];
    input.mlp.widths.push_back(sizeOf(weight, 1));
    input.mlp.weights.push_back(weight.data_ptr<Real>());
    input.mlp.biases.push_back(bias > 0 ? inputs[bias].data_ptr<Real>() : nullptr);
  }
  return input;
}

// Somewhere to write the gradients that are asked for: all layers', all of the MLP's, or both.
variable_list gradientsFor(AutogradContext* context, const ScoreShape& shape,
                           const variable_list& inputs) {
  const auto asked = [&](std::size_t begin, std::size_t end) {
    return context->needs_input_grad({{begin, end}});
  };
  variable_list result(inputs.size());
  if (asked(0, shape.layers)) {
    for (std::size_t i = 0; i < shape.layers; ++i) {
      result[i] = at::zeros_like(inputs[i]).detach();
    }
  }
  if (asked(shape.layers, inputs.size())) {
    for (std::size_t i = shape.layers; i < inputs.size(); ++i) {
      result[i] = at::empty_like(inputs[i]).detach();
    }
  }
  return result;
}

template <class Real>
detail::ViewScoreGradients<Real> gradientPointers(const ScoreShape& shape,
                                                  const variable_list& gradients) {
  detail::ViewScoreGradients<Real> to;
  if (gradients.front().defined()) {
    for (std::size_t i = 0; i < shape.layers; ++i) {
      to.layers.push_back(gradients[i].data_ptr<Real>());
    }
  }
  if (gradients.back().defined()) {
    for (std::size_t i = 0; i < shape.weights; ++i) {
      const std::size_t bias = shape.bias_places[i];
      to.weights.push_back(gradients[shape.weightPlace(i)].data_ptr<Real>());
      to.biases.push_back(bias > 0 ? gradients[bias].data_ptr<Real>() : nullptr);
    }
  }
  return to;
}

class ViewScores : public torch::autograd::Function<ViewScores> {
 public:
  static at::Tensor forward(AutogradContext* context, at::TensorList inputs,
                            const std::shared_ptr<const ScoreShape>& shape) {
    const variable_list all = detail::contiguous(inputs);
    context->save_for_backward(all);
    detail::keep(context, "shape", shape);
    at::Tensor out = at::empty({static_cast<std::int64_t>(shape->views.size()),
                                static_cast<std::int64_t>(shape->pairs->size())},
                               all.front().options().requires_grad(false));
    auto open = std::make_shared<detail::OpenUnits>();
    detail::dispatchReal("viewScores", all.front(), [&]<class Real>(Real) {
      const detail::ViewScoreInput<Real> input = inputOf<Real>(*shape, all);
      if (shape->differentiated) {
        *open = detail::OpenUnits(shape->views.size() * shape->pairs->size(), input.mlp.hidden());
      }
      detail::viewScoresOnCpu<Real>(input, *open, out.data_ptr<Real>());
    });
    detail::keep<detail::OpenUnits>(context, "open", std::move(open));
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    detail::requireOnce("viewScores");
    const variable_list inputs = context->get_saved_variables();
    const auto shape = detail::kept<ScoreShape>(context, "shape");
    const auto open = detail::kept<detail::OpenUnits>(context, "open");
    const at::Tensor gradient = gradients[0].contiguous();
    variable_list result = gradientsFor(context, *shape, inputs);
    detail::dispatchReal("viewScores", gradient, [&]<class Real>(Real) {
      detail::viewScoresBackwardOnCpu<Real>(inputOf<Real>(*shape, inputs), *open,
                                            gradient.data_ptr<Real>(),
                                            gradientPointers<Real>(*shape, result));
    });
    result.emplace_back();
    return result;
  }
};

// Each weight reads what the one before it writes, the last writes one number.
void requireMlp(std::span<const at::Tensor> weights, std::span<const at::Tensor> biases,
                const at::Tensor& layer) {
  if (weights.empty() || (!biases.empty() && biases.size() != weights.size())) {
    throw ShapeError(
        fmt::format("viewScores: {} weights with {} biases", weights.size(), biases.size()));
  }
  std::int64_t width = layer.size(1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    detail::requireMatrix("viewScores", weights[i]);
    if (weights[i].size(0) != width || weights[i].scalar_type() != layer.scalar_type()) {
      throw ShapeError(fmt::format("viewScores: a weight of {} rows ({}) reads {} columns ({})",
                                   weights[i].size(0), c10::toString(weights[i].scalar_type()),
                                   width, c10::toString(layer.scalar_type())));
    }
    width = weights[i].size(1);
    if (!biases.empty() && biases[i].defined()) {
      detail::requireColumnVector("a bias", biases[i], weights[i], width);
    }
  }
  if (width != 1) {
    throw ShapeError(fmt::format("viewScores: the last weight has {} columns, not 1", width));
  }
}

}  // namespace

at::Tensor viewScores(std::span<const at::Tensor> layers,
                      const std::shared_ptr<const PairIndex>& pairs,
                      std::span<const LayerPair> views, std::span<const at::Tensor> weights,
                      std::span<const at::Tensor> biases) {
  detail::requireLayersAndViews("viewScores", layers, *pairs, views);
  requireMlp(weights, biases, layers.front());
  ScoreShape shape{.pairs = pairs,
                   .views = {views.begin(), views.end()},
                   .layers = layers.size(),
                   .weights = weights.size(),
                   .bias_places = std::vector<std::size_t>(weights.size(), 0)};
  if (onDevice(layers.front())) {
    return detail::viewScoresOnDevice(layers, pairs, views, weights, biases);
  }
  variable_list inputs(layers.begin(), layers.end());
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  for (std::size_t i = 0; i < biases.size(); ++i) {
    if (biases[i].defined()) {
      shape.bias_places[i] = inputs.size();
      inputs.push_back(biases[i]);
    }
  }
  shape.differentiated =
      c10::GradMode::is_enabled() && std::ranges::any_of(inputs, &at::Tensor::requires_grad);
  return ViewScores::apply(at::TensorList(inputs),
                           std::make_shared<const ScoreShape>(std::move(shape)));
}

}  // namespace edgewise
