#include "edgewise/evaluation/binary_ranking.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "evaluation/checks.h"
#include "evaluation/score_keys.h"

namespace edgewise {
namespace {

constexpr std::size_t kGroupGrain = std::size_t{1} << 15;

std::vector<PositiveGroup> groupsOf(std::span<const std::uint64_t> sorted) {
  std::size_t distinct = sorted.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    distinct += sorted[i] != sorted[i - 1] ? 1 : 0;
  }
  std::vector<PositiveGroup> groups;
  groups.reserve(distinct);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i] != sorted[i - 1]) {
      groups.push_back({.score = keyScore(sorted[i])});
    }
    ++groups.back().positives;
  }
  return groups;
}

// The first position from `from` on whose key is not below `key`: doubling steps, then halving, so
// that few positives skip over many negatives and many positives take single steps.
std::size_t firstNotBelow(std::span<const std::uint64_t> sorted, std::size_t from,
                          std::uint64_t key) {
  std::size_t step = 1;
  std::size_t low = from;
  while (low + step <= sorted.size() && sorted[low + step - 1] < key) {
    low += step;
    step *= 2;
  }
  const std::size_t high = std::min(low + step - 1, sorted.size());
  const auto first = sorted.begin();
  return static_cast<std::size_t>(std::lower_bound(first + static_cast<std::ptrdiff_t>(low),
                                                   first + static_cast<std::ptrdiff_t>(high), key) -
                                  first);
}

void countInto(std::span<PositiveGroup> groups, std::span<const std::uint64_t> sorted) {
  std::size_t place = 0;
  for (PositiveGroup& group : groups) {
    const std::uint64_t key = scoreKey(group.score);
    const std::size_t above = firstNotBelow(sorted, place, key);
    // Keys are integers: "not below the next key" is "beyond this one", and no score has the last.
    place = firstNotBelow(sorted, above, key + 1);
    group.greater += above;
    group.equal += place - above;
  }
}

}  // namespace

BinaryRanking::BinaryRanking(ScoreSpan positives) : BinaryRanking(positives, ScoreSpan()) {}

BinaryRanking::BinaryRanking(ScoreSpan positives, ScoreSpan negatives)
    : positive_count_(positives.size()) {
  KeySorter sorter;
  groups_ = groupsOf(sorter.sorted(positives, "positives"));
  countSorted(sorter.sorted(negatives, "negatives"));
}

BinaryRanking BinaryRanking::fromLabels(std::span<const std::uint8_t> labels, ScoreSpan scores) {
  if (labels.size() != scores.size()) {
    throw ShapeError(fmt::format("{} labels for {} scores", labels.size(), scores.size()),
                     "give one label per score");
  }
  requireNumbers(scores, "scores");
  std::vector<double> positives;
  std::vector<double> negatives;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] > 1) {
      throw DataError(fmt::format("labels[{}] is {}, not 0 or 1", i, labels[i]),
                      "label positives 1 and negatives 0");
    }
    (labels[i] == 1 ? positives : negatives).push_back(scores[i]);
  }
  return {positives, negatives};
}

void BinaryRanking::addNegatives(ScoreSpan scores) {
  KeySorter sorter;
  countSorted(sorter.sorted(scores, "negatives", negative_count_));
}

void BinaryRanking::countSorted(std::span<const std::uint64_t> keys) {
  parallelFor(groups_.size(), kGroupGrain, [&](std::size_t begin, std::size_t end) {
    countInto(std::span(groups_).subspan(begin, end - begin), keys);
  });
  negative_count_ += keys.size();
}

}  // namespace edgewise
