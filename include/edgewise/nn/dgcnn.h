// DGCNN (Zhang et al. 2018), the network by which SEAL classifies the enclosing subgraph of a pair:
// graph convolutions with tanh, the nodes sorted by what the last of them says, as many of each
// subgraph kept, and convolutions along their order.
//
// A batch of subgraphs is one graph. What a node brings to the first layer is its label's row of a
// table and its own of another, both of which are multiplied by the first layer's weights before
// they are looked up: a node of the graph occurs in many subgraphs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "edgewise/nn/node_input.h"
#include "edgewise/nn/noise.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/nn/predictor.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/sparse_matrix.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/util/options.h"

namespace edgewise {

struct DgcnnOptions {
  // Graph convolutions, each as wide as `hidden`; one more of width 1 gives the order.
  std::int64_t layers = 3;
  std::int64_t hidden = 32;
  // Width of a label's embedding.
  std::int64_t label_width = 32;
  // Of the nodes that are kept, this share of subgraphs has no more; or so many.
  double sort_share = 0.6;
  std::int64_t sort_nodes = 0;
  // Width of the dense layer before the score, and dropout there.
  std::int64_t dense = 128;
  double dropout = 0.5;
  void bind(OptionSet& set);
};

// Fewer nodes would leave the convolutions nothing.
inline constexpr std::int64_t kFewestSortedNodes = 10;

// Nodes to keep of each subgraph, where subgraphs have so many: the count that a share of them does
// not exceed, at least kFewestSortedNodes.
[[nodiscard]] std::int64_t sortedNodes(std::vector<std::size_t> node_counts, double share);

// A batch as the network reads it; made on the CPU, by any thread.
struct SubgraphInput {
  std::shared_ptr<const MessagePlan> messages;
  // [nodes, labels + nodes of the graph]: what each node looks up in the tables.
  std::shared_ptr<const SparseMatrix> lookup;
  // Where each pair's nodes begin, with the number of all at the end.
  std::vector<std::uint64_t> offsets;

  [[nodiscard]] std::size_t pairCount() const { return offsets.size() - 1; }
};

class Dgcnn {
 public:
  struct Shape {
    // How nodes are labelled.
    LabelOptions labels = {};
    // Nodes kept of each subgraph.
    std::int64_t sorted = kFewestSortedNodes;
  };

  // `input` is null where nodes bring nothing but their labels.
  Dgcnn(const DgcnnOptions& options, const Shape& shape, std::shared_ptr<const NodeInput> input,
        ParameterLayout& layout);

  // Of each subgraph; about what the larger ones have, unless the options name a number.
  [[nodiscard]] std::int64_t keptNodes() const { return sorted_; }
  // Takes the batch over.
  [[nodiscard]] SubgraphInput prepare(SubgraphBatch batch) const;
  // One a pair, [pairs].
  [[nodiscard]] at::Tensor logits(const Parameters& parameters, const SubgraphInput& subgraphs,
                                  const Noise& noise) const;

 private:
  struct Layer {
    ParameterId weight{};
    ParameterId bias{};
  };
  static Layer addLayer(ParameterLayout& layout, const std::string& name, std::int64_t in,
                        std::int64_t out, Initial bias);
  [[nodiscard]] at::Tensor table(const Parameters& parameters, const Noise& noise) const;
  [[nodiscard]] at::Tensor pooled(const Parameters& parameters, const SubgraphInput& subgraphs,
                                  const Noise& noise) const;

  std::shared_ptr<const NodeInput> input_;
  // Numbers a node is labelled by, and how many there are of each.
  std::size_t label_width_;
  std::size_t label_count_;
  std::int64_t sorted_;
  ParameterId label_table_{};
  ParameterId label_weight_{};
  ParameterId input_weight_{};
  ParameterId first_bias_{};
  // After the first.
  std::vector<Layer> layers_;
  Layer rows_;
  Layer windows_;
  std::unique_ptr<Mlp> head_;
};

}  // namespace edgewise
