// Encoders of recommenders: users and items start from learned embeddings and meet in layers.
#pragma once

#include <memory>
#include <string>

#include "edgewise/nn/encoder.h"

namespace edgewise::detail {

// h^k = L h^(k-1), L the symmetric normalised adjacency without self-loops: nothing but
// propagation. One output, the layers' sum by options.layerWeights(), unless options.readout is
// "none".
[[nodiscard]] std::unique_ptr<Encoder> makeLightGcn(const EncoderOptions& options,
                                                    std::shared_ptr<const NodeInput> input);

// h^k = leaky((L + I) h W1 + b1 + (L h * h) W2 + b2) of h = h^(k-1), then dropout; with
// options.normalise_layers every output is scaled to length 1 for whoever looks at it. One output,
// the embedding and all layers side by side, unless options.readout is "none".
[[nodiscard]] std::unique_ptr<Encoder> makeNgcf(const EncoderOptions& options,
                                                std::shared_ptr<const NodeInput> input,
                                                ParameterLayout& layout);

}  // namespace edgewise::detail
