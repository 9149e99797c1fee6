// What a node brings to the first layer: its features, a learned embedding, or both.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/nn/noise.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/sparse_matrix.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct NodeInputOptions {
  // Width of the learned embedding; 0: none.
  std::int64_t embedding = 0;
  // Rows of the features are divided by their sums of absolute values.
  bool normalise_rows = false;
  // Dense features are kept in half precision.
  bool half = false;
  // Share of the inputs that dropout takes.
  double dropout = 0;
  // How the embedding starts: "glorot", "normal" (deviation 0.1), "orthogonal" (at right angles) or
  // "spectral" (what propagation over the messages keeps longest).
  std::string start = "glorot";
};

// The input of one forward pass, dropout applied.
class PreparedInput {
 public:
  // input [nodes, width] * weight [width, out].
  [[nodiscard]] at::Tensor times(const at::Tensor& weight) const;
  // The learned part, [nodes, embedding]; undefined where there is none.
  [[nodiscard]] const at::Tensor& embedding() const { return embedding_; }

 private:
  friend class NodeInput;
  std::shared_ptr<const SparseMatrix> sparse_;
  at::Tensor dense_;
  at::Tensor embedding_;
};

class NodeInput {
 public:
  // Copies the features; declares the embedding where asked for. Throws ConfigError when there is
  // neither, ShapeError when the features are those of another number of nodes.
  NodeInput(const FeatureMatrix& features, std::size_t nodes, const NodeInputOptions& options,
            ParameterLayout& layout);

  [[nodiscard]] std::int64_t width() const { return feature_width_ + options_.embedding; }
  [[nodiscard]] std::size_t nodeCount() const { return nodes_; }
  // Whether nodes bring an embedding and nothing else.
  [[nodiscard]] bool isEmbedding() const { return feature_width_ == 0; }
  // The embedding as it is learned, [nodes, embedding]; undefined where there is none.
  [[nodiscard]] at::Tensor embedding(const Parameters& parameters) const {
    return embedding_ ? parameters[*embedding_] : at::Tensor();
  }
  // Gives starting values that follow from the messages, where the embedding asks for such; `seed`
  // is that of the others.
  void begin(const Parameters& parameters, const MessagePlan& messages, std::uint64_t seed,
             ProgressSink& progress = silentProgress()) const;
  [[nodiscard]] PreparedInput prepare(const Parameters& parameters, const Noise& noise) const;
  // On a device the input aggregated over these messages, where it is the same at every step:
  // features and nothing else, no wider than kWidestHeard, no dropout, nothing masked. It is then
  // computed once for each plan. Undefined otherwise.
  static constexpr std::int64_t kWidestHeard = 512;
  [[nodiscard]] at::Tensor heard(const Parameters& parameters,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 const Noise& noise) const;

 private:
  std::size_t nodes_;
  NodeInputOptions options_;
  std::int64_t feature_width_ = 0;
  [[nodiscard]] at::Tensor denseOn(at::Device device) const;

  std::shared_ptr<const SparseMatrix> sparse_;
  at::Tensor dense_;
  std::optional<ParameterId> embedding_;
  // The dense features where they were last asked for.
  mutable std::mutex mutex_;
  mutable at::Tensor dense_there_;
  // Aggregates, with the messages they are of. Those of plans that are gone are let go.
  struct Heard {
    std::weak_ptr<const MessagePlan> messages;
    at::Tensor sum;
  };
  mutable std::vector<Heard> heard_;
};

}  // namespace edgewise
