#include "edgewise/ops/view_pairs.h"

#include <set>

#include "ops/autograd_support.h"
#include "ops/cpu_pairs.h"
#include "ops/device_pairs.h"
#include "ops/view_checks.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::contiguous;
using detail::sizeOf;
using detail::variable_list;

// What stays the same from a product to its gradients.
struct PairShape {
  std::shared_ptr<const PairIndex> pairs;
  std::vector<LayerPair> views;
  std::size_t layers = 0;
  std::size_t width = 0;
  // Layers that views with a gradient look at; of the gradient alone.
  std::vector<std::uint32_t> wanted = {};
};
using Shape = std::shared_ptr<const PairShape>;

template <class Real>
std::vector<const Real*> readPointers(const variable_list& tensors) {
  std::vector<const Real*> pointers;
  for (const at::Tensor& tensor : tensors) {
    pointers.push_back(tensor.defined() ? tensor.data_ptr<Real>() : nullptr);
  }
  return pointers;
}

template <class Real>
std::vector<Real*> writePointers(const variable_list& tensors) {
  std::vector<Real*> pointers;
  for (const at::Tensor& tensor : tensors) {
    pointers.push_back(tensor.defined() ? tensor.data_ptr<Real>() : nullptr);
  }
  return pointers;
}

const at::Tensor& anyOf(const variable_list& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined()) {
      return tensor;
    }
  }
  return tensors.front();
}

// [nodes, width] to add up in; kernels of a device write every element.
at::Tensor sumsByNode(const PairIndex& pairs, const at::Tensor& like) {
  const std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(pairs.nodeCount()),
                                           like.size(1)};
  const auto options = like.options().requires_grad(false);
  return onDevice(like) ? at::empty(sizes, options) : at::zeros(sizes, options);
}

// The two rules by which the rows of two ends become a view of the pair. Both are bilinear in the
// rows: there is one tensor a view, and gradients are added to one matrix [nodes, width] a layer.

// [pairs, width] a view: a^i[u] * b^j[v].
struct Elementwise {
  static constexpr const char* kName = "viewPairs";

  static at::Tensor output(std::int64_t pairs, const at::Tensor& like) {
    return at::empty({pairs, like.size(1)}, like.options().requires_grad(false));
  }
  template <class Real>
  static constexpr auto kHost = detail::pairProductsOnCpu<Real>;
  template <class Real>
  static constexpr auto kHostBackward = detail::pairProductsBackwardOnCpu<Real>;
  template <class Real>
  static constexpr auto kDevice = cuda::pairProducts<Real>;
  template <class Real>
  static constexpr auto kDeviceBackward = cuda::pairProductsBackward<Real>;
};

// [pairs] a view: the sum over columns of that.
struct Dot {
  static constexpr const char* kName = "viewDots";

  static at::Tensor output(std::int64_t pairs, const at::Tensor& like) {
    return at::empty({pairs}, like.options().requires_grad(false));
  }
  template <class Real>
  static constexpr auto kHost = detail::pairDotsOnCpu<Real>;
  template <class Real>
  static constexpr auto kHostBackward = detail::pairDotsBackwardOnCpu<Real>;
  template <class Real>
  static constexpr auto kDevice = cuda::pairDots<Real>;
  template <class Real>
  static constexpr auto kDeviceBackward = cuda::pairDotsBackward<Real>;
};

template <class Rule>
variable_list applyRule(const PairShape& shape, const variable_list& a, const variable_list& b) {
  const auto pairs = static_cast<std::int64_t>(shape.pairs->size());
  const at::Tensor& like = anyOf(a);
  variable_list out;
  for (std::size_t view = 0; view < shape.views.size(); ++view) {
    out.push_back(Rule::output(pairs, like));
  }
  detail::dispatchReal(
      Rule::kName, like,
      [&]<class Real>(Real) {
        Rule::template kHost<Real>(
            {*shape.pairs, shape.views, readPointers<Real>(a), readPointers<Real>(b), shape.width},
            writePointers<Real>(out));
      },
      [&]<class Real>(Real, cuda::Stream stream) {
        Rule::template kDevice<Real>(stream, detail::deviceEnds(*shape.pairs, like.device()),
                                     detail::deviceViews(shape.views),
                                     detail::deviceLayers<Real>(a), detail::deviceLayers<Real>(b),
                                     shape.width,
                                     detail::devicePointers<cuda::PairMatrices<Real>, Real>(out));
      });
  return out;
}

