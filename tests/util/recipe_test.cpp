#include "edgewise/util/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/test_support.h"

namespace edgewise {
namespace {

using ::edgewise::testing::expectFailure;
using ::edgewise::testing::TempFolder;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

struct Sample {
  std::int64_t hidden = 16;
  double rate = 0.1;
  std::string kind = "auto";
  OptionSet set;

  Sample() {
    set.add("model.hidden", hidden, {1, 1024}, "width");
    set.add("training.lr", rate, {0.0, 1.0}, "step");
    set.add("training.kind", kind, {"auto", "adam", "sgd"}, "how to step");
  }
};

const RecipeFacts& coraFacts() {
  static const RecipeFacts facts = {
      {"dataset", "cora"}, {"model", "gae"}, {"selector", "fixed:1,1"}};
  return facts;
}

// Whether a rule with this condition applies to a run with coraFacts().
bool applies(const std::string& when) {
  Sample sample;
  Recipe::parse(R"({"rules": [{"when": )" + when + R"(, "set": {"model.hidden": 32}}]})", "r.json")
      .apply(coraFacts(), sample.set);
  EXPECT_EQ(sample.set.wasSet("model.hidden"), sample.hidden == 32);
  return sample.hidden == 32;
}

// Parsing and applying, which must fail with `fragment` and leave the options as they were.
void expectRefused(const std::string& json, std::string_view fragment) {
  Sample sample;
  const nlohmann::json before = sample.set.toJson();
  expectFailure<ConfigError>([&] { Recipe::parse(json, "r.json").apply(coraFacts(), sample.set); },
                             fragment);
  EXPECT_EQ(sample.set.toJson(), before);
}

template <class Action>
std::string hintOf(const Action& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.hint();
  }
  return "nothing was thrown";
}

TEST(Recipe, AppliesMatchingRulesInOrder) {
  const Recipe recipe = Recipe::parse(R"({"about": "a test", "rules": [
      {"set": {"model.hidden": 8, "training": {"lr": 0.5, "kind": "sgd"}}},
      {"when": {"dataset": "cora"}, "set": {"model": {"hidden": 32}, "training.lr": 0.25}},
      {"when": {"dataset": "citeseer"}, "set": {"model.hidden": 64}},
      {"when": {"model": "gae"}, "set": {"training.lr": 1e-3}}]})",
                                      "r.json");
  EXPECT_EQ(recipe.about(), "a test");
  EXPECT_EQ(recipe.origin(), "r.json");
  Sample sample;
  recipe.apply(coraFacts(), sample.set);
  EXPECT_EQ(sample.hidden, 32);
  EXPECT_EQ(sample.rate, 0.001);
  EXPECT_EQ(sample.kind, "sgd");
  Sample other;
  recipe.apply({{"dataset", "pubmed"}, {"model", "sage"}}, other.set);
  EXPECT_EQ(other.hidden, 8);
  EXPECT_EQ(other.rate, 0.5);
}

TEST(Recipe, MatchesExactlyByListAndByPrefix) {
  EXPECT_TRUE(applies(R"({"dataset": "cora"})"));
  EXPECT_FALSE(applies(R"({"dataset": "cor"})"));
  EXPECT_FALSE(applies(R"({"dataset": "Cora"})"));
  EXPECT_TRUE(applies(R"({"dataset": ["citeseer", "cora"]})"));
  EXPECT_FALSE(applies(R"({"dataset": ["citeseer", "pubmed"]})"));
  EXPECT_TRUE(applies(R"({"selector": "fixed*"})"));
  EXPECT_TRUE(applies(R"({"selector": "fixed:1,1*"})"));
  EXPECT_FALSE(applies(R"({"selector": "fixed:1,1,*"})"));
  EXPECT_FALSE(applies(R"({"selector": "fixed"})"));
  EXPECT_TRUE(applies(R"({"selector": ["rs", "fix*"]})"));
  EXPECT_TRUE(applies(R"({"selector": "*"})"));
}

