#include "ops/device_view_scores.h"

#include <algorithm>
#include <vector>

#include "edgewise/ops/rowwise.h"
#include "ops/autograd_support.h"
#include "ops/device_pairs.h"

namespace edgewise::detail {
namespace {

struct ScoreShape {
  std::shared_ptr<const PairIndex> pairs;
  std::vector<LayerPair> views;
  std::size_t layers = 0;
  // Layers of the MLP.
  std::size_t depth = 0;

  [[nodiscard]] std::int64_t rows() const {
    return static_cast<std::int64_t>(views.size() * pairs->size());
  }
};

// The inputs of the operation: layers of the encoder, then weight and bias of each layer of the
// MLP in turn.
struct Inputs {
  Inputs(const ScoreShape& shape, const variable_list& all)
      : layers(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shape.layers)) {
    for (std::size_t i = 0; i < shape.depth; ++i) {
      weights.push_back(all[weightPlace(shape, i)]);
      biases.push_back(all[weightPlace(shape, i) + 1]);
    }
  }
  static std::size_t weightPlace(const ScoreShape& shape, std::size_t i) {
    return shape.layers + 2 * i;
  }

  variable_list layers;
  variable_list weights;
  variable_list biases;
};

template <class Matrices, class Real>
Matrices matricesOf(const ScoreShape& shape, const at::Tensor& stacked) {
  Matrices matrices{};
  const std::size_t size = shape.pairs->size() * sizeOf(stacked, 1);
  for (std::size_t view = 0; view < shape.views.size(); ++view) {
    matrices.data[view] = stacked.data_ptr<Real>() + view * size;
  }
  return matrices;
}

// [views * pairs, width].
at::Tensor stackedPairs(const ScoreShape& shape, const variable_list& layers) {
  at::Tensor out = at::empty({shape.rows(), layers.front().size(1)},
                             layers.front().options().requires_grad(false));
  if constexpr (kDeviceKernels) {
    byType("viewScores", out, [&]<class Real>(Real) {
      const cuda::Layers<Real> from = deviceLayers<Real>(layers);
      cuda::pairProducts<Real>(streamOf(out), deviceEnds(*shape.pairs, out.device()),
                               deviceViews(shape.views), from, from, sizeOf(out, 1),
                               matricesOf<cuda::PairMatrices<Real>, Real>(shape, out));
    });
  }
  return out;
}

variable_list layerGradients(const ScoreShape& shape, const variable_list& layers,
                             const at::Tensor& gradient) {
  variable_list result;
  for (const at::Tensor& layer : layers) {
    result.push_back(at::empty_like(layer).detach());
  }
  if constexpr (kDeviceKernels) {
    byType("viewScores", gradient, [&]<class Real>(Real) {
      cuda::pairProductsBackward<Real>(
          streamOf(gradient), devicePairs(*shape.pairs, gradient.device()),
          deviceViews(shape.views), deviceLayers<Real>(layers), sizeOf(gradient, 1),
          matricesOf<cuda::PairMatrices<const Real>, Real>(shape, gradient),
          devicePointers<cuda::LayerGradients<Real>, Real>(result));
    });
  }
  return result;
}

// gradient where the hidden unit was open, in place.
void closeUnits(at::Tensor& gradient, const at::Tensor& hidden) {
  if constexpr (kDeviceKernels) {
    byType("viewScores", gradient, [&]<class Real>(Real) {
      cuda::gate<Real>(streamOf(gradient), gradient.data_ptr<Real>(), hidden.data_ptr<Real>(),
                       Real{1}, static_cast<std::size_t>(gradient.numel()),
                       gradient.data_ptr<Real>());
    });
  }
}

// What gradient [rows, 1] of the last layer gives to the hidden units before it.
at::Tensor throughLast(const at::Tensor& gradient, const at::Tensor& weight,
                       const at::Tensor& hidden) {
  at::Tensor out = at::empty_like(hidden).detach();
  if constexpr (kDeviceKernels) {
    byType("viewScores", gradient, [&]<class Real>(Real) {
      cuda::gatedOuter<Real>(streamOf(gradient), gradient.data_ptr<Real>(), weight.data_ptr<Real>(),
                             hidden.data_ptr<Real>(), sizeOf(hidden, 0), sizeOf(hidden, 1),
                             out.data_ptr<Real>());
    });
  }
  return out;
}

// The same, with the gradients of the last weights [width, 1] and of the bias before them [width],
// which the same pass gives.
struct LastLayer {
  at::Tensor slope;
  at::Tensor weight;
  at::Tensor bias_before;
};
LastLayer throughLastWithSums(const at::Tensor& gradient, const at::Tensor& weight,
                              const at::Tensor& hidden) {
  LastLayer result{.slope = at::empty_like(hidden).detach(), .weight = {}, .bias_before = {}};
  if constexpr (kDeviceKernels) {
    const std::int64_t width = hidden.size(1);
    const auto blocks = static_cast<std::int64_t>(cuda::outerSumRows(sizeOf(hidden, 0)));
    const at::Tensor parts = at::empty({blocks, 2 * width}, result.slope.options());
    byType("viewScores", gradient, [&]<class Real>(Real) {
      cuda::gatedOuterSums<Real>(streamOf(gradient), gradient.data_ptr<Real>(),
                                 weight.data_ptr<Real>(), hidden.data_ptr<Real>(),
                                 sizeOf(hidden, 0), sizeOf(hidden, 1),
                                 result.slope.data_ptr<Real>(), parts.data_ptr<Real>());
    });
    const at::Tensor sums = columnSum(parts);
    result.weight = sums.narrow(0, 0, width).unsqueeze(1);
    result.bias_before = sums.narrow(0, width, width);
  }
  return result;
}

class DeviceScores : public torch::autograd::Function<DeviceScores> {
 public:
  static at::Tensor forward(AutogradContext* context, at::TensorList inputs,
                            const std::shared_ptr<const ScoreShape>& shape) {
    const variable_list all = contiguous(inputs);
    const Inputs in(*shape, all);
    // What each layer of the MLP reads.
    variable_list read = {stackedPairs(*shape, in.layers)};
    for (std::size_t i = 0; i + 1 < shape->depth; ++i) {
      read.push_back(at::_addmm_activation(in.biases[i], read[i], in.weights[i]));
    }
    const at::Tensor out = at::addmm(in.biases.back(), read.back(), in.weights.back());
    variable_list kept = all;
    kept.insert(kept.end(), read.begin(), read.end());
    context->save_for_backward(kept);
    keep(context, "shape", shape);
    return out.view({static_cast<std::int64_t>(shape->views.size()), -1});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    requireOnce("viewScores");
    const auto shape = kept<ScoreShape>(context, "shape");
    const variable_list saved = context->get_saved_variables();
    const Inputs in(*shape, saved);
    const std::size_t count = shape->layers + 2 * shape->depth;
    const variable_list read(saved.begin() + static_cast<std::ptrdiff_t>(count), saved.end());
    const bool to_mlp = context->needs_input_grad({{shape->layers, count}});
    const bool to_layers = context->needs_input_grad({{0, shape->layers}});
    variable_list result(count + 1);
    at::Tensor slope = gradients[0].reshape({-1, 1}).contiguous();
    for (std::size_t i = shape->depth; i-- > 0;) {
      const bool last = i + 1 == shape->depth;
      const std::size_t place = Inputs::weightPlace(*shape, i);
      if (to_mlp) {
        if (!result[place + 1].defined()) {
          result[place + 1] = columnSum(slope);
        }
        if (last && i > 0) {
          LastLayer through = throughLastWithSums(slope, in.weights[i], read[i]);
          slope = std::move(through.slope);
          result[place] = std::move(through.weight);
          result[Inputs::weightPlace(*shape, i - 1) + 1] = std::move(through.bias_before);
          continue;
        }
        result[place] = at::mm(read[i].t(), slope);
      }
      if (i == 0) {
        break;
      }
      if (last) {
        slope = throughLast(slope, in.weights[i], read[i]);
      } else {
        slope = at::mm(slope, in.weights[i].t());
        closeUnits(slope, read[i]);
      }
    }
    if (to_layers) {
      const variable_list each =
          layerGradients(*shape, in.layers, at::mm(slope, in.weights.front().t()));
      std::copy(each.begin(), each.end(), result.begin());
    }
    return result;
  }
};

}  // namespace

at::Tensor viewScoresOnDevice(std::span<const at::Tensor> layers,
                              const std::shared_ptr<const PairIndex>& pairs,
                              std::span<const LayerPair> views, std::span<const at::Tensor> weights,
                              std::span<const at::Tensor> biases) {
  variable_list inputs(layers.begin(), layers.end());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    inputs.push_back(weights[i]);
    inputs.push_back(
        !biases.empty() && biases[i].defined()
            ? biases[i]
            : at::zeros({weights[i].size(1)}, weights[i].options().requires_grad(false)));
  }
  return DeviceScores::apply(
      at::TensorList(inputs),
      std::make_shared<const ScoreShape>(
          ScoreShape{pairs, {views.begin(), views.end()}, layers.size(), weights.size()}));
}

}  // namespace edgewise::detail