// One [nodes, width] a wanted layer: the gradients of both ends together.
template <class Rule>
variable_list ruleGradients(const PairShape& shape, const variable_list& gradients,
                            const variable_list& layers) {
  const at::Tensor& like = anyOf(layers);
  variable_list by_layer(shape.layers);
  variable_list out;
  for (const std::uint32_t layer : shape.wanted) {
    by_layer[layer] = sumsByNode(*shape.pairs, like);
    out.push_back(by_layer[layer]);
  }
  detail::dispatchReal(
      Rule::kName, like,
      [&]<class Real>(Real) {
        const std::vector<Real*> to = writePointers<Real>(by_layer);
        Rule::template kHostBackward<Real>({*shape.pairs, shape.views, readPointers<Real>(layers),
                                            readPointers<Real>(layers), shape.width},
                                           readPointers<Real>(gradients), to, to);
      },
      [&]<class Real>(Real, cuda::Stream stream) {
        Rule::template kDeviceBackward<Real>(
            stream, detail::devicePairs(*shape.pairs, like.device()),
            detail::deviceViews(shape.views), detail::deviceLayers<Real>(layers), shape.width,
            detail::devicePointers<cuda::PairMatrices<const Real>, Real>(gradients),
            detail::devicePointers<cuda::LayerGradients<Real>, Real>(by_layer));
      });
  return out;
}

// The layers that some view looks at, ascending. On large graphs a gradient for the others would
// cost a matrix of zeros each.
std::vector<std::uint32_t> layersOf(std::span<const LayerPair> views) {
  std::set<std::uint32_t> layers;
  for (const LayerPair& view : views) {
    layers.insert({view.source, view.target});
  }
  return {layers.begin(), layers.end()};
}

// One a layer out of one a wanted layer.
variable_list spread(const PairShape& shape, const variable_list& wanted) {
  variable_list all(shape.layers);
  for (std::size_t i = 0; i < shape.wanted.size(); ++i) {
    all[shape.wanted[i]] = wanted[i];
  }
  return all;
}

bool anyDefined(const variable_list& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor& tensor) { return tensor.defined(); });
}

// The gradient of PairViews as an operation of its own: bilinear in the views' gradients g and the
// layers h, so that it can be differentiated once more.
template <class Rule>
class PairViewsGradient : public torch::autograd::Function<PairViewsGradient<Rule>> {
 public:
  // `inputs`: the views' gradients, then the layers.
  static variable_list forward(AutogradContext* context, at::TensorList inputs,
                               const Shape& shape) {
    const variable_list all = contiguous(inputs);
    context->save_for_backward(all);
    detail::keep(context, "shape", shape);
    context->set_materialize_grads(false);
    const auto split = all.begin() + static_cast<std::ptrdiff_t>(shape->views.size());
    return ruleGradients<Rule>(*shape, {all.begin(), split}, {split, all.end()});
  }

  // With c the gradients of the outputs: <c, G(g, h)> = sum of g_ij (c^i_u h^j_v + h^i_u c^j_v).
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto shape = detail::kept<PairShape>(context, "shape");
    const variable_list c = spread(*shape, contiguous(gradients));
    variable_list result(saved.size() + 1);
    if (!anyDefined(c)) {
      return result;
    }
    const auto split = saved.begin() + static_cast<std::ptrdiff_t>(shape->views.size());
    const variable_list h(split, saved.end());
    const variable_list first = applyRule<Rule>(*shape, c, h);
    const variable_list second = applyRule<Rule>(*shape, h, c);
    for (std::size_t view = 0; view < shape->views.size(); ++view) {
      result[view] = first[view] + second[view];
    }
    const variable_list to_h = ruleGradients<Rule>(*shape, {saved.begin(), split}, c);
    for (std::size_t i = 0; i < to_h.size(); ++i) {
      result[shape->views.size() + shape->wanted[i]] = to_h[i];
    }
    return result;
  }
};

template <class Rule>
class PairViews : public torch::autograd::Function<PairViews<Rule>> {
 public:
  static variable_list forward(AutogradContext* context, at::TensorList layers,
                               const Shape& shape) {
    const variable_list h = contiguous(layers);
    // The layers as they came: a copy would not lead back to them when differentiated again.
    context->save_for_backward(layers.vec());
    detail::keep(context, "shape", shape);
    context->set_materialize_grads(false);
    return applyRule<Rule>(*shape, h, h);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto shape = detail::kept<PairShape>(context, "shape");
    variable_list result(saved.size() + 1);
    // Autograd's functions do not take undefined tensors: views that the loss did not use are left
    // out of the shape.
    auto used = std::make_shared<PairShape>(*shape);
    used->views.clear();
    variable_list inputs;
    for (std::size_t view = 0; view < shape->views.size(); ++view) {
      if (gradients[view].defined()) {
        used->views.push_back(shape->views[view]);
        inputs.push_back(gradients[view]);
      }
    }
    if (inputs.empty()) {
      return result;
    }
    used->wanted = layersOf(used->views);
    inputs.insert(inputs.end(), saved.begin(), saved.end());
    const Shape reached = std::move(used);
    const variable_list to_layers =
        spread(*reached, PairViewsGradient<Rule>::apply(at::TensorList(inputs), reached));
    std::copy(to_layers.begin(), to_layers.end(), result.begin());
    return result;
  }
};

