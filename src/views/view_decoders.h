// The decoders behind makeDecoder, one maker each.
#pragma once

#include <memory>

#include "edgewise/views/decoder.h"

namespace edgewise::detail {

[[nodiscard]] std::unique_ptr<Decoder> makeSingleViewDecoder(LayerPair view,
                                                             const DecoderContext& context,
                                                             ParameterLayout& layout);
[[nodiscard]] std::unique_ptr<Decoder> makeScoreDecoder(const SelectorOptions& options,
                                                        const DecoderContext& context,
                                                        ParameterLayout& layout);

[[nodiscard]] std::unique_ptr<Decoder> makeJkDecoder(const DecoderContext& context,
                                                     ParameterLayout& layout);
[[nodiscard]] std::unique_ptr<Decoder> makeChosenViewDecoder(const DecoderContext& context,
                                                             ParameterLayout& layout);

}  // namespace edgewise::detail
