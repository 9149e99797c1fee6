// Encoders: from nodes and messages to a representation at every depth. All layers' outputs are
// kept, because a view of a pair may look at any of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/nn/node_input.h"
#include "edgewise/nn/noise.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"
#include "edgewise/util/options.h"

namespace edgewise {

// h^1 .. h^K, each [nodes, width].
using LayerOutputs = std::vector<at::Tensor>;

struct EncoderOptions {
  std::int64_t layers = 3;
  std::int64_t hidden = 32;
  double dropout = 0.5;
  std::string norm = "none";
  bool residual = false;
  std::string layer_output = "before";
  std::string activation = "relu";
  double initial_residual = 0;
  // Layers before this one are computed, but no view ends at them.
  std::int64_t first_depth = 1;
  // Of recommenders.
  bool depth_zero = false;
  bool normalise_layers = false;
  std::string readout = "auto";
  std::string layer_weights = "equal";
  void bind(OptionSet& set);
  // Of each layer from 0 to `layers` in a weighted sum of them. Throws ConfigError for anything but
  // "equal" or as many numbers, not all of them 0.
  [[nodiscard]] std::vector<double> layerWeights() const;
  // Throws ConfigError for a first depth beyond the last, or two of them.
  void checkDepths() const;
};

// Whether an encoder of this name is one of recommenders, which learn an embedding of every node as
// wide as their layers and look at no features.
[[nodiscard]] bool isRecommender(std::string_view kind);

class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  Encoder(Encoder&&) = delete;
  Encoder& operator=(Encoder&&) = delete;
  virtual ~Encoder() = default;

  // The first `depth` layers over these messages (a plan made with norm()). Throws ShapeError for a
  // plan over another number of nodes.
  [[nodiscard]] virtual LayerOutputs encode(const Parameters& parameters,
                                            const std::shared_ptr<const MessagePlan>& messages,
                                            const Noise& noise, std::size_t depth) const = 0;
  // The same layers at both ends of every pair alone, [2 * pairs, width] each: row 2 * p of a
  // source, 2 * p + 1 of a target. What no end needs is not computed where that is known.
  [[nodiscard]] virtual LayerOutputs encodeEnds(
      const Parameters& parameters, const std::shared_ptr<const MessagePlan>& messages,
      const Noise& noise, std::size_t depth, const std::shared_ptr<const PairIndex>& pairs) const;
  // How messages are to be summed.
  [[nodiscard]] virtual Norm norm() const = 0;
  // Layers that are kept: K, one more where nodes themselves are, fewer where the first are not.
  [[nodiscard]] virtual std::size_t depth() const = 0;
  // How far the first of them looks.
  [[nodiscard]] virtual int firstHops() const { return 1; }
  // Of every layer's output.
  [[nodiscard]] virtual std::int64_t width() const = 0;
};

// "gae" (graph convolutions, Kipf and Welling), "sage" (GraphSAGE with means), "lightgcn" or
// "ngcf". The latter two give one output that stands for all their layers, 0 included (a weighted
// sum of lightgcn's, ngcf's side by side), or with options.readout "none" the layers themselves.
// Throws ConfigError for another name or options that do not fit.
[[nodiscard]] std::unique_ptr<Encoder> makeEncoder(const std::string& kind,
                                                   const EncoderOptions& options,
                                                   std::shared_ptr<const NodeInput> input,
                                                   ParameterLayout& layout);

}  // namespace edgewise
