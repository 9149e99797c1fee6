#include "edgewise/views/pair_loss.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "edgewise/ops/product.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// The scores of a batch by positive: its own [positives], its negatives' [positives, each].
struct Compared {
  at::Tensor positive;
  at::Tensor negative;
};

Compared byPositive(const at::Tensor& scores, const PairBatch& batch) {
  const auto positives = static_cast<std::int64_t>(batch.positives);
  const std::int64_t negatives = scores.size(0) - positives;
  if (positives < 1 || negatives < positives || negatives % positives != 0) {
    throw ShapeError(
        fmt::format("{} negatives cannot be shared out among {} positives", negatives, positives));
  }
  return {scores.narrow(0, 0, positives),
          scores.narrow(0, positives, negatives).view({positives, negatives / positives})};
}

// log(1 + exp(-difference)) is the cross-entropy of the difference with a label of 1.
at::Tensor bpr(const Compared& scores) {
  const at::Tensor ahead =
      (expandColumns(scores.positive, scores.negative.size(1)) - scores.negative).reshape({-1});
  return binaryCrossEntropy(ahead, at::ones_like(ahead).detach());
}

// How little the score of each row [rows] stands out among all of them [rows, any].
at::Tensor meanSurprise(const at::Tensor& own, const at::Tensor& all) {
  const at::Tensor each = rowLogSumExp(all) - own;
  return totalSum(each) / static_cast<double>(each.size(0));
}

at::Tensor sampledSoftmax(const Compared& scores, double temperature) {
  const at::Tensor all = at::cat({scores.positive.unsqueeze(1), scores.negative}, 1) / temperature;
  return meanSurprise(scores.positive / temperature, all);
}

}  // namespace

void LossOptions::bind(OptionSet& set) {
  set.add(
      "training.loss", kind, {"bce", "bpr", "softmax", "batch"},
      "bce: each pair by itself; bpr: each negative against its positive; softmax: each positive "
      "among all its negatives (training.negatives, the more the better); batch: each positive "
      "among the targets of all others in its batch, which are many and often popular ones");
  set.add("training.loss_tau", temperature, {1e-3, 100.0},
          "training.loss=softmax, batch: scores are divided by it; about 0.1 to 0.2 for cosines");
  set.add("training.embedding_l2", embedding_l2, {0.0, 10.0},
          "L2 penalty on the learned embeddings of a batch's nodes, a mean over its positives");
}

at::Tensor batchLoss(const at::Tensor& sources, const at::Tensor& targets, double temperature) {
  return meanSurprise(rowSum(sources * targets) / temperature,
                      product(sources, targets, Transpose::kSecond) / temperature);
}

at::Tensor pairLoss(const LossOptions& options, const at::Tensor& scores, const PairBatch& batch) {
  invariant(!options.comparesBatch(), "positives are compared by their rows");
  if (!options.comparesPairs()) {
    return binaryCrossEntropy(scores, batch.labels);
  }
  const Compared compared = byPositive(scores, batch);
  return options.kind == "bpr" ? bpr(compared) : sampledSoftmax(compared, options.temperature);
}

}  // namespace edgewise
