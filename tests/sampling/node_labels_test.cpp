#include "edgewise/sampling/node_labels.h"

#include <gtest/gtest.h>

#include "edgewise/util/error.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

TEST(NodeLabels, HaveNamesThatParseBack) {
  for (const NodeLabelling labelling :
       {NodeLabelling::kDrnl, NodeLabelling::kDistances, NodeLabelling::kZeroOne}) {
    EXPECT_EQ(parseLabelling(labellingName(labelling)), labelling);
  }
  testing::expectFailure<ConfigError>([] { (void)parseLabelling("drln"); }, "'drln'");
}

TEST(NodeLabels, SayHowManyThereAre) {
  const LabelOptions drnl{.labelling = NodeLabelling::kDrnl, .max_label = 50};
  EXPECT_EQ(labelWidth(drnl), 1U);
  EXPECT_EQ(labelCount(drnl), 51U);
  const LabelOptions distances{.labelling = NodeLabelling::kDistances, .max_distance = 3};
  EXPECT_EQ(labelWidth(distances), 2U);
  EXPECT_EQ(labelCount(distances), 5U);
  const LabelOptions zero_one{.labelling = NodeLabelling::kZeroOne};
  EXPECT_EQ(labelWidth(zero_one), 1U);
  EXPECT_EQ(labelCount(zero_one), 2U);
}

}  // namespace
}  // namespace edgewise
