#include "edgewise/evaluation/streaming.h"

#include <limits>

#include "edgewise/evaluation/binary_metrics.h"
#include "edgewise/evaluation/hits.h"
#include "edgewise/evaluation/ranking.h"
#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Scores = std::vector<double>;

void expectSame(const BinaryRanking& streamed, const BinaryRanking& whole) {
  EXPECT_EQ(streamed.negativeCount(), whole.negativeCount());
  ASSERT_TRUE(std::ranges::equal(streamed.groups(), whole.groups()));
  EXPECT_EQ(auc(streamed), auc(whole));
  EXPECT_EQ(averagePrecision(streamed), averagePrecision(whole));
  EXPECT_EQ(hitsAtK(streamed, 20), hitsAtK(whole, 20));
  EXPECT_EQ(meanReciprocalRank(streamed), meanReciprocalRank(whole));
}

TEST(StreamingRanking, EqualsTheWholeHoweverTheNegativesAreCut) {
  RngStream rng(61, "stream");
  for (int round = 0; round < 30; ++round) {
    const std::uint64_t levels = 1 + rng.below(50);
    const Scores positives = testing::tiedScores(rng, 1 + rng.below(100), levels);
    const Scores negatives = testing::tiedScores(rng, 1 + rng.below(2'000), levels + 3);
    StreamingRanking streaming(positives);
    for (std::size_t begin = 0; begin < negatives.size();) {
      const std::size_t size = std::min<std::size_t>(negatives.size() - begin, rng.below(300));
      streaming.addNegatives(std::span(negatives).subspan(begin, size));
      begin += size;
      // Looking at the result on the way must not disturb it.
      if (rng.below(4) == 0) {
        EXPECT_EQ(streaming.ranking().negativeCount(), begin);
      }
    }
    expectSame(streaming.ranking(), BinaryRanking(positives, negatives));
  }
}

TEST(StreamingRanking, EmptiesItsBufferOnTheWay) {
  RngStream rng(62, "buffer");
  const Scores positives = testing::normalScores(rng, 1'000, 1.0);
  Scores negatives(1'200'000);
  for (std::size_t i = 0; i < negatives.size(); ++i) {
    negatives[i] = static_cast<float>(rng.uniform());
  }
  StreamingRanking small_blocks(positives);
  StreamingRanking one_block(positives);
  for (std::size_t begin = 0; begin < negatives.size(); begin += 100'000) {
    const std::vector<float> block(
        negatives.begin() + static_cast<std::ptrdiff_t>(begin),
        negatives.begin() + static_cast<std::ptrdiff_t>(begin) + 100'000);
    small_blocks.addNegatives(block);
  }
  one_block.addNegatives(negatives);
  const BinaryRanking whole(positives, negatives);
  expectSame(small_blocks.ranking(), whole);
  expectSame(one_block.ranking(), whole);
}

TEST(StreamingRanking, NamesANanByItsPlaceInTheStream) {
  StreamingRanking streaming(Scores{1.0});
  streaming.addNegatives(Scores{1, 2, 3});
  const Scores bad = {0.0, std::numeric_limits<double>::quiet_NaN()};
  testing::expectFailure<DataError>([&] { streaming.addNegatives(bad); }, "negatives[4]");
  EXPECT_EQ(streaming.ranking().negativeCount(), 3U);
}

TEST(StreamingRanking, MayStayWithoutNegatives) {
  StreamingRanking streaming(Scores{1.0, 2.0});
  EXPECT_EQ(hitsAtK(streaming.ranking(), 1), 1.0);
  EXPECT_EQ(meanReciprocalRank(streaming.ranking()), 1.0);
  testing::expectFailure<DataError>([&] { (void)auc(streaming.ranking()); }, "needs negatives");
}

}  // namespace
}  // namespace edgewise
