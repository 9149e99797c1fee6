#include "edgewise/util/text.h"

#include <gtest/gtest.h>

namespace edgewise {
namespace {

TEST(ParseInteger, TakesWholeTextsOnly) {
  EXPECT_EQ(parseInteger("42"), 42);
  EXPECT_EQ(parseInteger("-7"), -7);
  for (const char* text : {"", " 1", "1 ", "1.0", "0x10", "99999999999999999999", "one"}) {
    EXPECT_FALSE(parseInteger(text)) << text;
  }
}

TEST(ParseReal, TakesWholeTextsOnly) {
  EXPECT_EQ(parseReal("-1.5e3"), -1500.0);
  EXPECT_EQ(parseReal("+2"), 2.0);
  for (const char* text : {"", "1,5", "1.5x", "."}) {
    EXPECT_FALSE(parseReal(text)) << text;
  }
}

TEST(NearestName, FindsLikelySlips) {
  const std::vector<std::string> known = {"cora", "citeseer", "pubmed"};
  EXPECT_EQ(nearestName("Coro", known), "cora");
  EXPECT_EQ(nearestName("citeser", known), "citeseer");
  EXPECT_FALSE(nearestName("imagenet", known));
  EXPECT_EQ(suggestName("imagenet", known), "known: cora, citeseer, pubmed");
}

TEST(Readable, NumbersAsPeopleReadThem) {
  EXPECT_EQ(groupedCount(0), "0");
  EXPECT_EQ(groupedCount(999), "999");
  EXPECT_EQ(groupedCount(1'234'567), "1,234,567");
  EXPECT_EQ(readableBytes(512), "512 B");
  EXPECT_EQ(readableBytes(1536), "1.5 KiB");
  EXPECT_EQ(readableSeconds(0.0123), "12 ms");
  EXPECT_EQ(readableSeconds(75.2), "1m15s");
  EXPECT_EQ(readableSeconds(7260), "2h01m");
}

TEST(SplitText, KeepsEmptyParts) {
  EXPECT_EQ(splitText("a,,b", ',').size(), 3U);
  EXPECT_EQ(splitText("", ',').size(), 1U);
  EXPECT_EQ(trimmed(" \t x y\r\n"), "x y");
}

TEST(CsvField, QuotesOnlyWhereItMust) {
  EXPECT_EQ(csvField("anna"), "anna");
  EXPECT_EQ(csvField(""), "");
  EXPECT_EQ(csvField("a,b"), "\"a,b\"");
  EXPECT_EQ(csvField("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csvField("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace edgewise