TEST(Recipe, MatchesWhenEveryNamedFactDoes) {
  EXPECT_TRUE(applies("{}"));
  EXPECT_TRUE(applies(R"({"dataset": "cora", "model": "gae", "selector": "*"})"));
  EXPECT_FALSE(applies(R"({"dataset": "cora", "model": "sage"})"));
  EXPECT_FALSE(applies(R"({"dataset": "pubmed", "model": "gae"})"));
}

TEST(Recipe, StarMatchesAnEmptyFact) {
  Sample sample;
  Recipe::parse(R"({"rules": [{"when": {"dataset": "*"}, "set": {"model.hidden": 32}},
                              {"when": {"dataset": "c*"}, "set": {"model.hidden": 64}}]})",
                "r.json")
      .apply({{"dataset", ""}}, sample.set);
  EXPECT_EQ(sample.hidden, 32);
}

TEST(Recipe, RefusesFactsTheCallerDoesNotKnow) {
  // Before the rule that would match, and although the other key does not.
  const std::string json = R"({"rules": [{"set": {"model.hidden": 32}},
      {"when": {"model": "sage", "datset": "cora"}, "set": {}}]})";
  expectRefused(json, "r.json: rule 2: when: unknown fact 'datset'");
  Sample sample;
  const Recipe recipe = Recipe::parse(json, "r.json");
  EXPECT_EQ(hintOf([&] { recipe.apply(coraFacts(), sample.set); }),
            "did you mean 'dataset'? facts: dataset, model, selector");
  const std::vector<std::string> facts = {"datset", "model"};
  recipe.check(facts, sample.set);
}

TEST(Recipe, RefusesWrongOptionsInAnyRuleBeforeSettingOne) {
  expectRefused(R"({"rules": [{"set": {"model.hidden": 32}},
                              {"when": {"dataset": "pubmed"}, "set": {"model.hiden": 1}}]})",
                "r.json: rule 2: unknown option 'model.hiden'");
  expectRefused(R"({"rules": [{"set": {"model.hidden": 32, "training": {"lr": 7}}}]})",
                "r.json: rule 1: option training.lr: '7' is out of bounds");
  expectRefused(R"({"rules": [{"set": {"training.kind": "adm"}}]})",
                "r.json: rule 1: option training.kind: 'adm' is not a known choice");
  expectRefused(R"({"rules": [{"set": {"model.hidden": [1, 2]}}]})",
                "r.json: rule 1: option model.hidden: [1,2] is no value");
  expectRefused(R"({"rules": [{"set": {"model.hidden": 1, "model": {"hidden": 2}}}]})",
                "r.json: rule 1: option model.hidden is given twice");
}

TEST(Recipe, RefusesWhatIsNotShapedLikeOne) {
  expectRefused("[1]", "r.json: options must be a JSON object");
  expectRefused(R"({"rules": {}})", "r.json: 'rules' must be a list");
  expectRefused(R"({"about": 3, "rules": []})", "r.json: 'about' must be a text");
  expectRefused(R"({"rules": [], "model.hidden": 3})", "r.json: unknown key 'model.hidden'");
  expectRefused(R"({"rules": [{"set": {}}, {"wehn": {}, "set": {}}]})",
                "r.json: rule 2: unknown key 'wehn'");
  expectRefused(R"({"rules": [{"when": {"dataset": "cora"}}]})", "r.json: rule 1: has no 'set'");
  expectRefused(R"({"rules": ["set"]})", "r.json: rule 1: has no 'set'");
  expectRefused(R"({"rules": [{"set": 3}]})", "r.json: rule 1: options must be a JSON object");
  expectRefused(R"({"rules": [{"when": "cora", "set": {}}]})",
                "r.json: rule 1: 'when' must be a JSON object");
}

TEST(Recipe, RefusesConditionsThatCannotBeMeant) {
  const auto refused = [](const std::string& pattern, std::string_view problem) {
    expectRefused(R"({"rules": [{"when": {"model": )" + pattern + R"(}, "set": {}}]})",
                  "r.json: rule 1: when model: " + pattern + std::string(problem));
  };
  refused("3", " is not a text or a list of texts");
  refused(R"(["gae",3])", " is not a text or a list of texts");
  refused("[]", " is not a text or a list of texts");
  refused("null", " is not a text or a list of texts");
  refused(R"("g*e")", " has a '*' before the end");
  refused(R"("gae**")", " has a '*' before the end");
}

