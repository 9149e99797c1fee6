#include "edgewise/util/options.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

struct Sample {
  double share = 0.1;
  std::int64_t count = 3;
  bool flag = false;
  std::string path;
  std::string kind = "auto";
  OptionSet set;

  Sample() {
    set.add("split.test", share, {0.0, 1.0}, "share of edges");
    set.add("split.count", count, {1, 10}, "how many");
    set.add("run.flag", flag, "a switch");
    set.add("data.edges", path, "a file");
    set.add("split.kind", kind, {"auto", "random", "time"}, "how to cut");
  }
};

TEST(OptionSet, SetsEveryTypeFromText) {
  Sample sample;
  sample.set.set("split.test", "0.25", "--set");
  sample.set.set("split.count", "7", "--set");
  sample.set.set("run.flag", "yes", "--set");
  sample.set.set("data.edges", "a b.csv", "--set");
  sample.set.setAssignment("split.kind = time", "--set");
  EXPECT_EQ(sample.share, 0.25);
  EXPECT_EQ(sample.count, 7);
  EXPECT_TRUE(sample.flag);
  EXPECT_EQ(sample.path, "a b.csv");
  EXPECT_EQ(sample.kind, "time");
  EXPECT_TRUE(sample.set.wasSet("split.kind"));
}

TEST(OptionSet, RefusesUnknownKeysWithTheNearest) {
  Sample sample;
  try {
    sample.set.set("split.tset", "1", "--set");
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "--set: unknown option 'split.tset'");
    EXPECT_NE(error.hint().find("did you mean 'split.test'?"), std::string::npos) << error.hint();
  }
}

TEST(OptionSet, RefusesValuesOfTheWrongTypeOrOutOfBounds) {
  Sample sample;
  expectFailure<ConfigError>([&] { sample.set.set("split.test", "many", "r.json"); },
                             "r.json: option split.test: 'many' is not a number");
  expectFailure<ConfigError>([&] { sample.set.set("split.test", "1.5", "--set"); },
                             "'1.5' is out of bounds");
  expectFailure<ConfigError>([&] { sample.set.set("split.test", "nan", "--set"); }, "not a number");
  expectFailure<ConfigError>([&] { sample.set.set("split.count", "2.5", "--set"); },
                             "not a whole number");
  expectFailure<ConfigError>([&] { sample.set.set("run.flag", "perhaps", "--set"); },
                             "not true or false");
  expectFailure<ConfigError>([&] { sample.set.set("split.kind", "tiem", "--set"); },
                             "not a known choice");
  expectFailure<ConfigError>([&] { sample.set.setAssignment("split.test", "--set"); }, "no '='");
  EXPECT_EQ(sample.share, 0.1);
  EXPECT_FALSE(sample.set.wasSet("split.test"));
}

TEST(OptionSet, ChecksWithoutSetting) {
  Sample sample;
  const nlohmann::json before = sample.set.toJson();
  sample.set.check("split.test", "0.25", "--set");
  sample.set.check("split.count", "7", "--set");
  sample.set.check("run.flag", "yes", "--set");
  sample.set.check("split.kind", "time", "--set");
  EXPECT_EQ(sample.set.toJson(), before);
  EXPECT_FALSE(sample.set.wasSet("split.test"));
  expectFailure<ConfigError>([&] { sample.set.check("split.tset", "1", "r.json"); },
                             "r.json: unknown option 'split.tset'");
  expectFailure<ConfigError>([&] { sample.set.check("split.test", "1.5", "r.json"); },
                             "r.json: option split.test: '1.5' is out of bounds");
}

TEST(OptionSet, RefusesJsonThatIsNotOneValueAKey) {
  Sample sample;
  expectFailure<ConfigError>([&] { sample.set.setAll(nlohmann::json::array(), "r.json"); },
                             "r.json: options must be a JSON object");
  // A text option would take "[...]" and "null" for names.
  expectFailure<ConfigError>(
      [&] { sample.set.setAll({{"data", {{"edges", {"a.csv", 1, 2}}}}}, "r.json"); },
      "r.json: option data.edges: [\"a.csv\",1,2] is no value");
  expectFailure<ConfigError>([&] { sample.set.setAll({{"data.edges", nullptr}}, "r.json"); },
                             "r.json: option data.edges: null is no value");
  expectFailure<ConfigError>(
      [&] { sample.set.setAll({{"split.count", 3}, {"split", {{"count", 4}}}}, "r.json"); },
      "r.json: option split.count is given twice");
  EXPECT_EQ(sample.count, 3);
  EXPECT_EQ(sample.path, "");
}

TEST(OptionSet, RoundTripsThroughJson) {
  Sample sample;
  sample.set.set("split.test", "0.3", "--set");
  sample.set.set("data.edges", "x.csv", "--set");
  const nlohmann::json stored = sample.set.toJson();
  EXPECT_EQ(stored["split"]["test"], 0.3);
  Sample other;
  other.set.setAll(stored, "options.json");
  EXPECT_EQ(other.set.toJson(), stored);
  Sample dotted;
  dotted.set.setAll({{"split.test", 0.3}, {"data.edges", "x.csv"}}, "recipe");
  EXPECT_EQ(dotted.set.toJson(), stored);
}

TEST(OptionSet, DescribesDefaultsAndBounds) {
  Sample sample;
  sample.set.set("split.test", "0.3", "--set");
  const OptionDescription description = sample.set.describe("split.test");
  EXPECT_EQ(description.fallback, "0.1");
  EXPECT_EQ(description.bounds, "0 to 1");
  EXPECT_EQ(sample.set.describe().size(), 5U);
}

}  // namespace
}  // namespace edgewise
