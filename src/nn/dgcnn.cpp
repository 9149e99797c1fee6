#include "edgewise/nn/dgcnn.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/dropout.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/sort_pool.h"
#include "edgewise/ops/tangent.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// Of the convolutions along the sorted nodes: channels of the first and second, and how many
// neighbouring places the second looks at.
constexpr std::int64_t kRowChannels = 16;
constexpr std::int64_t kWindowChannels = 32;
constexpr std::int64_t kWindow = 5;

std::int64_t windowsOf(std::int64_t sorted) { return sorted / 2 - kWindow + 1; }

// x [pairs * places, channels]: the larger of each two neighbouring places, [pairs, places / 2,
// channels].
at::Tensor largerOfTwo(const at::Tensor& x, std::int64_t places) {
  const std::int64_t half = places / 2;
  const at::Tensor twos =
      x.view({-1, places, x.size(1)}).narrow(1, 0, 2 * half).reshape({-1, half, 2, x.size(1)});
  return at::maximum(twos.select(2, 0), twos.select(2, 1));
}

// x [pairs, places, channels]: what each window of places sees, [pairs * windows, window *
// channels].
at::Tensor windowsOver(const at::Tensor& x, std::int64_t windows) {
  std::vector<at::Tensor> shifted;
  for (std::int64_t place = 0; place < kWindow; ++place) {
    shifted.push_back(x.narrow(1, place, windows));
  }
  return at::cat(shifted, 2).reshape({-1, kWindow * x.size(2)});
}

}  // namespace

