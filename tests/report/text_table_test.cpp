#include "edgewise/report/text_table.h"

#include <gtest/gtest.h>

#include "edgewise/report/terminal_progress.h"

namespace edgewise {
namespace {

TEST(TextTable, AlignsColumnsByWhatPeopleSee) {
  TextTable table({{"name"}, {"value", Align::kRight}, {"note"}});
  table.addRow({"auc", "0.9", "good"});
  table.addRow({"mean ± std", "12.25"});
  EXPECT_EQ(table.render({}),
            "name        value  note\n"
            "auc           0.9  good\n"
            "mean ± std  12.25\n");
}

TEST(TextTable, PaintsOnlyWhereColoursAreOn) {
  TextTable table({{"a"}, {"b"}});
  table.addRow({{"x", Ink::kGood}, "y"});
  EXPECT_EQ(table.render({}).find('\x1b'), std::string::npos);
  const std::string painted = table.render({.interactive = true, .colour = true, .width = 80});
  EXPECT_NE(painted.find("\x1b[32mx\x1b[0m"), std::string::npos);
}

TEST(TextTable, WrapsALongLastColumn) {
  TextTable table({{"key"}, {"help"}});
  table.addRow({"k", "one two three four five six seven eight nine ten"});
  const std::string text = table.render({.interactive = false, .colour = false, .width = 32});
  EXPECT_EQ(text,
            "key  help\n"
            "k    one two three four five six\n"
            "     seven eight nine ten\n");
}

TEST(TextTable, RefusesRowsThatDoNotFit) {
  TextTable table({{"a"}});
  EXPECT_THROW(table.addRow({"x", "y"}), std::logic_error);
}

TEST(ProgressLine, ShowsShareAndTimeLeft) {
  EXPECT_EQ(progressLine({"scoring", 50, 100, 3.0}, 100),
            "scoring [############------------]  50%  50/100  3.0 s left");
  EXPECT_EQ(progressLine({"training", 3, 0, 2.0, "loss 0.5"}, 100), "training 3  2.0 s  loss 0.5");
  EXPECT_EQ(progressLine({"reading", 1234, 0, 2.0}, 100), "reading 1,234  2.0 s");
  EXPECT_EQ(progressLine({"scoring", 50, 100, 3.0}, 10).size(), 9U);
}

}  // namespace
}  // namespace edgewise
