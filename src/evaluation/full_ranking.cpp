#include "edgewise/evaluation/full_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "evaluation/checks.h"
#include "evaluation/user_ranking.h"

namespace edgewise {
namespace {

// Users that one task takes before its working memory is given up.
constexpr std::size_t kUserGrain = 8;

void requireDistinctKs(std::vector<std::size_t> ks) {
  if (ks.empty()) {
    throw ConfigError("a full ranking needs at least one K");
  }
  std::ranges::for_each(ks, requirePositiveK);
  std::ranges::sort(ks);
  const auto repeated = std::ranges::adjacent_find(ks);
  if (repeated != ks.end()) {
    throw ConfigError(fmt::format("K = {} is asked for twice", *repeated));
  }
}

}  // namespace

FullRankingAccumulator::FullRankingAccumulator(std::size_t item_count, std::vector<std::size_t> ks)
    : item_count_(item_count), ks_(std::move(ks)), sums_(ks_.size()) {
  requireDistinctKs(ks_);
  // Places beyond the last item stay empty, whatever K a user asks for.
  places_ = std::min(item_count_, *std::ranges::max_element(ks_));
  ideal_.push_back(0.0);
  for (std::size_t place = 0; place < places_; ++place) {
    discounts_.push_back(1.0 / std::log2(static_cast<double>(place) + 2.0));
    ideal_.push_back(ideal_.back() + discounts_.back());
  }
}

void FullRankingAccumulator::add(ScoreSpan scores, std::span<const UserItems> users) {
  const bool fits = item_count_ == 0 ? scores.empty()
                                     : scores.size() % item_count_ == 0 &&
                                           scores.size() / item_count_ == users.size();
  if (!fits) {
    throw ShapeError(fmt::format("{} scores are not {} users x {} items", scores.size(),
                                 users.size(), item_count_));
  }
  scores.visit([&](auto values) {
    addRuns(users, [&](UserRanker& ranker, std::size_t i) {
      return ranker.topRuns(values.subspan(i * item_count_, item_count_), users[i],
                            users_ + skipped_ + i);
    });
  });
}

void FullRankingAccumulator::add(const TopLists& best, std::span<const UserItems> users) {
  if (best.offsets.size() != users.size() + 1 || best.offsets.back() != best.items.size() ||
      best.items.size() != best.scores.size()) {
    throw ShapeError(
        fmt::format("lists of {} users for {}", best.offsets.size() - 1, users.size()));
  }
  addRuns(users, [&](UserRanker& ranker, std::size_t i) {
    const std::size_t begin = best.offsets[i];
    const std::size_t count = best.offsets[i + 1] - begin;
    return ranker.listRuns(std::span(best.items).subspan(begin, count),
                           std::span(best.scores).subspan(begin, count), users[i],
                           users_ + skipped_ + i);
  });
}

template <class RunsOf>
void FullRankingAccumulator::addRuns(std::span<const UserItems> users, const RunsOf& runs_of) {
  std::vector<TopKMetrics> metrics(users.size() * ks_.size());
  parallelFor(users.size(), kUserGrain, [&](std::size_t begin, std::size_t end) {
    UserRanker ranker(item_count_, places_);
    for (std::size_t i = begin; i < end; ++i) {
      if (users[i].relevant.empty()) {
        continue;
      }
      const auto runs = runs_of(ranker, i);
      for (std::size_t j = 0; j < ks_.size(); ++j) {
        metrics[i * ks_.size() + j] =
            metricsAt(runs, users[i].relevant.size(), ks_[j], discounts_, ideal_);
      }
    }
  });
  for (std::size_t i = 0; i < users.size(); ++i) {
    addUser(users[i], std::span(metrics).subspan(i * ks_.size(), ks_.size()));
  }
}

void FullRankingAccumulator::addUser(const UserItems& user, std::span<const TopKMetrics> metrics) {
  if (user.relevant.empty()) {
    ++skipped_;
    return;
  }
  ++users_;
  for (std::size_t j = 0; j < metrics.size(); ++j) {
    sums_[j].recall.add(metrics[j].recall);
    sums_[j].precision.add(metrics[j].precision);
    sums_[j].hit.add(metrics[j].hit);
    sums_[j].ndcg.add(metrics[j].ndcg);
  }
}

FullRankingResult FullRankingAccumulator::result() const {
  if (users_ == 0) {
    throw DataError(
        fmt::format("none of {} users has a test item, so there is nothing to rank", skipped_),
        "check the test part of the split");
  }
  FullRankingResult result{.users = users_, .skipped = skipped_, .at = {}};
  const auto count = static_cast<double>(users_);
  for (std::size_t j = 0; j < ks_.size(); ++j) {
    result.at.push_back({.k = ks_[j],
                         .recall = sums_[j].recall.value() / count,
                         .precision = sums_[j].precision.value() / count,
                         .hit = sums_[j].hit.value() / count,
                         .ndcg = sums_[j].ndcg.value() / count});
  }
  return result;
}

}  // namespace edgewise
