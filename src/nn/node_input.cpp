#include "edgewise/nn/node_input.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <cmath>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/device.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/ops/leading_vectors.h"
#include "edgewise/ops/product.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// Each row divided by the sum of its absolute values; rows of zeros stay.
FeatureMatrix withNormalisedRows(const FeatureMatrix& features) {
  std::vector<float> values(features.values().begin(), features.values().end());
  const auto normalise = [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += std::abs(static_cast<double>(values[i]));
    }
    for (std::size_t i = begin; sum > 0 && i < end; ++i) {
      values[i] = static_cast<float>(values[i] / sum);
    }
  };
  for (std::size_t row = 0; row < features.rows(); ++row) {
    if (features.isSparse()) {
      normalise(features.rowOffsets()[row], features.rowOffsets()[row + 1]);
    } else {
      normalise(row * features.columns(), (row + 1) * features.columns());
    }
  }
  if (!features.isSparse()) {
    return FeatureMatrix::dense(features.rows(), features.columns(), std::move(values));
  }
  return FeatureMatrix::sparse(
      features.columns(), {features.rowOffsets().begin(), features.rowOffsets().end()},
      {features.columnIndices().begin(), features.columnIndices().end()}, std::move(values));
}

at::Tensor denseTensor(const FeatureMatrix& features) {
  at::Tensor tensor = at::empty(
      {static_cast<std::int64_t>(features.rows()), static_cast<std::int64_t>(features.columns())},
      at::TensorOptions(at::kFloat));
  std::copy(features.values().begin(), features.values().end(), tensor.data_ptr<float>());
  return tensor;
}

at::Tensor halves(const at::Tensor& features) {
  at::Tensor rounded = features.to(at::kHalf);
  if (!at::isfinite(rounded).all().item<bool>()) {
    throw ConfigError("model.feature_precision=half: a feature is too large (beyond 65,504)",
                      "set model.normalise_features=true, or model.feature_precision=single");
  }
  return rounded;
}

Initial startOf(const std::string& start, std::int64_t rows, std::int64_t width) {
  constexpr double kDeviation = 0.1;
  // Enough to tell apart what the graph does not.
  constexpr double kNoise = 0.01;
  if (start == "orthogonal") {
    return Initial::orthogonal();
  }
  if (start == "spectral") {
    return Initial::normal(kNoise);
  }
  return start == "normal" ? Initial::normal(kDeviation) : Initial::glorot(rows, width);
}

}  // namespace

at::Tensor PreparedInput::times(const at::Tensor& weight) const {
  const bool features = sparse_ != nullptr || dense_.defined();
  const std::int64_t own = embedding_.defined() ? embedding_.size(1) : 0;
  const std::int64_t rest = weight.size(0) - own;
  at::Tensor result;
  if (features) {
    const at::Tensor part = own > 0 ? weight.narrow(0, 0, rest) : weight;
    if (sparse_ != nullptr) {
      result = sparseMatmul(sparse_, part);
    } else {
      const bool half = dense_.scalar_type() == at::kHalf;
      result = product(half ? dense_ : dense_.to(weight.scalar_type()), part);
    }
  }
  if (own > 0) {
    const at::Tensor part = features ? weight.narrow(0, rest, own) : weight;
    const at::Tensor embedded = product(embedding_, part);
    result = result.defined() ? result + embedded : embedded;
  }
  return result;
}

