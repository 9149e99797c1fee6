#include "edgewise/util/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgewise {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(Version, HasThreeNumbers) {
  EXPECT_THAT(std::string(version()), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Version, TextNamesTheRevisionWhenThereIsOne) {
  EXPECT_THAT(versionText(), StartsWith(std::string(version())));
  EXPECT_EQ(versionText() == version(), revision().empty());
  EXPECT_NE(versionText().find(revision()), std::string::npos);
}

}  // namespace
}  // namespace edgewise