void DgcnnOptions::bind(OptionSet& set) {
  set.add("seal.layers", layers, {1, 8}, "seal: graph convolutions of its network");
  set.add("seal.hidden", hidden, {1, 1024}, "seal: their width");
  set.add("seal.label_width", label_width, {1, 1024}, "seal: width of a label's embedding");
  set.add("seal.sort_share", sort_share, {0.01, 1.0},
          "seal: as many nodes of each subgraph are kept as this share of subgraphs has at most");
  set.add("seal.sort_nodes", sort_nodes, {0, 100'000},
          "seal: keep so many instead; 0: by seal.sort_share");
  set.add("seal.dense", dense, {1, 4096}, "seal: width of the layer before the score");
  set.add("seal.dropout", dropout, {0.0, 0.99}, "seal: dropout there");
}

std::int64_t sortedNodes(std::vector<std::size_t> node_counts, double share) {
  if (node_counts.empty()) {
    return kFewestSortedNodes;
  }
  std::ranges::sort(node_counts);
  const double place = std::ceil(share * static_cast<double>(node_counts.size()));
  const auto last = static_cast<std::size_t>(std::max(1.0, place)) - 1;
  return std::max(kFewestSortedNodes,
                  static_cast<std::int64_t>(node_counts[std::min(last, node_counts.size() - 1)]));
}

Dgcnn::Layer Dgcnn::addLayer(ParameterLayout& layout, const std::string& name, std::int64_t in,
                             std::int64_t out, Initial bias) {
  const bool graph = bias.kind == Initial::Kind::kConstant;
  return {layout.add(name + ".weight", {in, out},
                     graph ? Initial::glorot(in, out) : Initial::fanIn(in)),
          layout.add(name + ".bias", {out}, bias)};
}

Dgcnn::Dgcnn(const DgcnnOptions& options, const Shape& shape,
             std::shared_ptr<const NodeInput> input, ParameterLayout& layout)
    : input_(std::move(input)),
      label_width_(labelWidth(shape.labels)),
      label_count_(labelCount(shape.labels)),
      sorted_(shape.sorted) {
  if (sorted_ < kFewestSortedNodes) {
    throw ConfigError(fmt::format("seal.sort_nodes={} leaves its convolutions nothing", sorted_),
                      fmt::format("keep at least {} nodes", kFewestSortedNodes));
  }
  const auto labels = static_cast<std::int64_t>(label_width_ * label_count_);
  const std::int64_t own = input_ ? input_->width() : 0;
  label_table_ = layout.add("labels.embedding", {labels, options.label_width}, Initial::normal(1));
  const Initial first = Initial::glorot(options.label_width + own, options.hidden);
  label_weight_ = layout.add("dgcnn.0.label_weight", {options.label_width, options.hidden}, first);
  if (input_) {
    input_weight_ = layout.add("dgcnn.0.input_weight", {own, options.hidden}, first);
  }
  first_bias_ = layout.add("dgcnn.0.bias", {options.hidden}, Initial::constant(0));
  for (std::int64_t i = 1; i <= options.layers; ++i) {
    layers_.push_back(addLayer(layout, fmt::format("dgcnn.{}", i), options.hidden,
                               i < options.layers ? options.hidden : 1, Initial::constant(0)));
  }
  const std::int64_t width = options.layers * options.hidden + 1;
  rows_ = addLayer(layout, "sorted.0", width, kRowChannels, Initial::fanIn(width));
  const std::int64_t window = kWindow * kRowChannels;
  windows_ = addLayer(layout, "sorted.1", window, kWindowChannels, Initial::fanIn(window));
  head_ = std::make_unique<Mlp>(
      "head", std::vector<std::int64_t>{windowsOf(sorted_) * kWindowChannels, options.dense, 1},
      options.dropout, layout);
}

SubgraphInput Dgcnn::prepare(SubgraphBatch batch) const {
  const std::size_t nodes = batch.nodes.size();
  const std::size_t each = label_width_ + (input_ ? 1 : 0);
  const std::size_t labels = label_width_ * label_count_;
  std::vector<std::uint64_t> offsets(nodes + 1);
  std::vector<std::uint32_t> columns;
  columns.reserve(nodes * each);
  for (std::size_t node = 0; node < nodes; ++node) {
    for (std::size_t place = 0; place < label_width_; ++place) {
      columns.push_back(static_cast<std::uint32_t>(place * label_count_) +
                        batch.labels[node * label_width_ + place]);
    }
    if (input_) {
      columns.push_back(static_cast<std::uint32_t>(labels) + index(batch.nodes[node]));
    }
    offsets[node + 1] = columns.size();
  }
  std::vector<float> ones(columns.size(), 1.0F);
  return {.messages = MessagePlan::make(std::move(batch.graph), Norm::kSymmetric),
          .lookup = SparseMatrix::make(
              FeatureMatrix::sparse(labels + (input_ ? input_->nodeCount() : 0), std::move(offsets),
                                    std::move(columns), std::move(ones))),
          .offsets = std::move(batch.node_offsets)};
}

// What labels and nodes bring, each times the first layer's weights.
at::Tensor Dgcnn::table(const Parameters& parameters, const Noise& noise) const {
  at::Tensor labels = product(parameters[label_table_], parameters[label_weight_]);
  if (!input_) {
    return labels;
  }
  return at::cat({labels, input_->prepare(parameters, noise).times(parameters[input_weight_])}, 0);
}

// Of each pair the kept nodes with the outputs of all layers, [pairs * sorted, width].
at::Tensor Dgcnn::pooled(const Parameters& parameters, const SubgraphInput& subgraphs,
                         const Noise& noise) const {
  const auto& messages = subgraphs.messages;
  std::vector<at::Tensor> outputs;
  outputs.push_back(hyperbolicTangent(
      aggregateOnto(messages, sparseMatmul(subgraphs.lookup, table(parameters, noise)),
                    parameters[first_bias_])));
  for (const Layer& layer : layers_) {
    outputs.push_back(hyperbolicTangent(aggregateOnto(
        messages, product(outputs.back(), parameters[layer.weight]), parameters[layer.bias])));
  }
  const at::Tensor rows = topRows(outputs.back().reshape({-1}), subgraphs.offsets, sorted_);
  for (at::Tensor& output : outputs) {
    output = pickRows(output, rows);
  }
  return at::cat(outputs, 1);
}

at::Tensor Dgcnn::logits(const Parameters& parameters, const SubgraphInput& subgraphs,
                         const Noise& noise) const {
  const at::Tensor kept = pooled(parameters, subgraphs, noise);
  const at::Tensor rows =
      reluDropout(affine(kept, parameters[rows_.weight], parameters[rows_.bias]), DropoutMask());
  const std::int64_t windows = windowsOf(sorted_);
  const at::Tensor seen =
      reluDropout(affine(windowsOver(largerOfTwo(rows, sorted_), windows),
                         parameters[windows_.weight], parameters[windows_.bias]),
                  DropoutMask());
  return head_->apply(parameters, seen.reshape({-1, windows * kWindowChannels}), noise)
      .reshape({-1});
}

}  // namespace edgewise
