#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "edgewise/report/html.h"
#include "edgewise/report/mean_text.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/text.h"
#include "report/sections.h"

namespace edgewise {
namespace {

using Cells = std::vector<HtmlTable::Cell>;

// Stages of metrics.json as people say them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kStageNames = {
    {{"load_s", "loading"},
     {"audit_s", "audit"},
     {"valid_s", "validation"},
     {"eval_s", "evaluation"},
     {"search_s", "search"},
     {"search_step_ms", "a search step"},
     {"apply_s", "training"},
     {"apply_step_ms", "a training step"},
     {"apply_network_ms", "of it, alone"},
     {"refit_s", "refit"},
     {"refit_step_ms", "a refit step"},
     {"refit_network_ms", "of it, alone"},
     {"full_ranking_ms", "ranking"},
     {"vanilla_step_ms", "a plain step"}}};

std::string stageName(const std::string& stage) {
  const auto* const found =
      std::ranges::find(kStageNames, stage, [](const auto& each) { return each.first; });
  return found == kStageNames.end() ? stage : std::string(found->second);
}

std::optional<double> timeOf(const RunRecord& run, const std::string& stage) {
  const auto found =
      std::ranges::find(run.metrics.time, stage, &std::pair<std::string, double>::first);
  return found == run.metrics.time.end() ? std::nullopt : std::optional(found->second);
}

std::string timeText(const RunGroup& group, const std::string& stage) {
  const auto mean = meanOver(group, [&](const RunRecord& run) { return timeOf(run, stage); });
  if (!mean) {
    return "–";
  }
  return stage.ends_with("_ms") ? meanText(*mean, 2) + " ms" : readableSeconds(mean->mean);
}

std::string bytesText(const RunGroup& group, std::uint64_t RunMetrics::* field) {
  const auto mean = meanOver(
      group, [&](const RunRecord& run) { return static_cast<double>(run.metrics.*field); });
  return mean && mean->mean > 0 ? readableBytes(static_cast<std::uint64_t>(mean->mean)) : "–";
}

std::vector<std::string> stagesOf(RunGroups groups) {
  std::vector<std::string> stages;
  for (const RunGroup& group : groups) {
    for (const auto& [stage, ignored] : group.first().metrics.time) {
      if (std::ranges::find(stages, stage) == stages.end()) {
        stages.push_back(stage);
      }
    }
  }
  return stages;
}

std::string parametersText(const RunGroup& group) {
  const auto& learning = group.first().metrics.learning;
  return learning ? groupedCount(static_cast<std::uint64_t>(learning->parameters)) : "–";
}

std::string epochsText(const RunGroup& group) {
  const auto mean = meanOver(group, [](const RunRecord& run) -> std::optional<double> {
    return run.metrics.learning ? std::optional(static_cast<double>(run.metrics.learning->epochs))
                                : std::nullopt;
  });
  return mean ? meanText(*mean, mean->std > 0 ? 1 : 0) : "–";
}

std::string deviceText(const RunMetrics& metrics) {
  return metrics.device + (metrics.precision == "fp32" ? "" : " " + metrics.precision) + ", " +
         countText(static_cast<std::uint64_t>(metrics.threads), "thread");
}

std::string leaksText(const RunGroup& group, std::size_t leaks) {
  return leaks == 0 ? fmt::format("{} checks, no leaks", group.first().metrics.audit.checks.size())
                    : fmt::format("{} leaks", groupedCount(leaks));
}

std::string findings(const std::vector<Leak>& list) {
  std::string html;
  for (const Leak& leak : list) {
    html += fmt::format(
        "<li>{} {}{}</li>\n", groupedCount(leak.count), escapeMarkup(leak.what),
        leak.examples.empty()
            ? ""
            : fmt::format(" (for example {})", escapeMarkup(joinText(leak.examples, "; "))));
  }
  return html.empty() ? html : "<ul>\n" + html + "</ul>\n";
}

// What one run's audit found, or nothing.
std::string auditOf(const RunGroup& group, const RunRecord& run) {
  const AuditReport& audit = run.metrics.audit;
  if (audit.clean() && audit.remarks.empty()) {
    return "";
  }
  return fmt::format("<h3>{}, seed {}</h3>\n{}{}{}", escapeMarkup(group.name), run.metrics.seed,
                     audit.clean() ? "" : "<p class=\"bad\">Leaks:</p>\n" + findings(audit.leaks),
                     audit.remarks.empty() ? "" : "<p>Curious but harmless:</p>\n",
                     findings(audit.remarks));
}

void addFacts(HtmlTable& table, const DatasetFacts& facts) {
  const auto count = [](std::size_t value) { return groupedCount(value); };
  if (facts.bipartite) {
    table.addRow({"users", count(facts.bipartite->users)});
    table.addRow({"items", count(facts.bipartite->items)});
  } else {
    table.addRow({"nodes", count(facts.nodes)});
  }
  table.addRow({facts.bipartite ? "interactions" : "edges",
                count(facts.edges) + (facts.directed ? ", directed" : "")});
  if (facts.nodes > 0) {
    table.addRow({"mean degree", fmt::format("{:.2f}", 2 * static_cast<double>(facts.edges) /
                                                           static_cast<double>(facts.nodes))});
  }
  table.addRow({"features", facts.features == 0
                                ? "none"
                                : fmt::format("{} ({} nonzeros)", count(facts.features),
                                              count(facts.nonzeros))});
  const auto mended = [&](const char* what, std::size_t number) {
    if (number > 0) {
      table.addRow({what, count(number)});
    }
  };
  mended("self-loops dropped", facts.self_loops);
  mended("repeated rows merged", facts.duplicates);
  mended("edges listed both ways merged", facts.mirrored);
  for (const std::string& remark : facts.remarks) {
    table.addRow({"remark", remark});
  }
}

std::string datasetTable(const RunRecord& run) {
  const RunMetrics& metrics = run.metrics;
  HtmlTable table(
      fmt::format("{} and how it was split (seed {})", metrics.dataset, metrics.split.seed),
      {"fact", "value"});
  if (metrics.data) {
    addFacts(table, *metrics.data);
  }
  const SplitSummary& split = metrics.split;
  table.addRow({"split", split.kind});
  table.addRow({"training edges that carry messages", groupedCount(split.message)});
  table.addRow({"training edges learned from", groupedCount(split.supervision)});
  table.addRow({"validation edges", groupedCount(split.valid)});
  table.addRow({"test edges", groupedCount(split.test)});
  table.addRow(
      {"negatives",
       split.negatives_per_positive > 0
           ? fmt::format("{} {} for each edge", groupedCount(split.negatives_per_positive),
                         split.negatives)
           : fmt::format("{}: {} for validation, {} for the test", split.negatives,
                         groupedCount(split.valid_negative), groupedCount(split.test_negative))});
  table.addRow(
      {"data hash", HtmlTable::Cell::raw("<code>" + escapeMarkup(metrics.data_hash) + "</code>")});
  table.addRow(
      {"split hash", HtmlTable::Cell::raw("<code>" + escapeMarkup(split.hash) + "</code>")});
  return table.render();
}

}  // namespace

