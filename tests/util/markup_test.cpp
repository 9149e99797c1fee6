#include "edgewise/util/markup.h"

#include <gtest/gtest.h>

namespace edgewise {
namespace {

TEST(EscapeMarkup, LeavesNoMarkup) {
  EXPECT_EQ(escapeMarkup("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escapeMarkup("tab\tand\nline"), "tab\tand\nline");
  EXPECT_EQ(escapeMarkup("Zoë 東京 \xF0\x9F\x98\x80"), "Zoë 東京 \xF0\x9F\x98\x80");
}

TEST(EscapeMarkup, AlwaysGivesUtf8) {
  const std::string unknown = "\xEF\xBF\xBD";
  EXPECT_EQ(escapeMarkup("a\xFF"
                         "b"),
            "a" + unknown + "b");
  // Cut short, overlong, a surrogate, beyond the last character.
  EXPECT_EQ(escapeMarkup("\xC3"), unknown);
  EXPECT_EQ(escapeMarkup("\xC0\xBC"), unknown + unknown);
  EXPECT_EQ(escapeMarkup("\xE0\x80\xBC"), unknown + unknown + unknown);
  EXPECT_EQ(escapeMarkup("\xED\xA0\x80"), unknown + unknown + unknown);
  EXPECT_EQ(escapeMarkup("\xF4\x90\x80\x80"), unknown + unknown + unknown + unknown);
  // Control characters have no place in a page.
  EXPECT_EQ(escapeMarkup(std::string_view("a\0b\x07", 4)), "a" + unknown + "b" + unknown);
  EXPECT_EQ(escapeMarkup("\x7F"), unknown);
}

}  // namespace
}  // namespace edgewise
