#include <algorithm>

#include "edgewise/ops/view_mixture.h"
#include "ops/autograd_support.h"
#include "ops/cpu_mixture.h"
#include "ops/device_pairs.h"
#include "ops/view_checks.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::sizeOf;
using detail::variable_list;

struct MixedShape {
  std::shared_ptr<const PairIndex> pairs;
  std::vector<LayerPair> views;
};

// `inputs`: the layers, then the weights.
template <class Real>
detail::MixedInput<Real> inputOf(const MixedShape& shape, const variable_list& inputs) {
  detail::MixedInput<Real> input{.pairs = *shape.pairs,
                                 .views = shape.views,
                                 .layers = {},
                                 .weights = inputs.back().data_ptr<Real>(),
                                 .width = sizeOf(inputs.front(), 1)};
  for (std::size_t i = 0; i + 1 < inputs.size(); ++i) {
    input.layers.push_back(inputs[i].data_ptr<Real>());
  }
  return input;
}

template <class Real>
void layerGradients(const detail::MixedInput<Real>& input, const at::Tensor& gradient,
                    const variable_list& inputs, variable_list& result) {
  std::vector<Real*> to;
  for (std::size_t i = 0; i < input.layers.size(); ++i) {
    result[i] = at::zeros_like(inputs[i]).detach();
    to.push_back(result[i].data_ptr<Real>());
  }
  detail::mixedPairsToLayersOnCpu<Real>(input, gradient.data_ptr<Real>(), to);
}

// The layers as kernels of a device take them.
template <class Real>
cuda::Layers<Real> layersOf(const variable_list& inputs) {
  return detail::deviceLayers<Real>(std::span(inputs).first(inputs.size() - 1));
}

class MixedPairs : public torch::autograd::Function<MixedPairs> {
 public:
  static at::Tensor forward(AutogradContext* context, at::TensorList inputs,
                            const std::shared_ptr<const MixedShape>& shape) {
    const variable_list all = detail::contiguous(inputs);
    context->save_for_backward(all);
    detail::keep(context, "shape", shape);
    at::Tensor out =
        at::empty({static_cast<std::int64_t>(shape->pairs->size()), all.front().size(1)},
                  all.front().options().requires_grad(false));
    detail::dispatchReal(
        "mixedPairs", all.front(),
        [&]<class Real>(Real) {
          detail::mixedPairsOnCpu<Real>(inputOf<Real>(*shape, all), out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::mixedPairs<Real>(stream, detail::deviceEnds(*shape->pairs, out.device()),
                                 detail::deviceViews(shape->views), layersOf<Real>(all),
                                 all.back().data_ptr<Real>(), sizeOf(out, 1), out.data_ptr<Real>());
        });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    detail::requireOnce("mixedPairs");
    const variable_list inputs = context->get_saved_variables();
    const auto shape = detail::kept<MixedShape>(context, "shape");
    const at::Tensor gradient = gradients[0].contiguous();
    const std::size_t layers = inputs.size() - 1;
    variable_list result(inputs.size() + 1);
    const bool to_layers = context->needs_input_grad({{0, layers}});
    const bool to_weights = context->needs_input_grad(layers);
    if (to_weights) {
      result[layers] = at::empty_like(inputs[layers]).detach();
    }
    detail::dispatchReal(
        "mixedPairs", gradient,
        [&]<class Real>(Real) {
          const detail::MixedInput<Real> input = inputOf<Real>(*shape, inputs);
          if (to_layers) {
            layerGradients<Real>(input, gradient, inputs, result);
          }
          if (to_weights) {
            detail::mixedPairsToWeightsOnCpu<Real>(input, gradient.data_ptr<Real>(),
                                                   result[layers].data_ptr<Real>());
          }
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          const cuda::Views views = detail::deviceViews(shape->views);
          const std::size_t width = sizeOf(gradient, 1);
          if (to_layers) {
            for (std::size_t i = 0; i < layers; ++i) {
              result[i] = at::empty_like(inputs[i]).detach();
            }
            cuda::mixedPairsToLayers<Real>(
                stream, detail::devicePairs(*shape->pairs, gradient.device()), views,
                layersOf<Real>(inputs), inputs.back().data_ptr<Real>(), width,
                gradient.data_ptr<Real>(),
                detail::devicePointers<cuda::LayerGradients<Real>, Real>(
                    std::span(result).first(layers)));
          }
          if (to_weights) {
            cuda::mixedPairsToWeights<Real>(
                stream, detail::deviceEnds(*shape->pairs, gradient.device()), views,
                layersOf<Real>(inputs), width, gradient.data_ptr<Real>(),
                result[layers].data_ptr<Real>());
          }
        });
    return result;
  }
};

}  // namespace

at::Tensor mixedPairs(std::span<const at::Tensor> layers,
                      const std::shared_ptr<const PairIndex>& pairs,
                      std::span<const LayerPair> views, const at::Tensor& weights) {
  detail::requireLayersAndViews("mixedPairs", layers, *pairs, views);
  detail::requireViewWeights("mixedPairs", weights, views.size(), pairs->size());
  if (weights.scalar_type() != layers.front().scalar_type()) {
    throw ShapeError(fmt::format("mixedPairs: weights are {}, layers {}",
                                 c10::toString(weights.scalar_type()),
                                 c10::toString(layers.front().scalar_type())));
  }
  variable_list inputs(layers.begin(), layers.end());
  inputs.push_back(weights);
  return MixedPairs::apply(at::TensorList(inputs), std::make_shared<const MixedShape>(MixedShape{
                                                       pairs, {views.begin(), views.end()}}));
}

}  // namespace edgewise
