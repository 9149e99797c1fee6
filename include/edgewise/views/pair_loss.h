// What training minimises, from the scores of a batch's pairs.
//
//   bce      each pair by itself: is it a link or not
//   bpr      each negative against its positive: the positive shall score higher (Rendle et al.)
//   softmax  each positive among all its negatives: the sampled softmax
//   batch    each positive among the targets of all positives of its batch
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "edgewise/util/options.h"
#include "edgewise/views/pair_batch.h"

namespace edgewise {

struct LossOptions {
  std::string kind = "bce";
  double temperature = 1;
  // On the embeddings that a batch uses.
  double embedding_l2 = 0;
  void bind(OptionSet& set);
  // Whether negatives belong to positives.
  [[nodiscard]] bool comparesPairs() const { return kind == "bpr" || kind == "softmax"; }
  // Whether positives are compared with one another instead; negatives then count nothing.
  [[nodiscard]] bool comparesBatch() const { return kind == "batch"; }
};

// Of scores [pairs] -> [], a mean over the pairs, the negatives or the positives, by kind.
// Differentiable twice. Throws ShapeError when negatives are to be compared and not every positive
// has as many.
[[nodiscard]] at::Tensor pairLoss(const LossOptions& options, const at::Tensor& scores,
                                  const PairBatch& batch);

// Of positives whose score is the product of their rows, sources and targets [positives, width]:
// the mean over them of how little each stands out among all targets. Targets that are the same
// node each count. Differentiable twice.
[[nodiscard]] at::Tensor batchLoss(const at::Tensor& sources, const at::Tensor& targets,
                                   double temperature);

}  // namespace edgewise