std::string costSection(RunGroups groups) {
  const std::vector<std::string> stages = stagesOf(groups);
  Cells head = {"method", "computed by", "parameters", "epochs"};
  for (const std::string& stage : stages) {
    head.emplace_back(stageName(stage));
  }
  const bool gpu = std::ranges::any_of(
      groups, [](const RunGroup& group) { return group.first().metrics.peak_device_bytes > 0; });
  head.emplace_back("memory");
  if (gpu) {
    head.emplace_back("GPU memory");
  }
  std::vector<Cells> rows;
  for (const RunGroup& group : groups) {
    Cells row = {group.name, deviceText(group.first().metrics), parametersText(group),
                 epochsText(group)};
    for (const std::string& stage : stages) {
      row.emplace_back(timeText(group, stage));
    }
    row.emplace_back(bytesText(group, &RunMetrics::peak_bytes));
    if (gpu) {
      row.emplace_back(bytesText(group, &RunMetrics::peak_device_bytes));
    }
    rows.push_back(std::move(row));
  }
  if (groups.size() > 1) {
    HtmlTable table("Time, memory and size, means over seeds", head);
    for (Cells& row : rows) {
      table.addRow(std::move(row));
    }
    return table.render("numbers");
  }
  // One method reads better downwards.
  HtmlTable table("Time, memory and size" +
                      std::string(groups.front().runs.size() > 1 ? ", means over seeds" : ""),
                  {"what", groups.front().name});
  for (std::size_t i = 1; i < head.size(); ++i) {
    table.addRow({head[i], rows.front()[i]});
  }
  return table.render("numbers");
}

std::string auditSection(RunGroups groups) {
  HtmlTable table("What the audit of each split found",
                  {"method", "audit", "runs", "messages in training", "messages in the test"});
  std::string found;
  for (const RunGroup& group : groups) {
    std::size_t leaks = 0;
    for (const RunRecord* run : group.runs) {
      leaks += run->metrics.audit.leakCount();
      found += auditOf(group, *run);
    }
    const SplitSummary& split = group.first().metrics.split;
    table.addRow({group.name,
                  HtmlTable::Cell::classed(leaksText(group, leaks), leaks == 0 ? "good" : "bad"),
                  seedsText(group), split.message_at_train, split.message_at_test});
  }
  std::string checks;
  for (const std::string& check : groups.front().first().metrics.audit.checks) {
    checks += fmt::format("<li>{}</li>\n", escapeMarkup(check));
  }
  return table.render() + found + folded("What is checked", "<ul>\n" + checks + "</ul>\n");
}

std::string dataSection(RunGroups groups) {
  std::string html;
  std::vector<std::string> told;
  for (const RunGroup& group : groups) {
    const RunRecord& run = group.first();
    const std::string key = run.metrics.data_hash + run.metrics.split.hash;
    if (std::ranges::find(told, key) == told.end()) {
      told.push_back(key);
      html += datasetTable(run);
    }
  }
  return html;
}

}  // namespace edgewise
