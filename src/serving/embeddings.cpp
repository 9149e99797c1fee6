#include "edgewise/serving/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "edgewise/data/npy.h"
#include "edgewise/data/npz_writer.h"
#include "edgewise/nn/noise.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

NodeId nodeAt(std::size_t place) { return NodeId{static_cast<std::uint32_t>(place)}; }

// "user", "item", or nothing where nodes are all of one kind.
std::string sideOf(const Dataset& dataset, std::size_t node) {
  if (!dataset.bipartite) {
    return "";
  }
  return node < dataset.bipartite->users ? "user" : "item";
}

void writeIds(const std::filesystem::path& path, const Dataset& dataset) {
  AtomicFile file(path);
  file.write(dataset.bipartite ? "row,id,side\n" : "row,id\n");
  for (std::size_t node = 0; node < dataset.node_count; ++node) {
    file.write(fmt::format("{},{}", node, csvField(dataset.nodeLabel(nodeAt(node)))));
    file.write(dataset.bipartite ? "," + sideOf(dataset, node) + "\n" : "\n");
  }
  file.commit();
}

// How far it looks, in hops.
int layerName(const NodeEmbeddings& embeddings, std::size_t layer) {
  return embeddings.first_hops + static_cast<int>(layer);
}

void writeCsv(const std::filesystem::path& path, const Dataset& dataset,
              const NodeEmbeddings& embeddings) {
  AtomicFile file(path);
  std::string line = dataset.bipartite ? "id,side,layer" : "id,layer";
  for (std::size_t k = 0; k < embeddings.width; ++k) {
    fmt::format_to(std::back_inserter(line), ",x{}", k + 1);
  }
  file.write(line + "\n");
  for (std::size_t layer = 0; layer < embeddings.layers.size(); ++layer) {
    for (std::size_t node = 0; node < embeddings.nodes; ++node) {
      line = csvField(dataset.nodeLabel(nodeAt(node)));
      if (dataset.bipartite) {
        line += "," + sideOf(dataset, node);
      }
      fmt::format_to(std::back_inserter(line), ",{}", layerName(embeddings, layer));
      const float* values = embeddings.layers[layer].data() + node * embeddings.width;
      for (std::size_t k = 0; k < embeddings.width; ++k) {
        fmt::format_to(std::back_inserter(line), ",{}", values[k]);
      }
      file.write(line + "\n");
    }
  }
  file.commit();
}

void writeNpz(const std::filesystem::path& path, const Dataset& dataset,
              const NodeEmbeddings& embeddings) {
  NpzWriter file(path);
  const std::size_t shape[] = {embeddings.nodes, embeddings.width};
  for (std::size_t layer = 0; layer < embeddings.layers.size(); ++layer) {
    file.add(fmt::format("layer_{}", layerName(embeddings, layer)), shape,
             embeddings.layers[layer]);
  }
  std::vector<std::string> ids;
  ids.reserve(embeddings.nodes);
  for (std::size_t node = 0; node < embeddings.nodes; ++node) {
    ids.push_back(dataset.nodeLabel(nodeAt(node)));
  }
  file.add("ids", ids);
  if (dataset.bipartite) {
    std::vector<std::string> sides;
    sides.reserve(embeddings.nodes);
    for (std::size_t node = 0; node < embeddings.nodes; ++node) {
      sides.push_back(sideOf(dataset, node));
    }
    file.add("sides", sides);
  }
  file.close();
}

void writeNpyAndIds(const std::filesystem::path& path, const Dataset& dataset,
                    const NodeEmbeddings& embeddings) {
  std::vector<float> all;
  for (const std::vector<float>& layer : embeddings.layers) {
    all.insert(all.end(), layer.begin(), layer.end());
  }
  const std::size_t shape[] = {embeddings.layers.size(), embeddings.nodes, embeddings.width};
  std::filesystem::path ids = path;
  writeIds(ids.replace_extension(".ids.csv"), dataset);
  writeNpy(path, shape, all);
}

}  // namespace

NodeEmbeddings embedNodes(const StoredRun& run, const Dataset& dataset,
                          const MessageEdges& messages) {
  if (isHeuristic(run.options.model)) {
    throw ConfigError(fmt::format("{}: {} is a formula and has no embeddings", run.folder.string(),
                                  run.options.model),
                      "export a run of a trained model, such as --model gae");
  }
  if (readsSubgraphs(run.options)) {
    throw ConfigError(fmt::format("{}: {} reads what lies around each pair and has no embeddings "
                                  "of nodes",
                                  run.folder.string(), run.options.model),
                      "export a run of a model that encodes nodes, such as --model gae");
  }
  const LinkModel model = makeModel(dataset, run.options);
  const ModelWeights weights =
      readModel(run.folder, model, {run.options, run.data_hash, run.split_hash});
  const WithoutGradients guard;
  const LayerOutputs layers = model.encode(
      weights.model, planMessages(model, dataset, messages, run.options.network.edge_weights),
      Noise());
  NodeEmbeddings embeddings;
  embeddings.nodes = dataset.node_count;
  embeddings.first_hops = model.encoder().firstHops();
  for (const at::Tensor& layer : layers) {
    const at::Tensor values = layer.to(at::kFloat).contiguous();
    embeddings.width = static_cast<std::size_t>(values.size(1));
    embeddings.layers.emplace_back(values.data_ptr<float>(),
                                   values.data_ptr<float>() + values.numel());
  }
  return embeddings;
}

void writeEmbeddings(const std::filesystem::path& path, const Dataset& dataset,
                     const NodeEmbeddings& embeddings) {
  const std::string ending = lowerCase(path.extension().string());
  if (ending == ".npz") {
    writeNpz(path, dataset, embeddings);
  } else if (ending == ".npy") {
    writeNpyAndIds(path, dataset, embeddings);
  } else if (ending == ".csv") {
    writeCsv(path, dataset, embeddings);
  } else {
    throw ConfigError(fmt::format("--embeddings: '{}' is no name of a known form", path.string()),
                      "end it in .npz, .npy or .csv");
  }
}

}  // namespace edgewise
