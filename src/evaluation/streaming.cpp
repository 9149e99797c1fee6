#include "edgewise/evaluation/streaming.h"

#include <algorithm>

#include "evaluation/checks.h"

namespace edgewise {
namespace {

constexpr std::size_t kLeastBuffer = std::size_t{1} << 20;

}  // namespace

void StreamingRanking::addNegatives(ScoreSpan block) {
  requireNumbers(block, "negatives", seen_);
  // Counting costs a pass over the positives, so it waits until there are as many negatives.
  const std::size_t enough = std::max(kLeastBuffer, ranking_.groups().size());
  if (block.size() >= enough) {
    ranking_.addNegatives(block);
  } else {
    block.visit(
        [&](auto scores) { pending_.insert(pending_.end(), scores.begin(), scores.end()); });
    if (pending_.size() >= enough) {
      flush();
    }
  }
  seen_ += block.size();
}

const BinaryRanking& StreamingRanking::ranking() {
  flush();
  return ranking_;
}

void StreamingRanking::flush() {
  if (!pending_.empty()) {
    ranking_.addNegatives(pending_);
    pending_.clear();
  }
}

}  // namespace edgewise
