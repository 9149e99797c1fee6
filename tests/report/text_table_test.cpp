#include "edgewise/report/text_table.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace edgewise
