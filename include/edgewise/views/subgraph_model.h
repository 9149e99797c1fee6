// SEAL as a model: a pair is scored by the network that reads its enclosing subgraph. Beside
// LinkModel, which encodes the whole graph once for all pairs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "edgewise/nn/dgcnn.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/util/options.h"
#include "edgewise/views/link_model.h"

namespace edgewise {

struct SubgraphOptions {
  // Views reach up to so many hops around each end.
  std::int64_t hops = 2;
  std::string labels = "drnl";
  std::int64_t max_label = 100;
  std::int64_t max_distance = 3;
  double ratio = 1;
  // Of a hop; 0: all.
  std::int64_t max_nodes = 0;
  double train_share = 1;
  // Where subgraphs are kept; empty: nowhere.
  std::string cache;
  double cache_gib = 8;
  DgcnnOptions network;

  void bind(OptionSet& set);
  [[nodiscard]] ExtractionOptions extraction(std::uint64_t seed) const;
};

class SubgraphModel {
 public:
  // `sorted`: nodes kept of each subgraph. Nodes bring features or an embedding as the model's
  // options say, and their labels alone where those say neither. Throws ConfigError for options
  // that do not go together.
  SubgraphModel(const SubgraphOptions& options, const ModelOptions& model, const NodeSide& nodes,
                std::int64_t sorted);

  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] const Dgcnn& network() const { return *network_; }
  // What nodes bring, in words.
  [[nodiscard]] const std::string& inputText() const { return input_text_; }

 private:
  ParameterLayout layout_;
  std::string input_text_;
  std::unique_ptr<Dgcnn> network_;
};

}  // namespace edgewise
