#include "edgewise/util/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// "0 or more", "0 to 1", ...; empty when unbounded.
template <class T>
std::string boundsText(const Bounds<T>& bounds) {
  const Bounds<T> unbounded;
  const bool has_low = bounds.low != unbounded.low;
  const bool has_high = bounds.high != unbounded.high;
  if (has_low && has_high) {
    return fmt::format("{} to {}", bounds.low, bounds.high);
  }
  if (has_low) {
    return fmt::format("{} or more", bounds.low);
  }
  return has_high ? fmt::format("{} or less", bounds.high) : std::string();
}

// What it takes to read a text for a field: parse, check, or say what was expected.
class Assignment {
 public:
  Assignment(std::string_view key, std::string_view value, std::string_view origin)
      : key_(key), value_(value), origin_(origin) {}

  template <class T>
  [[nodiscard]] T number(std::optional<T> parsed, T present, const Bounds<T>& bounds,
                         std::string_view kind) const {
    if (!parsed || (std::is_floating_point_v<T> && !std::isfinite(static_cast<double>(*parsed)))) {
      fail(fmt::format("is not {}", kind),
           fmt::format("give {}, as in {}={}", kind, key_, present));
    }
    if (*parsed < bounds.low || *parsed > bounds.high) {
      fail("is out of bounds", fmt::format("allowed: {}", boundsText(bounds)));
    }
    return *parsed;
  }

  [[nodiscard]] bool boolean() const {
    const std::string word = lowerCase(value_);
    const bool yes = word == "true" || word == "yes" || word == "on" || word == "1";
    if (!yes && word != "false" && word != "no" && word != "off" && word != "0") {
      fail("is not true or false", fmt::format("write {}=true or {}=false", key_, key_));
    }
    return yes;
  }

  [[nodiscard]] std::string text(const std::vector<std::string>& choices) const {
    if (!choices.empty() && std::ranges::find(choices, value_) == choices.end()) {
      fail("is not a known choice",
           fmt::format("{} (choices: {})", suggestName(value_, choices), joinText(choices, ", ")));
    }
    return std::string(value_);
  }

 private:
  [[noreturn]] void fail(std::string_view problem, std::string hint) const {
    throw ConfigError(fmt::format("{}: option {}: '{}' {}", origin_, key_, value_, problem),
                      std::move(hint));
  }

  std::string_view key_;
  std::string_view value_;
  std::string_view origin_;
};

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

// Adds the leaves below `node`, whose keys all start with `prefix`, to `texts`.
void collectTexts(const nlohmann::json& node, const std::string& prefix, std::string_view origin,
                  std::vector<OptionText>& texts) {
  for (const auto& [name, child] : node.items()) {
    const std::string key = prefix.empty() ? name : fmt::format("{}.{}", prefix, name);
    if (child.is_object()) {
      collectTexts(child, key, origin, texts);
      continue;
    }
    if (child.is_array() || child.is_null()) {
      throw ConfigError(fmt::format("{}: option {}: {} is no value", origin, key, child.dump()),
                        "give one text, number, true or false");
    }
    if (std::ranges::find(texts, key, &OptionText::key) != texts.end()) {
      throw ConfigError(fmt::format("{}: option {} is given twice", origin, key),
                        "keep either the nested or the dotted one");
    }
    texts.push_back({key, child.is_string() ? child.get<std::string>() : child.dump()});
  }
}

}  // namespace

std::vector<OptionText> optionTexts(const nlohmann::json& values, std::string_view origin) {
  if (!values.is_object()) {
    throw ConfigError(fmt::format("{}: options must be a JSON object", origin));
  }
  std::vector<OptionText> texts;
  collectTexts(values, "", origin, texts);
  return texts;
}

void OptionSet::add(std::string key, double& field, Bounds<double> bounds, std::string help) {
  insert(std::move(key), RealField{&field, bounds}, std::move(help));
}

void OptionSet::add(std::string key, std::int64_t& field, Bounds<std::int64_t> bounds,
                    std::string help) {
  insert(std::move(key), IntegerField{&field, bounds}, std::move(help));
}

void OptionSet::add(std::string key, bool& field, std::string help) {
  insert(std::move(key), BoolField{&field}, std::move(help));
}

void OptionSet::add(std::string key, std::string& field, std::string help) {
  insert(std::move(key), TextField{&field, {}}, std::move(help));
}

void OptionSet::add(std::string key, std::string& field, std::vector<std::string> choices,
                    std::string help) {
  insert(std::move(key), TextField{&field, std::move(choices)}, std::move(help));
}

void OptionSet::insert(std::string key, Field field, std::string help) {
  invariant(std::ranges::find(options_, key, &Option::key) == options_.end(),
            "option '" + key + "' is defined twice");
  std::string fallback = textOf(field);
  options_.push_back({std::move(key), std::move(field), std::move(fallback), std::move(help)});
}

