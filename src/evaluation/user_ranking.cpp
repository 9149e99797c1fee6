#include "evaluation/user_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "edgewise/util/error.h"
#include "evaluation/checks.h"

namespace edgewise {
namespace {

// Long enough that the test of a block is cheap per score, short enough that a hit costs little.
constexpr std::size_t kScanBlock = 64;

template <class T>
bool anyAbove(std::span<const T> scores, T bar) {
  unsigned found = 0;
  for (const T score : scores) {
    found |= score > bar ? 1U : 0U;
  }
  return found != 0;
}

// Written so that a NaN counts as reaching the bar: the caller then finds it.
template <class T>
bool anyNotBelow(std::span<const T> scores, T bar) {
  unsigned found = 0;
  for (const T score : scores) {
    found |= score < bar ? 0U : 1U;
  }
  return found != 0;
}

template <class T, class Visit>
void visitBlocks(std::span<const T> scores, const Visit& visit) {
  for (std::size_t begin = 0; begin < scores.size(); begin += kScanBlock) {
    visit(begin, scores.subspan(begin, std::min(kScanBlock, scores.size() - begin)));
  }
}

void requireItem(std::uint32_t item, std::size_t item_count, std::uint64_t row) {
  if (item >= item_count) {
    throw DataError(
        fmt::format("user row {} names item {}, but there are {} items", row, item, item_count));
  }
}

// P(no test item among `taken` places drawn from the run) = C(size - relevant, taken) / C(size,
// taken).
double missProbability(const TieRun& run, std::size_t taken) {
  const std::size_t fewer = std::min(taken, run.relevant);
  const std::size_t more = std::max(taken, run.relevant);
  double probability = 1.0;
  for (std::size_t i = 0; i < fewer; ++i) {
    if (more + i >= run.size) {
      return 0.0;
    }
    probability *= static_cast<double>(run.size - more - i) / static_cast<double>(run.size - i);
  }
  return probability;
}

}  // namespace

UserRanker::UserRanker(std::size_t item_count, std::size_t largest_k)
    : largest_k_(largest_k), roles_(item_count, ItemRole::kCandidate) {}

template <class T>
std::span<const TieRun> UserRanker::topRuns(std::span<const T> scores, const UserItems& user,
                                            std::uint64_t row) {
  const std::size_t places = std::min(largest_k_, assignRoles(user, row));
  T bar = std::numeric_limits<T>::infinity();
  if (places > 0) {
    bar = kthBest(scores, places);
  }
  gather(scores, bar, row);
  clearRoles(user);
  makeRuns();
  return runs_;
}

std::span<const TieRun> UserRanker::listRuns(std::span<const std::uint32_t> items,
                                             std::span<const float> scores, const UserItems& user,
                                             std::uint64_t row) {
  assignRoles(user, row);
  above_.clear();
  at_bar_ = {};
  for (std::size_t i = 0; i < items.size(); ++i) {
    requireItem(items[i], roles_.size(), row);
    if (std::isnan(scores[i])) {
      failNotANumber(fmt::format("scores of user row {}", row), items[i]);
    }
    if (roles_[items[i]] != ItemRole::kMasked) {
      above_.push_back({static_cast<double>(scores[i]), roles_[items[i]] == ItemRole::kRelevant});
    }
  }
  clearRoles(user);
  makeRuns();
  return runs_;
}

std::size_t UserRanker::assignRoles(const UserItems& user, std::uint64_t row) {
  std::size_t candidates = roles_.size();
  for (const std::uint32_t item : user.masked) {
    requireItem(item, roles_.size(), row);
    candidates -= roles_[item] == ItemRole::kCandidate ? 1 : 0;
    roles_[item] = ItemRole::kMasked;
  }
  for (const std::uint32_t item : user.relevant) {
    requireItem(item, roles_.size(), row);
    if (roles_[item] == ItemRole::kMasked) {
      throw DataError(
          fmt::format("item {} of user row {} is both masked and to be found", item, row),
          "training and test items of a user must differ");
    }
    if (roles_[item] == ItemRole::kRelevant) {
      throw DataError(fmt::format("item {} of user row {} is to be found twice", item, row),
                      "name each test item once");
    }
    roles_[item] = ItemRole::kRelevant;
  }
  return candidates;
}

void UserRanker::clearRoles(const UserItems& user) {
  for (const std::uint32_t item : user.masked) {
    roles_[item] = ItemRole::kCandidate;
  }
  for (const std::uint32_t item : user.relevant) {
    roles_[item] = ItemRole::kCandidate;
  }
}

template <class T>
T UserRanker::kthBest(std::span<const T> scores, std::size_t k) {
  best_.clear();
  bool barred = false;
  T bar{};
  const auto prune = [&] {
    const auto place = best_.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::ranges::nth_element(best_, place, std::greater<>());
    best_.resize(k);
    bar = static_cast<T>(best_.back());
    barred = true;
  };
  visitBlocks(scores, [&](std::size_t begin, std::span<const T> block) {
    if (barred && !anyAbove(block, bar)) {
      return;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      // A NaN would break the selection; the second scan reports it.
      const bool taken = barred ? block[i] > bar : !std::isnan(block[i]);
      if (taken && roles_[begin + i] != ItemRole::kMasked) {
        best_.push_back(static_cast<double>(block[i]));
        if (best_.size() / 2 >= k) {
          prune();
        }
      }
    }
  });
  // Fewer are left only when some candidate is NaN.
  if (best_.size() >= k) {
    prune();
  }
  return bar;
}

template <class T>
void UserRanker::gather(std::span<const T> scores, T bar, std::uint64_t row) {
  above_.clear();
  at_bar_ = {};
  visitBlocks(scores, [&](std::size_t begin, std::span<const T> block) {
    if (!anyNotBelow(block, bar)) {
      return;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (std::isnan(block[i])) {
        failNotANumber(fmt::format("scores of user row {}", row), begin + i);
      }
      const ItemRole role = roles_[begin + i];
      if (block[i] < bar || role == ItemRole::kMasked) {
        continue;
      }
      const bool relevant = role == ItemRole::kRelevant;
      if (block[i] > bar) {
        above_.push_back({static_cast<double>(block[i]), relevant});
      } else {
        ++at_bar_.size;
        at_bar_.relevant += relevant ? 1 : 0;
      }
    }
  });
}

void UserRanker::makeRuns() {
  std::ranges::sort(above_, std::greater<>(), &Candidate::score);
  runs_.clear();
  for (std::size_t i = 0; i < above_.size(); ++i) {
    if (i == 0 || above_[i].score != above_[i - 1].score) {
      runs_.push_back({.begin = i});
    }
    ++runs_.back().size;
    runs_.back().relevant += above_[i].relevant ? 1 : 0;
  }
  if (at_bar_.size > 0) {
    at_bar_.begin = above_.size();
    runs_.push_back(at_bar_);
  }
}

template std::span<const TieRun> UserRanker::topRuns(std::span<const float>, const UserItems&,
                                                     std::uint64_t);
template std::span<const TieRun> UserRanker::topRuns(std::span<const double>, const UserItems&,
                                                     std::uint64_t);

TopKMetrics metricsAt(std::span<const TieRun> runs, std::size_t relevant, std::size_t k,
                      std::span<const double> discounts, std::span<const double> ideal) {
  double found = 0.0;
  double gain = 0.0;
  double miss = 1.0;
  for (const TieRun& run : runs) {
    if (run.begin >= k) {
      break;
    }
    if (run.relevant == 0) {
      continue;
    }
    const std::size_t taken = std::min(run.size, k - run.begin);
    const double share = static_cast<double>(run.relevant) / static_cast<double>(run.size);
    double weight = 0.0;
    for (const double discount : discounts.subspan(run.begin, taken)) {
      weight += discount;
    }
    found += static_cast<double>(run.relevant * taken) / static_cast<double>(run.size);
    gain += share * weight;
    miss *= missProbability(run, taken);
  }
  return {.k = k,
          .recall = found / static_cast<double>(relevant),
          .precision = found / static_cast<double>(k),
          .hit = 1.0 - miss,
          .ndcg = gain / ideal[std::min(k, relevant)]};
}

}  // namespace edgewise
