#include "edgewise/util/page_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr std::size_t kPage = PagePool::kAlignment;

TEST(PagePool, GivesWholePagesThatCanBeWritten) {
  PagePool pool;
  void* const piece = pool.take(3 * kPage + 1);
  ASSERT_NE(piece, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % kPage, 0U);
  const std::size_t bytes = 3 * kPage + PagePool::kGrain;
  std::memset(piece, 7, bytes);
  EXPECT_EQ(pool.bytesInUse(), bytes);
  pool.giveBack(piece);
  EXPECT_EQ(pool.bytesInUse(), 0U);
  EXPECT_EQ(pool.bytesKept(), bytes);
  pool.release();
  EXPECT_EQ(pool.bytesKept(), 0U);
}

TEST(PagePool, GivesAKeptPieceToWhoAsksForAboutAsMuch) {
  PagePool pool;
  void* const piece = pool.take(10 * kPage);
  pool.giveBack(piece);
  EXPECT_EQ(pool.take(9 * kPage), piece);
  EXPECT_EQ(pool.bytesKept(), 0U);
  EXPECT_EQ(pool.bytesInUse(), 10 * kPage);
  pool.giveBack(piece);
}

TEST(PagePool, TakesTheSmallestThatIsLargeEnoughAndNotMuchLarger) {
  PagePool pool;
  std::vector<void*> pieces;
  for (const std::size_t pages : {22, 19, 20}) {
    pieces.push_back(pool.take(pages * kPage));
  }
  for (void* const piece : pieces) {
    pool.giveBack(piece);
  }
  EXPECT_EQ(pool.take(20 * kPage), pieces[2]);
  EXPECT_EQ(pool.take(20 * kPage), pieces[0]);
  // A third would have to do with too little, and this one with far too much.
  void* const small = pool.take(8 * kPage);
  EXPECT_NE(small, pieces[1]);
  for (void* const piece : {pieces[0], pieces[2], small}) {
    pool.giveBack(piece);
  }
}

TEST(PagePool, NeverHoldsMoreThanWasOnceInUse) {
  PagePool pool;
  void* const first = pool.take(10 * kPage);
  void* const second = pool.take(10 * kPage);
  pool.giveBack(first);
  pool.giveBack(second);
  // None of the two fits; the one that was given back first makes room.
  void* const other = pool.take(4 * kPage);
  EXPECT_EQ(pool.bytesInUse(), 4 * kPage);
  EXPECT_EQ(pool.bytesKept(), 10 * kPage);
  EXPECT_EQ(pool.take(10 * kPage), second);
  pool.giveBack(second);
  void* const largest = pool.take(20 * kPage);
  EXPECT_EQ(pool.bytesInUse(), 24 * kPage);
  EXPECT_EQ(pool.bytesKept(), 0U);
  pool.giveBack(other);
  pool.giveBack(largest);
  EXPECT_EQ(pool.bytesKept(), 24 * kPage);
}

TEST(PagePool, HasNothingForWhoAsksTooMuch) {
  PagePool pool;
  void* const piece = pool.take(kPage);
  EXPECT_EQ(pool.take(std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_EQ(pool.take(std::numeric_limits<std::size_t>::max() / 4), nullptr);
  EXPECT_EQ(pool.bytesInUse(), kPage);
  pool.giveBack(piece);
}

TEST(PagePool, ServesManyThreads) {
  PagePool pool;
  std::vector<char> kept_content(64, 0);
  parallelFor(kept_content.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t bytes = (1 + i % 5) * kPage;
      auto* const piece = static_cast<char*>(pool.take(bytes));
      piece[0] = static_cast<char>(i);
      piece[bytes - 1] = static_cast<char>(i);
      kept_content[i] = piece[0] == piece[bytes - 1] ? 1 : 0;
      pool.giveBack(piece);
    }
  });
  EXPECT_EQ(pool.bytesInUse(), 0U);
  EXPECT_EQ(kept_content, std::vector<char>(64, 1));
}

}  // namespace
}  // namespace edgewise
