#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/product.h"
#include "nn/convolution.h"

namespace edgewise::detail {
namespace {

class GcnConvolution final : public Convolution {
 public:
  GcnConvolution(const ConvolutionShape& shape, ParameterLayout& layout)
      : weight_(layout.add(shape.name + ".weight", {shape.in, shape.out},
                           Initial::glorot(shape.in, shape.out))),
        bias_(layout.add(shape.name + ".bias", {shape.out}, Initial::constant(0))) {}

  [[nodiscard]] at::Tensor apply(const Parameters& parameters,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 const LayerInput& x) const override {
    return x.heard.defined()
               ? affine(x.heard, parameters[weight_], parameters[bias_])
               : aggregateOnto(messages, x.times(parameters[weight_]), parameters[bias_]);
  }

  [[nodiscard]] at::Tensor applyAt(const Parameters& parameters,
                                   const std::shared_ptr<const MessagePlan>& messages,
                                   const at::Tensor& x,
                                   const std::shared_ptr<const PairIndex>& pairs) const override {
    return affine(aggregateEnds(messages, x, pairs), parameters[weight_], parameters[bias_]);
  }

 private:
  ParameterId weight_;
  ParameterId bias_;
};

}  // namespace

std::unique_ptr<Convolution> makeGcnConvolution(const ConvolutionShape& shape,
                                                ParameterLayout& layout) {
  return std::make_unique<GcnConvolution>(shape, layout);
}

}  // namespace edgewise::detail
