#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/device.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_pairs.h"
#include "nn/convolution.h"

namespace edgewise::detail {
namespace {

class SageConvolution final : public Convolution {
 public:
  SageConvolution(const ConvolutionShape& shape, ParameterLayout& layout)
      : neighbours_(layout.add(shape.name + ".neighbours.weight", {shape.in, shape.out},
                               Initial::fanIn(shape.in))),
        own_(layout.add(shape.name + ".self.weight", {shape.in, shape.out},
                        Initial::fanIn(shape.in))),
        bias_(layout.add(shape.name + ".bias", {shape.out}, Initial::fanIn(shape.in))) {}

  [[nodiscard]] at::Tensor apply(const Parameters& parameters,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 const LayerInput& x) const override {
    if (x.heard.defined()) {
      return affine(x.heard, parameters[neighbours_], parameters[bias_]) +
             x.times(parameters[own_]);
    }
    at::Tensor h = x.times(parameters[neighbours_]);
    if (onDevice(h)) {
      return aggregateOnto(messages, h, parameters[bias_], x.times(parameters[own_]));
    }
    // One statement a step, so that on large graphs no matrix lives longer than it must.
    h = aggregate(messages, h);
    h = h + x.times(parameters[own_]);
    return addBias(h, parameters[bias_]);
  }

  [[nodiscard]] at::Tensor applyAt(const Parameters& parameters,
                                   const std::shared_ptr<const MessagePlan>& messages,
                                   const at::Tensor& x,
                                   const std::shared_ptr<const PairIndex>& pairs) const override {
    return affine(aggregateEnds(messages, x, pairs), parameters[neighbours_], parameters[bias_]) +
           product(gatherEnd(x, pairs, PairEnd::kBoth), parameters[own_]);
  }

 private:
  ParameterId neighbours_;
  ParameterId own_;
  ParameterId bias_;
};

}  // namespace

std::unique_ptr<Convolution> makeSageConvolution(const ConvolutionShape& shape,
                                                 ParameterLayout& layout) {
  return std::make_unique<SageConvolution>(shape, layout);
}

}  // namespace edgewise::detail
