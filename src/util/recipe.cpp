#include "edgewise/util/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"
#include "util/embedded_recipes.h"

namespace edgewise {
namespace {

// "did you mean 'x'? facts: x, y": there are few names, so the whole list always helps.
std::string hintAmong(std::string_view name, std::span<const std::string> known,
                      std::string_view what) {
  const std::string all = fmt::format("{}: {}", what, joinText(known, ", "));
  const auto nearest = nearestName(name, known);
  return nearest ? fmt::format("did you mean '{}'? {}", *nearest, all) : all;
}

void requireKeys(const nlohmann::json& object, const std::vector<std::string>& known,
                 std::string_view origin) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      throw ConfigError(fmt::format("{}: unknown key '{}'", origin, key),
                        hintAmong(key, known, "keys") + "; options go into a rule's \"set\"");
    }
  }
}

nlohmann::json parseJson(std::string_view text, const std::string& origin) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto lines = std::ranges::count(text.substr(0, error.byte), '\n');
    throw ConfigError(fmt::format("{}:{}: is not valid JSON", origin, lines + 1),
                      "a recipe is JSON: texts in double quotes, no comma before } or ]");
  } catch (const nlohmann::json::exception&) {
    // A number beyond all bounds is not counted among the parse errors.
    throw ConfigError(fmt::format("{}: holds a number that is too large", origin));
  }
}

bool matchesPattern(std::string_view pattern, std::string_view value) {
  if (!pattern.ends_with('*')) {
    return value == pattern;
  }
  pattern.remove_suffix(1);
  return value.starts_with(pattern);
}

bool isPath(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".json");
}

Recipe readRecipeFile(std::string_view path) {
  if (!isThere(path)) {
    const std::vector<std::string> names = recipeNames();
    const std::string_view what = isPath(path) ? "recipe file" : "recipe or file";
    throw ConfigError(fmt::format("no {} '{}'", what, path),
                      hintAmong(path, names, "built-in recipes") + "; or a JSON file of options");
  }
  const FileBytes bytes = readFile(path);
  return Recipe::parse(bytes.view(), std::string(path));
}

}  // namespace

Recipe Recipe::named(std::string_view name_or_path) {
  if (!isPath(name_or_path)) {
    for (const EmbeddedRecipe& embedded : embeddedRecipes()) {
      if (embedded.name == name_or_path) {
        return parse(embedded.json, fmt::format("recipe {}", embedded.name));
      }
    }
  }
  return readRecipeFile(name_or_path);
}

Recipe Recipe::parse(std::string_view json, std::string origin) {
  const nlohmann::json parsed = parseJson(json, origin);
  Recipe recipe(std::move(origin));
  if (parsed.is_object() && parsed.contains("rules")) {
    recipe.readRules(parsed);
    return recipe;
  }
  // A run's own options.json repeats that run.
  const bool is_a_run =
      parsed.is_object() && parsed.contains("format") && parsed.contains("options");
  recipe.rules_.push_back(
      {recipe.origin_, {}, optionTexts(is_a_run ? parsed["options"] : parsed, recipe.origin_)});
  return recipe;
}

void Recipe::readRules(const nlohmann::json& recipe) {
  requireKeys(recipe, {"about", "rules"}, origin_);
  if (const auto about = recipe.find("about"); about != recipe.end()) {
    if (!about->is_string()) {
      throw ConfigError(fmt::format("{}: 'about' must be a text", origin_));
    }
    about_ = about->get<std::string>();
  }
  const nlohmann::json& rules = recipe["rules"];
  if (!rules.is_array()) {
    throw ConfigError(fmt::format("{}: 'rules' must be a list", origin_));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules_.push_back(parseRule(rules[i], fmt::format("{}: rule {}", origin_, i + 1)));
  }
}

Recipe::Rule Recipe::parseRule(const nlohmann::json& rule, std::string origin) {
  if (!rule.is_object() || !rule.contains("set")) {
    throw ConfigError(fmt::format("{}: has no 'set'", origin),
                      R"(a rule is {"when": {FACT: VALUE}, "set": {OPTION: VALUE}})");
  }
  requireKeys(rule, {"when", "set"}, origin);
  Rule result{std::move(origin), {}, {}};
  result.options = optionTexts(rule["set"], result.origin);
  if (const auto when = rule.find("when"); when != rule.end()) {
    if (!when->is_object()) {
      throw ConfigError(fmt::format("{}: 'when' must be a JSON object", result.origin),
                        R"(as in "when": {"dataset": ["cora", "citeseer"]})");
    }
    for (const auto& [fact, patterns] : when->items()) {
      result.when.push_back(parseCondition(fact, patterns, result.origin));
    }
  }
  return result;
}

Recipe::Condition Recipe::parseCondition(const std::string& fact, const nlohmann::json& patterns,
                                         std::string_view origin) {
  const auto fail = [&](std::string_view problem, std::string hint) {
    throw ConfigError(fmt::format("{}: when {}: {} {}", origin, fact, patterns.dump(), problem),
                      std::move(hint));
  };
  const nlohmann::json list = patterns.is_string() ? nlohmann::json::array({patterns}) : patterns;
  // An empty list would match nothing, which nobody writes on purpose.
  if (!list.is_array() || list.empty()) {
    fail("is not a text or a list of texts", "leave the key out to match everything");
  }
  Condition condition{fact, {}};
  for (const nlohmann::json& pattern : list) {
    if (!pattern.is_string()) {
      fail("is not a text or a list of texts", "write every value in double quotes");
    }
    condition.patterns.push_back(pattern.get<std::string>());
    const std::string& text = condition.patterns.back();
    if (const std::size_t star = text.find('*'); star != text.npos && star + 1 != text.size()) {
      fail("has a '*' before the end", "a '*' stands for the rest of a value");
    }
  }
  return condition;
}

bool Recipe::matches(const Rule& rule, const RecipeFacts& facts) {
  return std::ranges::all_of(rule.when, [&](const Condition& condition) {
    const std::string& value = facts.at(condition.fact);
    return std::ranges::any_of(condition.patterns, [&](const std::string& pattern) {
      return matchesPattern(pattern, value);
    });
  });
}

void Recipe::apply(const RecipeFacts& facts, OptionSet& set) const {
  std::vector<std::string> fact_names;
  for (const auto& [name, value] : facts) {
    fact_names.push_back(name);
  }
  check(fact_names, set);
  for (const Rule& rule : rules_) {
    if (!matches(rule, facts)) {
      continue;
    }
    for (const OptionText& option : rule.options) {
      set.set(option.key, option.value, rule.origin);
    }
  }
}

void Recipe::check(std::span<const std::string> fact_names, const OptionSet& set) const {
  for (const Rule& rule : rules_) {
    for (const Condition& condition : rule.when) {
      if (std::ranges::find(fact_names, condition.fact) == fact_names.end()) {
        throw ConfigError(fmt::format("{}: when: unknown fact '{}'", rule.origin, condition.fact),
                          hintAmong(condition.fact, fact_names, "facts"));
      }
    }
    for (const OptionText& option : rule.options) {
      set.check(option.key, option.value, rule.origin);
    }
  }
}

std::vector<std::string> recipeNames() {
  std::vector<std::string> names;
  for (const EmbeddedRecipe& recipe : embeddedRecipes()) {
    names.emplace_back(recipe.name);
  }
  return names;
}

}  // namespace edgewise
