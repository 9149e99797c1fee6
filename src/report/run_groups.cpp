#include "report/run_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// What must be the same for two runs to be repetitions of one another.
std::string methodOf(const RunRecord& record) {
  nlohmann::json deciding = decidingOptions(record.options);
  deciding["run"].erase("seed");
  deciding["split"].erase("seed");
  deciding["data_hash"] = record.metrics.data_hash;
  return deciding.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::map<std::string, std::string> valuesOf(const RunRecord& record) {
  std::map<std::string, std::string> values;
  for (const OptionText& option : optionTexts(decidingOptions(record.options), "options")) {
    values[option.key] = option.value;
  }
  for (const char* key : {"run.seed", "split.seed"}) {
    values.erase(key);
  }
  return values;
}

std::vector<RunGroup*> namesakes(std::vector<RunGroup>& groups, const std::string& name) {
  std::vector<RunGroup*> same;
  for (RunGroup& group : groups) {
    if (group.name == name) {
      same.push_back(&group);
    }
  }
  return same;
}

// Options in which the groups differ, as long as they are few.
void nameByOptions(std::span<RunGroup* const> same) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::map<std::string, std::string>> values;
  values.reserve(same.size());
  for (const RunGroup* group : same) {
    values.push_back(valuesOf(group->first()));
  }
  std::vector<std::string> differing;
  for (const auto& [key, value] : values.front()) {
    const bool differs = std::ranges::any_of(values, [&, &name = key, &first = value](auto& each) {
      const auto found = each.find(name);
      return found == each.end() || found->second != first;
    });
    if (differs) {
      differing.push_back(key);
    }
  }
  differing.resize(std::min(differing.size(), kMostNamed));
  for (std::size_t i = 0; i < same.size(); ++i) {
    for (const std::string& key : differing) {
      same[i]->name += fmt::format(" {}={}", key.substr(key.find('.') + 1), values[i][key]);
    }
  }
}

// Calls `rename` for every set of groups of one name.
void tellApart(std::vector<RunGroup>& groups,
               const std::function<void(std::span<RunGroup* const>)>& rename) {
  std::set<std::string> names;
  for (const RunGroup& group : groups) {
    names.insert(group.name);
  }
  for (const std::string& name : names) {
    if (const std::vector<RunGroup*> same = namesakes(groups, name); same.size() > 1) {
      rename(same);
    }
  }
}

}  // namespace

std::vector<RunGroup> groupRuns(std::span<const RunRecord> records) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> known;
  bool one_dataset = true;
  for (const RunRecord& record : records) {
    const auto [found, is_new] = known.emplace(methodOf(record), groups.size());
    if (is_new) {
      groups.push_back({.name = record.metrics.label(), .runs = {}});
    }
    groups[found->second].runs.push_back(&record);
    one_dataset = one_dataset && record.metrics.dataset == records.front().metrics.dataset;
  }
  for (RunGroup& group : groups) {
    group.name += one_dataset ? "" : " on " + group.first().metrics.dataset;
  }
  tellApart(groups, nameByOptions);
  tellApart(groups, [](std::span<RunGroup* const> same) {
    for (RunGroup* group : same) {
      group->name += " in " + group->first().folder.string();
    }
  });
  return groups;
}

std::optional<MeanStd> meanOver(
    const RunGroup& group, const std::function<std::optional<double>(const RunRecord&)>& value) {
  std::vector<double> values;
  values.reserve(group.runs.size());
  for (const RunRecord* run : group.runs) {
    const std::optional<double> found = value(*run);
    if (!found) {
      return std::nullopt;
    }
    values.push_back(*found);
  }
  return summarise(values);
}

std::vector<std::string> whyNotCompared(std::span<const RunGroup> groups) {
  // By dataset: the first run's data; by dataset and seed: the first run's split.
  std::map<std::string, const RunRecord*> data;
  std::map<std::pair<std::string, std::uint64_t>, const RunRecord*> splits;
  std::set<std::string> told;
  std::vector<std::string> reasons;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      const std::string& name = run->metrics.dataset;
      const RunRecord& first = *data.try_emplace(name, run).first->second;
      if (first.metrics.data_hash != run->metrics.data_hash) {
        if (told.insert(name).second) {
          reasons.push_back(
              fmt::format("{} and {} were made on different data, though both call it {}: their "
                          "results do not compare",
                          first.folder.string(), run->folder.string(), name));
        }
        continue;
      }
      const RunRecord& same = *splits.try_emplace({name, run->metrics.seed}, run).first->second;
      if (same.metrics.split.hash != run->metrics.split.hash && told.insert(name).second) {
        reasons.push_back(fmt::format(
            "{} and {} were measured on different splits of {} (split.* or negatives.* differ): "
            "their results do not compare",
            same.folder.string(), run->folder.string(), name));
      }
    }
  }
  return reasons;
}

std::string seedsText(const RunGroup& group) {
  std::vector<std::string> seeds;
  seeds.reserve(group.runs.size());
  for (const RunRecord* run : group.runs) {
    seeds.push_back(std::to_string(run->metrics.seed));
  }
  return fmt::format("{} {}", seeds.size() == 1 ? "seed" : fmt::format("{} seeds:", seeds.size()),
                     joinText(seeds, ", "));
}

}  // namespace edgewise
