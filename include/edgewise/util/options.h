// Options defined once, in code: key, default, bounds and help stand together where the field is
// bound. The same dotted keys serve `--set key=value`, recipe files, `edgewise options` and the
// stored options.json. Unknown keys are errors that name the nearest known one.
//
//   struct SplitOptions {
//     double test = 0.1;
//     void bind(OptionSet& set) { set.add("split.test", test, {0.0, 1.0}, "share of edges ..."); }
//   };
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace edgewise {

// Inclusive bounds of a number.
template <class T>
struct Bounds {
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};

// One option as shown to people.
struct OptionDescription {
  std::string key;
  std::string type;
  std::string fallback;
  std::string bounds;
  std::string help;
};

// One option and the text to set it from.
struct OptionText {
  std::string key;
  std::string value;
};

// Every leaf of a nested or dotted JSON object, by dotted key. Throws ConfigError, opening with
// `origin`, for anything but an object, a leaf that is a list or null, and a key that stands there
// both nested and dotted: JSON objects have no order that could say which one wins.
[[nodiscard]] std::vector<OptionText> optionTexts(const nlohmann::json& values,
                                                  std::string_view origin);

// A view of options structs by dotted key. Holds references: the structs must outlive it.
class OptionSet {
 public:
  // The field's value at the time of the call is the default.
  void add(std::string key, double& field, Bounds<double> bounds, std::string help);
  void add(std::string key, std::int64_t& field, Bounds<std::int64_t> bounds, std::string help);
  void add(std::string key, bool& field, std::string help);
  // Free text.
  void add(std::string key, std::string& field, std::string help);
  // One of a few words.
  void add(std::string key, std::string& field, std::vector<std::string> choices, std::string help);

  // Sets one option from text. Throws ConfigError for an unknown key (with the nearest), a value of
  // the wrong type or out of bounds. `origin` says where it came from ("--set", a recipe's path).
  void set(std::string_view key, std::string_view value, std::string_view origin);
  // Throws what `set` would throw; changes nothing.
  void check(std::string_view key, std::string_view value, std::string_view origin) const;
  // "key=value".
  void setAssignment(std::string_view assignment, std::string_view origin);
  // Sets every leaf of a nested or dotted JSON object (see optionTexts).
  void setAll(const nlohmann::json& values, std::string_view origin);

  // All values, nested by the dots of their keys.
  [[nodiscard]] nlohmann::json toJson() const;
  [[nodiscard]] std::string value(std::string_view key) const;
  // Whether the option was set after it was added.
  [[nodiscard]] bool wasSet(std::string_view key) const;
  [[nodiscard]] std::vector<OptionDescription> describe() const;
  // Throws ConfigError with the nearest key when unknown.
  [[nodiscard]] OptionDescription describe(std::string_view key) const;

 private:
  struct RealField {
    double* field;
    Bounds<double> bounds;
  };
  struct IntegerField {
    std::int64_t* field;
    Bounds<std::int64_t> bounds;
  };
  struct BoolField {
    bool* field;
  };
  struct TextField {
    std::string* field;
    std::vector<std::string> choices;
  };
  using Field = std::variant<RealField, IntegerField, BoolField, TextField>;
  struct Option {
    std::string key;
    Field field;
    std::string fallback;
    std::string help;
    bool was_set = false;
  };

  void insert(std::string key, Field field, std::string help);
  [[nodiscard]] const Option& find(std::string_view key, std::string_view origin) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  // Reads `value` for the option and calls `take(field, read value)`.
  template <class Take>
  static void read(const Option& option, std::string_view value, std::string_view origin,
                   const Take& take);
  static std::string textOf(const Field& field);
  static OptionDescription describeOption(const Option& option);

  std::vector<Option> options_;
};

}  // namespace edgewise
