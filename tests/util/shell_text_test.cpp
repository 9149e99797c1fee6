#include "edgewise/util/shell_text.h"

#include <gtest/gtest.h>

namespace edgewise {
namespace {

TEST(ShellWord, QuotesOnlyWhereAShellAsksForIt) {
  EXPECT_EQ(shellWord("runs/cora-gae/seed-0"), "runs/cora-gae/seed-0");
  EXPECT_EQ(shellWord("my runs"), "'my runs'");
  EXPECT_EQ(shellWord("ann's"), "'ann'\\''s'");
  EXPECT_EQ(shellWord("$HOME;`x`"), "'$HOME;`x`'");
  EXPECT_EQ(shellWord(""), "''");
}

}  // namespace
}  // namespace edgewise
