// Metrics by their definitions, slowly: what the fast versions are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "edgewise/evaluation/full_ranking.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise::testing {

inline constexpr double kTight = 1e-12;

inline nlohmann::json goldenMetrics() {
  std::ifstream file(testFile("golden/metrics.json"));
  return nlohmann::json::parse(file);
}

// `count` scores out of 0 .. levels-1, so that few levels give many ties.
inline std::vector<double> tiedScores(RngStream& rng, std::size_t count, std::uint64_t levels) {
  std::vector<double> scores(count);
  std::ranges::generate(scores, [&] { return static_cast<double>(rng.below(levels)); });
  return scores;
}

inline std::vector<double> normalScores(RngStream& rng, std::size_t count, double mean = 0.0) {
  std::vector<double> scores(count);
  std::ranges::generate(scores, [&] { return mean + rng.normal(); });
  return scores;
}

inline double bruteAuc(const std::vector<double>& positives, const std::vector<double>& negatives) {
  double wins = 0.0;
  for (const double positive : positives) {
    for (const double negative : negatives) {
      wins += positive > negative ? 1.0 : positive == negative ? 0.5 : 0.0;
    }
  }
  return wins / static_cast<double>(positives.size() * negatives.size());
}

inline double bruteAveragePrecision(const std::vector<double>& positives,
                                    const std::vector<double>& negatives) {
  std::set<double, std::greater<>> thresholds(positives.begin(), positives.end());
  thresholds.insert(negatives.begin(), negatives.end());
  double recall = 0.0;
  double result = 0.0;
  for (const double threshold : thresholds) {
    const auto reaches = [&](double score) { return score >= threshold; };
    const auto found = static_cast<double>(std::ranges::count_if(positives, reaches));
    const auto wrong = static_cast<double>(std::ranges::count_if(negatives, reaches));
    const double new_recall = found / static_cast<double>(positives.size());
    result += (new_recall - recall) * found / (found + wrong);
    recall = new_recall;
  }
  return result;
}

inline double bruteHits(const std::vector<double>& positives, std::vector<double> negatives,
                        std::size_t k) {
  if (negatives.size() < k) {
    return 1.0;
  }
  std::ranges::sort(negatives, std::greater<>());
  const auto hits =
      std::ranges::count_if(positives, [&](double score) { return score > negatives[k - 1]; });
  return static_cast<double>(hits) / static_cast<double>(positives.size());
}

// Calls visit(order) for every order of the items that never puts a lower score before a higher
// one: all equally likely orders of a ranking with ties. Few items only.
template <class Visit>
void visitRankings(const std::vector<double>& scores, const Visit& visit) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    bool valid = true;
    for (std::size_t i = 1; i < order.size(); ++i) {
      valid = valid && scores[order[i - 1]] >= scores[order[i]];
    }
    if (valid) {
      visit(order);
    }
  } while (std::ranges::next_permutation(order).found);
}

// The metrics at k of one user, averaged over all rankings of the candidates.
inline TopKMetrics bruteTopK(const std::vector<double>& scores, const UserItems& user,
                             std::size_t k) {
  std::vector<double> candidate_scores;
  std::vector<bool> relevant;
  for (std::uint32_t item = 0; item < scores.size(); ++item) {
    if (std::ranges::find(user.masked, item) == user.masked.end()) {
      candidate_scores.push_back(scores[item]);
      relevant.push_back(std::ranges::find(user.relevant, item) != user.relevant.end());
    }
  }
  double ideal = 0.0;
  for (std::size_t i = 0; i < std::min(k, user.relevant.size()); ++i) {
    ideal += 1.0 / std::log2(static_cast<double>(i) + 2.0);
  }
  TopKMetrics sum{.k = k};
  double rankings = 0.0;
  visitRankings(candidate_scores, [&](const std::vector<std::size_t>& order) {
    double found = 0.0;
    double gain = 0.0;
    for (std::size_t i = 0; i < std::min(k, order.size()); ++i) {
      found += relevant[order[i]] ? 1.0 : 0.0;
      gain += relevant[order[i]] ? 1.0 / std::log2(static_cast<double>(i) + 2.0) : 0.0;
    }
    rankings += 1.0;
    sum.recall += found / static_cast<double>(user.relevant.size());
    sum.precision += found / static_cast<double>(k);
    sum.hit += found > 0.0 ? 1.0 : 0.0;
    sum.ndcg += gain / ideal;
  });
  sum.recall /= rankings;
  sum.precision /= rankings;
  sum.hit /= rankings;
  sum.ndcg /= rankings;
  return sum;
}

}  // namespace edgewise::testing
