#include "edgewise/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "edgewise/report/html.h"
#include "edgewise/report/mean_text.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/hash.h"
#include "edgewise/util/shell_text.h"
#include "edgewise/util/text.h"
#include "edgewise/util/version.h"
#include "report/page_parts.h"
#include "report/run_groups.h"
#include "report/sections.h"

namespace edgewise {
namespace {

// A part of the page by its name.
struct Part {
  std::string id;
  std::string title;
  std::string html;
};

std::string base64OfHex(std::string_view hex) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto digit = [](char letter) {
    return static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
  };
  std::string text;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char letter : hex) {
    bits = (bits << 4U | digit(letter)) & 0xFFFFU;
    held += 4;
    if (held >= 6) {
      held -= 6;
      text += kLetters[bits >> held & 0x3FU];
    }
  }
  if (held > 0) {
    text += kLetters[bits << (6 - held) & 0x3FU];
  }
  return text + std::string((4 - text.size() % 4) % 4, '=');
}

// The only scripts that may run, by their content; and nothing may be fetched.
std::string contentPolicy(std::span<const std::string> scripts) {
  std::string allowed;
  for (const std::string& script : scripts) {
    allowed += fmt::format(" 'sha256-{}'", base64OfHex(sha256Hex(script)));
  }
  return fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src{}", allowed);
}

// The library under its licence, then ours.
std::vector<std::string> scriptsOf(const PageParts& parts) {
  std::vector<std::string> scripts;
  if (!parts.chart_script.empty()) {
    scripts.push_back(fmt::format("/*! {}\n\n{}*/\n{}", parts.chart_name, parts.chart_licence,
                                  parts.chart_script));
  }
  scripts.emplace_back(parts.script);
  return scripts;
}

bool onOneDataset(RunGroups groups) {
  return std::ranges::all_of(groups, [&](const RunGroup& group) {
    return group.first().metrics.dataset == groups.front().first().metrics.dataset;
  });
}

bool comparable(RunGroups groups) { return onOneDataset(groups) && whyNotCompared(groups).empty(); }

std::string titleOf(RunGroups groups) {
  const std::string& dataset = groups.front().first().metrics.dataset;
  if (groups.size() == 1) {
    return fmt::format("{} on {}", groups.front().name, dataset);
  }
  return onOneDataset(groups) ? fmt::format("{} methods on {}", groups.size(), dataset)
                              : fmt::format("{} methods on several datasets", groups.size());
}

// The group with the highest mean of the first test metric; the first one where results do not
// compare.
const RunGroup& bestGroup(RunGroups groups) {
  const std::vector<std::string> metrics = testMetrics(groups);
  const RunGroup* best = &groups.front();
  if (metrics.empty() || !comparable(groups)) {
    return *best;
  }
  std::optional<double> highest;
  for (const RunGroup& group : groups) {
    const auto mean = meanOver(
        group, [&](const RunRecord& run) { return run.metrics.test.find(metrics.front()); });
    if (mean && (!highest || mean->mean > *highest)) {
      best = &group;
      highest = mean->mean;
    }
  }
  return *best;
}

// The best test result in a sentence; nothing where results do not compare.
std::string bestText(RunGroups groups) {
  const std::vector<std::string> metrics = testMetrics(groups);
  if (metrics.empty() || !comparable(groups)) {
    return "";
  }
  const RunGroup& best = bestGroup(groups);
  const auto mean =
      meanOver(best, [&](const RunRecord& run) { return run.metrics.test.find(metrics.front()); });
  return fmt::format("{} {} <strong>{}</strong>. ",
                     groups.size() > 1 ? "Best: " + escapeMarkup(best.name) + ", test" : "Test",
                     escapeMarkup(metrics.front()), mean ? meanText(*mean) : "–");
}

// The result in a sentence or two.
std::string leadOf(RunGroups groups) {
  std::size_t leaks = 0;
  std::size_t runs = 0;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      leaks += run->metrics.audit.leakCount();
      ++runs;
    }
  }
  const std::string count = runs > 1
                                ? fmt::format("{} runs. ", runs)
                                : fmt::format("Seed {}. ", groups.front().first().metrics.seed);
  return bestText(groups) + count +
         (leaks == 0 ? "The audit found no leaks."
                     : fmt::format("<strong class=\"bad\">The audit found {}.</strong>",
                                   countText(leaks, "leak")));
}

std::set<std::string> splitsOf(const RunGroup& group) {
  std::set<std::string> splits;
  for (const RunRecord* run : group.runs) {
    splits.insert(run->metrics.split.hash);
  }
  return splits;
}

