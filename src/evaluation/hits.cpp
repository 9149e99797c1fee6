#include "edgewise/evaluation/hits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "edgewise/util/error.h"
#include "evaluation/checks.h"

namespace edgewise {

double hitsAtK(ScoreSpan positives, ScoreSpan negatives, std::size_t k) {
  BestScores best(k);
  best.add(negatives);
  return hitsAtK(positives, best, k);
}

double hitsAtK(const BinaryRanking& ranking, std::size_t k) {
  requirePositiveK(k);
  requirePositives(ranking.positiveCount(), "Hits@K");
  // A positive is strictly above the K-th best negative when fewer than K negatives reach it.
  std::uint64_t hits = 0;
  for (const PositiveGroup& group : ranking.groups()) {
    hits += group.greater + group.equal < k ? group.positives : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(ranking.positiveCount());
}

double hitsAtK(ScoreSpan positives, const BestScores& negatives, std::size_t k) {
  const std::optional<double> bar = negatives.kthBest(k);
  requirePositives(positives.size(), "Hits@K");
  requireNumbers(positives, "positives");
  if (!bar) {
    return 1.0;
  }
  const auto hits = positives.visit([&](auto scores) {
    return std::ranges::count_if(scores, [&](double score) { return score > *bar; });
  });
  return static_cast<double>(hits) / static_cast<double>(positives.size());
}

BestScores::BestScores(std::size_t capacity) : capacity_(capacity) { requirePositiveK(capacity); }

void BestScores::add(ScoreSpan scores) {
  requireNumbers(scores, "negatives", seen_);
  keep(scores);
  seen_ += scores.size();
}

void BestScores::merge(const BestScores& other) {
  if (other.capacity_ != capacity_) {
    throw ShapeError(fmt::format("cannot merge the best {} scores with the best {}", capacity_,
                                 other.capacity_));
  }
  // A copy, for the other may be this one.
  const std::vector<double> scores = other.kept_;
  const std::uint64_t seen = other.seen_;
  keep(scores);
  seen_ += seen;
}

std::optional<double> BestScores::kthBest(std::size_t k) const {
  requirePositiveK(k);
  if (k > capacity_) {
    throw ConfigError(
        fmt::format("only the best {} scores are kept, so there is no {}-th best", capacity_, k));
  }
  if (k > seen_) {
    return std::nullopt;
  }
  std::vector<double> scores = kept_;
  const auto place = scores.begin() + static_cast<std::ptrdiff_t>(k) - 1;
  std::ranges::nth_element(scores, place, std::greater<>());
  return *place;
}

void BestScores::keep(ScoreSpan scores) {
  scores.visit([&](auto values) {
    for (const double score : values) {
      if (bar_ && score <= *bar_) {
        continue;
      }
      kept_.push_back(score);
      // Pruning at twice the capacity makes its cost a constant per kept score.
      if (kept_.size() / 2 >= capacity_) {
        prune();
      }
    }
  });
}

void BestScores::prune() {
  const auto place = kept_.begin() + static_cast<std::ptrdiff_t>(capacity_) - 1;
  std::ranges::nth_element(kept_, place, std::greater<>());
  bar_ = *place;
  kept_.resize(capacity_);
}

}  // namespace edgewise
