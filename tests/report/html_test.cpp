#include "edgewise/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ScriptJson, CannotEndItsElement) {
  const nlohmann::ordered_json value = {{"name", "</script><!-- & \" \\ \xFF"}};
  const std::string text = scriptJson(value);
  for (const char* forbidden : {"<", ">", "&"}) {
    EXPECT_THAT(text, Not(HasSubstr(forbidden)));
  }
  EXPECT_EQ(nlohmann::json::parse(text)["name"], "</script><!-- & \" \\ \xEF\xBF\xBD");
}

TEST(HtmlTable, HasHeadersForRowsAndColumns) {
  HtmlTable table("Results of <b>", {"method", "auc"});
  EXPECT_TRUE(table.empty());
  table.addRow({"a&b", HtmlTable::Cell::classed("0.9", "best")});
  table.addRow({"c", HtmlTable::Cell::raw("<code>1</code>")});
  EXPECT_EQ(table.render("numbers"),
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Results of "
            "&lt;b&gt;\">\n"
            "<table class=\"numbers\"><caption>Results of &lt;b&gt;</caption>\n"
            "<thead><tr><th scope=\"col\">method</th><th scope=\"col\">auc</th></tr></thead>\n"
            "<tbody>\n"
            "<tr><th scope=\"row\">a&amp;b</th><td class=\"best\">0.9</td></tr>\n"
            "<tr><th scope=\"row\">c</th><td><code>1</code></td></tr>\n"
            "</tbody></table></div>\n");
}

}  // namespace
}  // namespace edgewise