template <class Rule>
Shape shapeOf(std::span<const at::Tensor> layers, const std::shared_ptr<const PairIndex>& pairs,
              std::span<const LayerPair> views) {
  detail::requireLayersAndViews(Rule::kName, layers, *pairs, views);
  return std::make_shared<const PairShape>(
      PairShape{pairs,
                {views.begin(), views.end()},
                layers.size(),
                static_cast<std::size_t>(layers.front().size(1))});
}

static_assert(static_cast<int>(PairEnd::kBoth) == cuda::kBothEnds);

// Rows of one end or both, and the other way round: sums by node.
at::Tensor scatterEnd(const at::Tensor& rows, const std::shared_ptr<const PairIndex>& pairs,
                      std::int64_t end);

class GatherEnd : public torch::autograd::Function<GatherEnd> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const PairIndex>& pairs, std::int64_t end) {
    detail::keep(context, "pairs", pairs);
    context->saved_data["end"] = end;
    const at::Tensor input = x.contiguous();
    const bool both = static_cast<PairEnd>(end) == PairEnd::kBoth;
    at::Tensor out =
        at::empty({static_cast<std::int64_t>(both ? 2 * pairs->size() : pairs->size()), x.size(1)},
                  x.options().requires_grad(false));
    detail::dispatchReal(
        "gatherEnd", input,
        [&]<class Real>(Real) {
          detail::gatherEndOnCpu(*pairs, static_cast<PairEnd>(end), input.data_ptr<Real>(),
                                 sizeOf(input, 1), out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::gatherEnd<Real>(stream, detail::deviceEnds(*pairs, input.device()),
                                static_cast<int>(end), input.data_ptr<Real>(), sizeOf(input, 1),
                                out.data_ptr<Real>());
        });
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {scatterEnd(gradients[0], detail::kept<PairIndex>(context, "pairs"),
                       context->saved_data["end"].toInt()),
            at::Tensor(), at::Tensor()};
  }
};

class ScatterEnd : public torch::autograd::Function<ScatterEnd> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                            const std::shared_ptr<const PairIndex>& pairs, std::int64_t end) {
    detail::keep(context, "pairs", pairs);
    context->saved_data["end"] = end;
    const at::Tensor input = rows.contiguous();
    at::Tensor out = sumsByNode(*pairs, rows);
    detail::dispatchReal(
        "scatterEnd", input,
        [&]<class Real>(Real) {
          detail::scatterEndOnCpu(*pairs, static_cast<PairEnd>(end), input.data_ptr<Real>(),
                                  sizeOf(input, 1), out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::scatterEnd<Real>(stream, detail::devicePairs(*pairs, input.device()),
                                 static_cast<int>(end), input.data_ptr<Real>(), sizeOf(input, 1),
                                 /*onto=*/false, out.data_ptr<Real>());
        });
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {GatherEnd::apply(gradients[0], detail::kept<PairIndex>(context, "pairs"),
                             context->saved_data["end"].toInt()),
            at::Tensor(), at::Tensor()};
  }
};

at::Tensor scatterEnd(const at::Tensor& rows, const std::shared_ptr<const PairIndex>& pairs,
                      std::int64_t end) {
  return ScatterEnd::apply(rows, pairs, end);
}

}  // namespace

std::vector<at::Tensor> viewPairs(std::span<const at::Tensor> layers,
                                  const std::shared_ptr<const PairIndex>& pairs,
                                  std::span<const LayerPair> views) {
  return PairViews<Elementwise>::apply(at::TensorList(layers.data(), layers.size()),
                                       shapeOf<Elementwise>(layers, pairs, views));
}

std::vector<at::Tensor> viewDots(std::span<const at::Tensor> layers,
                                 const std::shared_ptr<const PairIndex>& pairs,
                                 std::span<const LayerPair> views) {
  return PairViews<Dot>::apply(at::TensorList(layers.data(), layers.size()),
                               shapeOf<Dot>(layers, pairs, views));
}

at::Tensor gatherEnd(const at::Tensor& x, const std::shared_ptr<const PairIndex>& pairs,
                     PairEnd end) {
  detail::requireNodes("gatherEnd", x, *pairs);
  return GatherEnd::apply(x, pairs, static_cast<std::int64_t>(end));
}

at::Tensor sumByNode(const at::Tensor& rows, const std::shared_ptr<const PairIndex>& pairs) {
  invariant(rows.dim() == 2 && static_cast<std::size_t>(rows.size(0)) == 2 * pairs->size(),
            "rows of both ends of every pair");
  return scatterEnd(rows, pairs, static_cast<std::int64_t>(PairEnd::kBoth));
}

bool nearPairsPay(std::size_t nodes, std::size_t pairs, std::int64_t width, at::Device device) {
  const std::size_t least_elements = std::size_t{1} << (onDevice(device) ? 23 : 22);
  return nodes > 4 * pairs && nodes * static_cast<std::size_t>(width) >= least_elements;
}

bool nearPairsPay(const PairIndex& pairs, std::int64_t width, at::Device device) {
  return nearPairsPay(pairs.nodeCount(), pairs.size(), width, device);
}

}  // namespace edgewise