// What several runs lack is told once.
std::vector<std::string> remarksOf(const RunRecords& records, RunGroups groups) {
  std::vector<std::string> remarks = whyNotCompared(groups);
  remarks.insert(remarks.end(), records.left_out.begin(), records.left_out.end());
  if (comparable(groups) &&
      std::ranges::adjacent_find(groups, std::ranges::not_equal_to(), splitsOf) != groups.end()) {
    remarks.emplace_back(
        "methods were run with different seeds, so their means are over different splits");
  }
  std::vector<std::pair<std::string, std::vector<const RunRecord*>>> lacking;
  for (const RunRecord& run : records.runs) {
    for (const std::string& missing : run.missing) {
      auto place = std::ranges::find(lacking, missing, [](const auto& each) { return each.first; });
      if (place == lacking.end()) {
        lacking.push_back({missing, {}});
        place = lacking.end() - 1;
      }
      place->second.push_back(&run);
    }
  }
  for (const auto& [missing, runs] : lacking) {
    const std::string first = runs.front()->folder.string();
    remarks.push_back(fmt::format(
        "{}: {}", runs.size() == 1 ? first : fmt::format("{} and {} more", first, runs.size() - 1),
        missing));
  }
  for (const RunGroup& group : groups) {
    std::set<std::uint64_t> seeds;
    for (const RunRecord* run : group.runs) {
      if (!seeds.insert(run->metrics.seed).second) {
        remarks.push_back(fmt::format("{}: seed {} of {} is there twice, and counts twice",
                                      run->folder.string(), run->metrics.seed, group.name));
      }
    }
  }
  return remarks;
}

std::string remarksHtml(const RunRecords& records, RunGroups groups) {
  std::string html;
  for (const std::string& remark : remarksOf(records, groups)) {
    html += fmt::format("<li>{}</li>\n", escapeMarkup(remark));
  }
  return html.empty() ? html : "<ul>\n" + html + "</ul>\n";
}

std::string commandsHtml(const RunRecord& record) {
  const std::string run = shellWord(record.folder.string());
  const auto line = [](const std::string& command, const char* about) {
    return fmt::format("<dt><code>{}</code></dt><dd>{}</dd>\n", escapeMarkup(command), about);
  };
  return "<dl class=\"commands\">\n" +
         line("edgewise predict " + run + " --all --top 10 --out links.csv",
              "the links most likely missing") +
         line("edgewise explain " + run + " --pair U,V", "why a pair scores as it does") +
         line("edgewise evaluate " + run, "the same numbers again") +
         line("edgewise train --recipe " + shellWord((record.folder / "options.json").string()),
              "the same run again") +
         "</dl>\n";
}

std::vector<Part> partsOf(const RunRecords& records, RunGroups groups, PageCharts& charts) {
  std::vector<Part> parts = {
      {"result", "Result", resultSection(groups)},
      {"missing", "What to know first", remarksHtml(records, groups)},
      {"learning", "Learning curves", learningSection(groups, charts)},
      {"views", "Views", viewsSection(groups)},
      {"scores", "Test scores", scoresSection(groups, charts)},
      {"cost", "Time and memory", costSection(groups)},
      {"audit", "Leak audit", auditSection(groups)},
      {"data", "Data", dataSection(groups)},
      {"options", "Options", optionsSection(groups)},
      {"next", "What to do next", commandsHtml(bestGroup(groups).first())},
  };
  std::erase_if(parts, [](const Part& part) { return part.html.empty(); });
  return parts;
}

std::string footerOf(const RunRecords& records, const PageParts& parts) {
  std::vector<std::string> versions;
  for (const RunRecord& run : records.runs) {
    if (std::ranges::find(versions, run.version) == versions.end()) {
      versions.push_back(run.version);
    }
  }
  return fmt::format(
      "<footer><p>Written by edgewise {}; runs made by {}. {}</p></footer>\n",
      escapeMarkup(versionText()), escapeMarkup(joinText(versions, ", ")),
      parts.chart_name.empty()
          ? "Charts are still pictures: this program was built without its chart library."
          : fmt::format("Charts by {} (MIT licence, in this file).",
                        escapeMarkup(parts.chart_name)));
}

}  // namespace

std::string PageCharts::add(const Chart& chart) {
  const std::string id = fmt::format("chart-{}", json_.size() + 1);
  json_[id] = chartJson(chart);
  return chartFigure(chart, id);
}

std::string runReport(const RunRecords& records) {
  const std::vector<RunGroup> groups = groupRuns(records.runs);
  const PageParts& page = pageParts();
  const std::vector<std::string> scripts = scriptsOf(page);
  PageCharts charts;
  const std::vector<Part> parts = partsOf(records, groups, charts);
  const std::string title = escapeMarkup(titleOf(groups));
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{} - edgewise</title>\n<style>{}\n{}</style>\n</head>\n<body>\n"
      "<header><h1>{}</h1>\n<p class=\"lead\">{}</p>\n<nav aria-label=\"Parts of this "
      "report\"><ul>",
      contentPolicy(scripts), title, page.chart_style, page.style, title, leadOf(groups));
  for (const Part& part : parts) {
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>", part.id, part.title);
  }
  html += "</ul></nav></header>\n<main>\n";
  for (const Part& part : parts) {
    html += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}"
        "</h2>\n{2}</section>\n",
        part.id, part.title, part.html);
  }
  html += "</main>\n" + footerOf(records, page);
  html += fmt::format("<script type=\"application/json\" id=\"charts\">{}</script>\n",
                      scriptJson(charts.json()));
  for (const std::string& script : scripts) {
    html += "<script>" + script + "</script>\n";
  }
  return html + "</body>\n</html>\n";
}

WrittenReport writeReport(std::span<const std::filesystem::path> folders,
                          const std::filesystem::path& file) {
  const RunRecords records = readRunRecords(folders);
  const std::vector<RunGroup> groups = groupRuns(records.runs);
  writeFileAtomically(file, runReport(records));
  return {.file = file,
          .runs = records.runs.size(),
          .methods = groups.size(),
          .remarks = remarksOf(records, groups)};
}

}  // namespace edgewise
