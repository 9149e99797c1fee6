// What a trained model makes of every node: the outputs of its encoder's layers, for use elsewhere.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/stored_run.h"

namespace edgewise {

struct NodeEmbeddings {
  std::size_t nodes = 0;
  std::size_t width = 0;
  // How far the first layer looks.
  int first_hops = 1;
  // Of each layer that the model's views look at, [nodes, width] row by row.
  std::vector<std::vector<float>> layers;
};

// Over these messages. Throws ConfigError for a formula, which has none, and DataError for a model
// that is missing, damaged or another's.
[[nodiscard]] NodeEmbeddings embedNodes(const StoredRun& run, const Dataset& dataset,
                                        const MessageEdges& messages);

// Layers go by the hops they look. By the file's name: .npz (arrays layer_1, layer_2, ... of
// [nodes, width] and ids; of users and items also sides, which of the two a node is), .npy
// ([layers, nodes, width], with the ids in a file of the same name that ends in .ids.csv), or .csv
// (one row a layer and node: id, layer, x1, x2, ...; of users and items also which of the two it
// is). Files appear whole or not at all. Throws ConfigError for another name.
void writeEmbeddings(const std::filesystem::path& path, const Dataset& dataset,
                     const NodeEmbeddings& embeddings);

}  // namespace edgewise
