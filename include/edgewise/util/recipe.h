// Recipes: options that belong together, under a name or in a file. Which values work depends on
// the dataset and the model, so a recipe is a list of rules, each with a condition on the run:
//
//   {"about": "one sentence for `edgewise options --recipes`",
//    "rules": [
//      {"set": {"training": {"lr": 0.01}}},
//      {"when": {"dataset": ["cora", "citeseer"], "selector": "fixed*"},
//       "set": {"model.hidden": 32}}]}
//
// Rules apply in order and later ones win. A rule applies when every fact that its "when" names
// equals one of the texts given for it, or starts with one that ends in '*'; without "when" it
// always does. JSON without "rules" is plain options, nested or dotted, and so is the options.json
// of a run.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/util/options.h"

namespace edgewise {

// What rules may ask about a run, e.g. dataset -> cora. Taken before the recipe applies: what a
// rule sets does not change which later rules match.
using RecipeFacts = std::map<std::string, std::string>;

class Recipe {
 public:
  // The built-in recipe of that name, else the file at that path. A '/' or the ending .json always
  // means a file, so ./paper is never the built-in one. Throws ConfigError when there is neither
  // (with the nearest name), and what `parse` and `readFile` throw.
  [[nodiscard]] static Recipe named(std::string_view name_or_path);
  // `origin` opens every message about the recipe. Throws ConfigError for what is not JSON (with
  // the line) and not shaped like a recipe (with the rule, counted from 1, and the key).
  [[nodiscard]] static Recipe parse(std::string_view json, std::string origin);

  // Empty for plain options.
  [[nodiscard]] const std::string& about() const { return about_; }
  // "recipe NAME", or the file's path.
  [[nodiscard]] const std::string& origin() const { return origin_; }

  // Sets the options of the rules that match. All rules are checked first, the others too, so that
  // a slip does not wait for the dataset it was made for; when something is thrown, nothing was
  // set. Throws what `check` throws.
  void apply(const RecipeFacts& facts, OptionSet& set) const;
  // Throws ConfigError, with the rule and the key, when a rule asks for a fact not in `fact_names`
  // or holds an option or a value that `set` does not take.
  void check(std::span<const std::string> fact_names, const OptionSet& set) const;

 private:
  struct Condition {
    std::string fact;
    std::vector<std::string> patterns;
  };
  struct Rule {
    std::string origin;
    std::vector<Condition> when;
    std::vector<OptionText> options;
  };

  explicit Recipe(std::string origin) : origin_(std::move(origin)) {}
  void readRules(const nlohmann::json& recipe);
  static Rule parseRule(const nlohmann::json& rule, std::string origin);
  static Condition parseCondition(const std::string& fact, const nlohmann::json& patterns,
                                  std::string_view origin);
  static bool matches(const Rule& rule, const RecipeFacts& facts);

  std::string origin_;
  std::string about_;
  std::vector<Rule> rules_;
};

// The built-in recipes, sorted.
[[nodiscard]] std::vector<std::string> recipeNames();

}  // namespace edgewise
