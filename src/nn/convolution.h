// One kind of graph convolution: its weights, and how it turns a layer into the next.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "edgewise/nn/node_input.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"

namespace edgewise::detail {

// What a layer reads, x.
struct LayerInput {
  // x * weight, whatever x is: a dense layer, or the sparse input.
  std::function<at::Tensor(const at::Tensor& weight)> times;
  // x aggregated over the messages, where that is known already; else undefined.
  at::Tensor heard;
};

// Stateless but for the ids of its weights. At all nodes it transforms before it aggregates: the
// same sum, and the sums are as narrow as the output.
class Convolution {
 public:
  Convolution() = default;
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;
  Convolution(Convolution&&) = delete;
  Convolution& operator=(Convolution&&) = delete;
  virtual ~Convolution() = default;

  [[nodiscard]] virtual at::Tensor apply(const Parameters& parameters,
                                         const std::shared_ptr<const MessagePlan>& messages,
                                         const LayerInput& x) const = 0;
  // Its rows at both ends of every pair, [2 * pairs, out]; x is [nodes, in]. Aggregates before it
  // transforms: there are fewer rows to transform then.
  [[nodiscard]] virtual at::Tensor applyAt(const Parameters& parameters,
                                           const std::shared_ptr<const MessagePlan>& messages,
                                           const at::Tensor& x,
                                           const std::shared_ptr<const PairIndex>& pairs) const = 0;
};

// The rows of a layer [nodes, width] at both ends of every pair; all of them where `ends` is null.
[[nodiscard]] at::Tensor rowsAt(const at::Tensor& x, const std::shared_ptr<const PairIndex>& ends);

// Throws ShapeError for messages among another number of nodes.
void requireNodes(const MessagePlan& messages, const NodeInput& input);

// Where a convolution's weights go and how large they are.
struct ConvolutionShape {
  std::string name;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

// D^-1/2 (A + I) D^-1/2 x W + b; initialised as PyG's GCNConv.
[[nodiscard]] std::unique_ptr<Convolution> makeGcnConvolution(const ConvolutionShape& shape,
                                                              ParameterLayout& layout);
// mean of the neighbours' x W_neighbours + x W_self + b; initialised as PyG's SAGEConv.
[[nodiscard]] std::unique_ptr<Convolution> makeSageConvolution(const ConvolutionShape& shape,
                                                               ParameterLayout& layout);

}  // namespace edgewise::detail
