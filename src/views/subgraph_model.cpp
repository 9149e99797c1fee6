#include "edgewise/views/subgraph_model.h"

#include <utility>

#include "edgewise/util/error.h"
#include "views/model_input.h"

namespace edgewise {

void SubgraphOptions::bind(OptionSet& set) {
  set.add("seal.hops", hops, {1, 5},
          "seal: hops around each end; the most of them where views are chosen by pair");
  set.add("seal.labels", labels, {"drnl", "de", "zo"},
          "seal: how nodes are labelled: by both distances in one number (drnl), by each of them "
          "(de), or as ends and others (zo)");
  set.add("seal.max_label", max_label, {1, 1'000'000}, "seal: larger drnl labels become this one");
  set.add("seal.max_distance", max_distance, {1, 1000}, "seal: longer de distances become this");
  set.add("seal.ratio", ratio, {1e-6, 1.0}, "seal: share of each hop's nodes that stays, by lot");
  set.add("seal.max_nodes", max_nodes, {0, 1'000'000'000},
          "seal: the most nodes of a hop that stay; 0: all");
  set.add("seal.train_share", train_share, {1e-6, 1.0},
          "seal: share of the training edges that it learns from; all of them carry messages");
  set.add("seal.cache", cache,
          "seal: folder to keep the subgraphs of training and validation edges in, for the next "
          "epoch and the next run; pays where they are large; empty: nothing is kept");
  set.add("seal.cache_gib", cache_gib, {1e-6, 1e6},
          "seal: the most that a graph's file there grows to");
  network.bind(set);
}

ExtractionOptions SubgraphOptions::extraction(std::uint64_t seed) const {
  ExtractionOptions options{.labels = {.labelling = parseLabelling(labels),
                                       .max_label = static_cast<std::uint32_t>(max_label),
                                       .max_distance = static_cast<std::uint32_t>(max_distance)},
                            .sampling = {.ratio = ratio, .seed = seed}};
  if (max_nodes > 0) {
    options.sampling.max_nodes = static_cast<std::size_t>(max_nodes);
  }
  return options;
}

SubgraphModel::SubgraphModel(const SubgraphOptions& options, const ModelOptions& model,
                             const NodeSide& nodes, std::int64_t sorted) {
  detail::ModelInput input{.input = nullptr, .text = "labels alone"};
  const bool bare =
      model.features == "none" || (model.features == "auto" && nodes.features.empty());
  if (!bare) {
    input = detail::makeModelInput(model, nodes, layout_);
    if (input.embedding > 0 && model.embedding_start == "spectral") {
      throw ConfigError("model.embedding_start=spectral: seal has no messages of the whole graph",
                        "choose normal, glorot or orthogonal");
    }
    input.text += " and labels";
  }
  input_text_ = std::move(input.text);
  network_ = std::make_unique<Dgcnn>(
      options.network, Dgcnn::Shape{.labels = options.extraction(0).labels, .sorted = sorted},
      std::move(input.input), layout_);
}

}  // namespace edgewise