const OptionSet::Option& OptionSet::find(std::string_view key, std::string_view origin) const {
  const auto found = std::ranges::find(options_, key, &Option::key);
  if (found == options_.end()) {
    throw ConfigError(fmt::format("{}: unknown option '{}'", origin, key),
                      suggestName(key, keys()) + "; `edgewise options` lists all");
  }
  return *found;
}

std::vector<std::string> OptionSet::keys() const {
  std::vector<std::string> names;
  names.reserve(options_.size());
  for (const Option& option : options_) {
    names.push_back(option.key);
  }
  return names;
}

template <class Take>
void OptionSet::read(const Option& option, std::string_view value, std::string_view origin,
                     const Take& take) {
  const Assignment assignment(option.key, value, origin);
  std::visit(Overloaded{
                 [&](const RealField& real) {
                   take(*real.field,
                        assignment.number(parseReal(value), *real.field, real.bounds, "a number"));
                 },
                 [&](const IntegerField& integer) {
                   take(*integer.field, assignment.number(parseInteger(value), *integer.field,
                                                          integer.bounds, "a whole number"));
                 },
                 [&](const BoolField& flag) { take(*flag.field, assignment.boolean()); },
                 [&](const TextField& text) { take(*text.field, assignment.text(text.choices)); },
             },
             option.field);
}

void OptionSet::set(std::string_view key, std::string_view value, std::string_view origin) {
  const auto place = &find(key, origin) - options_.data();
  Option& option = options_[static_cast<std::size_t>(place)];
  read(option, value, origin, [](auto& field, auto read_value) { field = std::move(read_value); });
  option.was_set = true;
}

void OptionSet::check(std::string_view key, std::string_view value, std::string_view origin) const {
  read(find(key, origin), value, origin, [](const auto&, const auto&) {});
}

void OptionSet::setAssignment(std::string_view assignment, std::string_view origin) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw ConfigError(fmt::format("{}: '{}' has no '='", origin, assignment),
                      "write KEY=VALUE, as in --set split.test=0.2");
  }
  set(trimmed(assignment.substr(0, equals)), trimmed(assignment.substr(equals + 1)), origin);
}

void OptionSet::setAll(const nlohmann::json& values, std::string_view origin) {
  for (const OptionText& text : optionTexts(values, origin)) {
    set(text.key, text.value, origin);
  }
}

nlohmann::json OptionSet::toJson() const {
  nlohmann::json result = nlohmann::json::object();
  for (const Option& option : options_) {
    nlohmann::json* place = &result;
    for (const std::string_view part : splitText(option.key, '.')) {
      place = &(*place)[std::string(part)];
    }
    std::visit(Overloaded{
                   [&](const RealField& real) { *place = *real.field; },
                   [&](const IntegerField& integer) { *place = *integer.field; },
                   [&](const BoolField& flag) { *place = *flag.field; },
                   [&](const TextField& text) { *place = *text.field; },
               },
               option.field);
  }
  return result;
}

std::string OptionSet::value(std::string_view key) const {
  return textOf(find(key, "options").field);
}

bool OptionSet::wasSet(std::string_view key) const { return find(key, "options").was_set; }

std::vector<OptionDescription> OptionSet::describe() const {
  std::vector<OptionDescription> all;
  all.reserve(options_.size());
  for (const Option& option : options_) {
    all.push_back(describeOption(option));
  }
  return all;
}

OptionDescription OptionSet::describe(std::string_view key) const {
  return describeOption(find(key, "options"));
}

OptionDescription OptionSet::describeOption(const Option& option) {
  OptionDescription description{.key = option.key,
                                .type = {},
                                .fallback = option.fallback,
                                .bounds = {},
                                .help = option.help};
  std::visit(Overloaded{
                 [&](const RealField& real) {
                   description.type = "number";
                   description.bounds = boundsText(real.bounds);
                 },
                 [&](const IntegerField& integer) {
                   description.type = "integer";
                   description.bounds = boundsText(integer.bounds);
                 },
                 [&](const BoolField&) {
                   description.type = "bool";
                   description.bounds = "true, false";
                 },
                 [&](const TextField& text) {
                   description.type = text.choices.empty() ? "text" : "choice";
                   description.bounds = joinText(text.choices, ", ");
                 },
             },
             option.field);
  return description;
}

std::string OptionSet::textOf(const Field& field) {
  return std::visit(
      Overloaded{
          [](const RealField& real) { return fmt::format("{}", *real.field); },
          [](const IntegerField& integer) { return fmt::format("{}", *integer.field); },
          [](const BoolField& flag) { return std::string(*flag.field ? "true" : "false"); },
          [](const TextField& text) { return *text.field; },
      },
      field);
}

}  // namespace edgewise
