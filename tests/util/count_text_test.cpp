#include "edgewise/util/count_text.h"

#include <gtest/gtest.h>

namespace edgewise {
namespace {

TEST(CountText, AgreesInNumber) {
  EXPECT_EQ(countText(0, "edge"), "0 edges");
  EXPECT_EQ(countText(1, "edge"), "1 edge");
  EXPECT_EQ(countText(2, "edge"), "2 edges");
  EXPECT_EQ(countText(4488, "test edge"), "4,488 test edges");
  EXPECT_EQ(countText(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(countText(1'000'000, "entry", "entries"), "1,000,000 entries");
}

}  // namespace
}  // namespace edgewise