NodeInput::NodeInput(const FeatureMatrix& features, std::size_t nodes,
                     const NodeInputOptions& options, ParameterLayout& layout)
    : nodes_(nodes), options_(options) {
  if (features.empty() && options.embedding == 0) {
    throw ConfigError("the nodes have neither features nor a learned embedding",
                      "set model.embedding to a width, for example 64");
  }
  if (!features.empty() && features.rows() != nodes) {
    throw ShapeError(fmt::format("{} rows of features for {} nodes", features.rows(), nodes));
  }
  if (!features.empty()) {
    const FeatureMatrix own = options.normalise_rows ? withNormalisedRows(features) : features;
    feature_width_ = static_cast<std::int64_t>(own.columns());
    if (own.isSparse()) {
      sparse_ = SparseMatrix::make(own);
    } else {
      dense_ = options.half ? halves(denseTensor(own)) : denseTensor(own);
    }
  }
  if (options.embedding > 0) {
    const auto rows = static_cast<std::int64_t>(nodes);
    embedding_ = layout.add("input.embedding", {rows, options.embedding},
                            startOf(options.start, rows, options.embedding));
  }
}

at::Tensor NodeInput::denseOn(at::Device device) const {
  const std::scoped_lock lock(mutex_);
  if (!dense_there_.defined() || dense_there_.device() != device) {
    dense_there_ = dense_.to(device);
  }
  return dense_there_;
}

at::Tensor NodeInput::heard(const Parameters& parameters,
                            const std::shared_ptr<const MessagePlan>& messages,
                            const Noise& noise) const {
  if (!onDevice(parameters.flat()) || feature_width_ == 0 || feature_width_ > kWidestHeard ||
      embedding_ || messages->isMasked() || !noise.mask("input", options_.dropout).keepsAll()) {
    return {};
  }
  const at::Tensor& like = parameters.flat();
  const at::Tensor dense = dense_.defined() ? denseOn(like.device()) : at::Tensor();
  const std::scoped_lock lock(mutex_);
  std::erase_if(heard_, [](const Heard& each) { return each.messages.expired(); });
  for (const Heard& each : heard_) {
    if (each.messages.lock() == messages && each.sum.scalar_type() == like.scalar_type() &&
        each.sum.device() == like.device()) {
      return each.sum;
    }
  }
  const WithoutGradients guard;
  // Sparse features become a matrix by a product with the identity.
  const at::Tensor x = dense.defined()
                           ? dense.to(like.scalar_type())
                           : sparseMatmul(sparse_, at::eye(feature_width_, like.options()));
  heard_.push_back({messages, aggregate(messages, x)});
  return heard_.back().sum;
}

void NodeInput::begin(const Parameters& parameters, const MessagePlan& messages, std::uint64_t seed,
                      ProgressSink& progress) const {
  if (!embedding_ || options_.start != "spectral") {
    return;
  }
  const WithoutGradients guard;
  const at::Tensor& embedding = parameters[*embedding_];
  const LeadingVectors leading =
      leadingVectors(MessagePlan::make(messages.rows(), Norm::kSymmetricOpen), options_.embedding,
                     seed, embedding.device(), progress);
  // Entries of about this size where the eigenvalue is 1. Products of two nodes' rows are then what
  // one propagation would make of them, on the scale of a logit.
  constexpr double kSize = 0.3;
  const at::Tensor sizes =
      leading.values.clamp_min(0).sqrt() * (kSize * std::sqrt(static_cast<double>(nodes_)));
  embedding.narrow(1, 0, sizes.size(0)).add_((leading.vectors * sizes).to(embedding.dtype()));
}

PreparedInput NodeInput::prepare(const Parameters& parameters, const Noise& noise) const {
  const DropoutMask mask = noise.mask("input", options_.dropout);
  PreparedInput input;
  if (sparse_ != nullptr) {
    input.sparse_ = mask.keepsAll()               ? sparse_
                    : onDevice(parameters.flat()) ? sparse_->droppedOnDevice(mask)
                                                  : sparse_->dropped(mask);
  }
  if (dense_.defined()) {
    const at::Tensor dense = denseOn(parameters.flat().device());
    input.dense_ = mask.keepsAll() ? dense : dropout(dense.to(at::kFloat), mask);
  }
  if (embedding_) {
    input.embedding_ =
        dropout(parameters[*embedding_], noise.mask("input.embedding", options_.dropout));
  }
  return input;
}

}  // namespace edgewise
