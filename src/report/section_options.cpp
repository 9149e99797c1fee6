#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "edgewise/report/html.h"
#include "report/sections.h"

namespace edgewise {
namespace {

using Cells = std::vector<HtmlTable::Cell>;

// Decided anew for every run of a group.
bool isPerRun(const std::string& key) { return key == "run.seed" || key == "run.recipe"; }

std::string shown(const std::string& value) { return value.empty() ? "–" : value; }

// All options of a run as text; the options themselves stay as they are.
class OptionValues {
 public:
  explicit OptionValues(const RunRecord& run) : options_(run.options), set_(options_.bind()) {}
  OptionValues(const OptionValues&) = delete;
  OptionValues& operator=(const OptionValues&) = delete;
  OptionValues(OptionValues&&) = delete;
  OptionValues& operator=(OptionValues&&) = delete;
  ~OptionValues() = default;
  [[nodiscard]] std::string of(const std::string& key) const { return set_.value(key); }

 private:
  RunOptions options_;
  OptionSet set_;
};

std::vector<OptionDescription> descriptions() {
  RunOptions options;
  return options.bind().describe();
}

// Options of one method: those that differ from the default, or all.
std::string optionTable(const RunGroup& group, bool all) {
  const OptionValues values(group.first());
  HtmlTable table(
      fmt::format("{} of {}", all ? "All options" : "Options that differ from their default",
                  group.name),
      {"option", "value", "default", "about"});
  for (const OptionDescription& option : descriptions()) {
    const std::string value = values.of(option.key);
    const bool changed = value != option.fallback;
    if (all || changed) {
      table.addRow({option.key,
                    changed
                        ? HtmlTable::Cell::raw("<strong>" + escapeMarkup(shown(value)) +
                                               "</strong><span class=\"changed\"> changed</span>")
                        : HtmlTable::Cell(shown(value)),
                    shown(option.fallback), option.help});
    }
  }
  return table.empty() ? "<p>All options stand at their defaults.</p>\n" : table.render("options");
}

// Options that are not the same for all methods.
std::string differences(RunGroups groups) {
  Cells head = {"option"};
  std::vector<std::unique_ptr<OptionValues>> values;
  for (const RunGroup& group : groups) {
    head.emplace_back(group.name);
    values.push_back(std::make_unique<OptionValues>(group.first()));
  }
  head.emplace_back("default");
  HtmlTable table("Options in which the methods differ", std::move(head));
  for (const OptionDescription& option : descriptions()) {
    const std::string first = values.front()->of(option.key);
    const bool same = std::ranges::all_of(
        values, [&](const auto& each) { return each->of(option.key) == first; });
    if (same || isPerRun(option.key)) {
      continue;
    }
    Cells row = {option.key};
    for (const auto& each : values) {
      const std::string value = each->of(option.key);
      row.push_back(HtmlTable::Cell::classed(shown(value), value != option.fallback ? "best" : ""));
    }
    row.emplace_back(shown(option.fallback));
    table.addRow(std::move(row));
  }
  return table.empty() ? "<p>The methods differ in no option.</p>\n" : table.render("options");
}

}  // namespace

std::string optionsSection(RunGroups groups) {
  if (groups.size() == 1) {
    return optionTable(groups.front(), false) +
           folded("All options", optionTable(groups.front(), true), OnPaper::kLeftOut);
  }
  std::string html = differences(groups) + "<p class=\"note\">Bold: not the default.</p>\n";
  for (const RunGroup& group : groups) {
    html += folded("All options of " + group.name, optionTable(group, true), OnPaper::kLeftOut);
  }
  return html;
}

}  // namespace edgewise
