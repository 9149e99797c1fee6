#include "edgewise/views/decoder.h"

#include <fmt/format.h>

#include "edgewise/util/error.h"
#include "edgewise/util/text.h"
#include "views/view_decoders.h"

namespace edgewise {
namespace {

constexpr std::string_view kFixed = "fixed:";

[[noreturn]] void throwBadFixed(const std::string& kind, int first_hops) {
  const std::string range =
      first_hops > 1 ? fmt::format(" from {} hops on (model.first_depth)", first_hops) : "";
  throw ConfigError(fmt::format("selector.kind: '{}' is not a view{}", kind, range),
                    fmt::format("write fixed:I,J with depths from {}, for example fixed:{},{}",
                                first_hops, first_hops, first_hops + 1));
}

std::uint32_t depthFrom(std::string_view text, const std::string& kind, int first_hops) {
  if (text.size() != 1 || text[0] < '0' + first_hops || text[0] > '9') {
    throwBadFixed(kind, first_hops);
  }
  return static_cast<std::uint32_t>(text[0] - '0' - first_hops);
}

}  // namespace

std::vector<at::Tensor> Decoder::logitsByView(const Parameters&, const LayerOutputs&,
                                              const std::shared_ptr<const PairIndex>&) const {
  return {};
}

std::optional<ScoreFactors> Decoder::factors(const Parameters&, const LayerOutputs&) const {
  return std::nullopt;
}

at::Tensor Decoder::mixtureScores(const Parameters&) const { return {}; }

std::vector<ScoreTerm> Decoder::scoreTerms(const Parameters&) const { return {}; }

at::Tensor Decoder::mixtureLoss(const Parameters&, const LayerOutputs&, const PairBatch&,
                                const ViewMixture&, const Noise&) const {
  invariant(false, "this decoder does not choose among views");
  return {};
}

std::optional<LayerPair> fixedView(const std::string& kind, int first_hops) {
  if (!kind.starts_with("fixed")) {
    return std::nullopt;
  }
  if (!kind.starts_with(kFixed)) {
    throwBadFixed(kind, first_hops);
  }
  const auto parts = splitText(std::string_view(kind).substr(kFixed.size()), ',');
  if (parts.size() != 2) {
    throwBadFixed(kind, first_hops);
  }
  return LayerPair{depthFrom(trimmed(parts[0]), kind, first_hops),
                   depthFrom(trimmed(parts[1]), kind, first_hops)};
}

std::vector<LayerPair> allViews(std::size_t depth) {
  std::vector<LayerPair> views;
  for (std::uint32_t i = 0; i < depth; ++i) {
    for (std::uint32_t j = 0; j < depth; ++j) {
      views.push_back({i, j});
    }
  }
  return views;
}

std::unique_ptr<Decoder> makeDecoder(const SelectorOptions& options, const DecoderContext& context,
                                     ParameterLayout& layout) {
  if (const auto view = fixedView(options.kind, context.first_hops)) {
    if (view->source >= context.depth || view->target >= context.depth) {
      throw ConfigError(
          fmt::format("selector.kind: {} looks deeper than the model, which has {} layers",
                      options.kind, context.first_hops + static_cast<int>(context.depth) - 1),
          "raise model.layers, or choose a view within them");
    }
    return detail::makeSingleViewDecoder(*view, context, layout);
  }
  if (options.kind == "none") {
    const auto last = static_cast<std::uint32_t>(context.depth - 1);
    return detail::makeSingleViewDecoder({last, last}, context, layout);
  }
  if (options.scoresViewsApart()) {
    return detail::makeScoreDecoder(options, context, layout);
  }
  if (options.kind == "jk") {
    return detail::makeJkDecoder(context, layout);
  }
  if (options.choosesByPair()) {
    return detail::makeChosenViewDecoder(context, layout);
  }
  throw ConfigError(fmt::format("selector.kind: no selector is called '{}'", options.kind),
                    "known: none, fixed:I,J, mean, jk, rs, ps2, oracle");
}

}  // namespace edgewise