TEST(Recipe, NamesTheLineOfBrokenJson) {
  expectRefused("{\"rules\": [\n  {\"set\": {}},\n]}", "r.json:3: is not valid JSON");
  expectRefused("", "r.json:1: is not valid JSON");
  expectRefused("{\"training.lr\": 1e999}", "r.json: holds a number that is too large");
}

TEST(Recipe, TakesPlainOptionsAndTheOptionsOfARun) {
  Sample plain;
  Recipe::parse(R"({"model.hidden": 32, "training": {"lr": 0.5}})", "r.json").apply({}, plain.set);
  EXPECT_EQ(plain.hidden, 32);
  EXPECT_EQ(plain.rate, 0.5);
  Sample run;
  const std::string stored =
      R"({"format": 1, "version": "0.1.0", "options": {"model": {"hidden": 64}}})";
  Recipe::parse(stored, "options.json").apply(coraFacts(), run.set);
  EXPECT_EQ(run.hidden, 64);
  EXPECT_EQ(Recipe::parse(stored, "options.json").about(), "");
  expectRefused(R"({"model": {"hiden": 1}})", "r.json: unknown option 'model.hiden'");
  expectRefused(R"({"format": 1, "options": {"hiden": 1}})", "r.json: unknown option 'hiden'");
}

TEST(RecipeNames, AreThoseOfTheBuild) {
  const std::vector<std::string> names = recipeNames();
  EXPECT_THAT(names, IsSupersetOf({"best", "paper"}));
  EXPECT_TRUE(std::ranges::is_sorted(names));
  for (const std::string& name : names) {
    const Recipe recipe = Recipe::named(name);
    EXPECT_THAT(recipe.about(), Not(IsEmpty()));
    EXPECT_EQ(recipe.origin(), "recipe " + name);
  }
}

TEST(RecipeNames, SuggestTheNearest) {
  expectFailure<ConfigError>([] { (void)Recipe::named("bets"); }, "no recipe or file 'bets'");
  EXPECT_THAT(
      hintOf([] { (void)Recipe::named("bets"); }),
      StartsWith("did you mean 'best'? built-in recipes: best, default, paper, published;"));
  EXPECT_THAT(hintOf([] { (void)Recipe::named("something"); }),
              StartsWith("built-in recipes: best, default, paper, published;"));
  expectFailure<ConfigError>([] { (void)Recipe::named(""); }, "no recipe or file ''");
}

TEST(RecipeNames, WithASlashOrAnEndingMeanFiles) {
  expectFailure<ConfigError>([] { (void)Recipe::named("./paper"); }, "no recipe file './paper'");
  expectFailure<ConfigError>([] { (void)Recipe::named("paper.json"); },
                             "no recipe file 'paper.json'");
  const TempFolder folder;
  const std::string path = folder.write("paper", R"({"model.hidden": 32})").string();
  const Recipe recipe = Recipe::named(path);
  EXPECT_EQ(recipe.origin(), path);
  Sample sample;
  recipe.apply({}, sample.set);
  EXPECT_EQ(sample.hidden, 32);
  const std::string broken = folder.write("broken.json", "{\n'a'").string();
  expectFailure<ConfigError>([&] { (void)Recipe::named(broken); },
                             broken + ":2: is not valid JSON");
}

TEST(RecipeNames, StandBeforeFilesOfTheSameName) {
  const TempFolder folder;
  (void)folder.write("paper", R"({"model.hidden": 32})");
  (void)folder.write("mine", R"({"model.hidden": 64})");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const Recipe built_in = Recipe::named("paper");
  const Recipe file = Recipe::named("./paper");
  const Recipe mine = Recipe::named("mine");
  std::filesystem::current_path(before);
  EXPECT_EQ(built_in.origin(), "recipe paper");
  EXPECT_EQ(file.origin(), "./paper");
  Sample sample;
  mine.apply({}, sample.set);
  EXPECT_EQ(sample.hidden, 64);
}

}  // namespace
}  // namespace edgewise
