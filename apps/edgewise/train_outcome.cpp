#include "train_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "edgewise/evaluation/summary.h"
#include "edgewise/report/run_report.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/process.h"
#include "edgewise/util/shell_text.h"
#include "edgewise/util/text.h"
#include "run_text.h"

namespace edgewise::app {
namespace {

// A page of each run and, where there are several, one of all. A page can be written again at any
// time, so one that cannot be written does not take the training down with it.
std::optional<std::filesystem::path> writePages(const Console& console,
                                                const std::filesystem::path& out) {
  try {
    for (const std::filesystem::path& folder : runsBelow(out)) {
      if (folder != out) {
        writeReport(std::span(&folder, 1), folder / kReportFile);
      }
    }
    return writeReport(std::span(&out, 1), out / kReportFile).file;
  } catch (const Error& error) {
    console.warn(fmt::format("no report was written: {}", error.what()));
    return std::nullopt;
  }
}

// The first run of the model that validated best (its runs are below OUT/MODEL); of one model, its
// first.
std::filesystem::path mostPromising(std::span<const RunMetrics> runs,
                                    const std::filesystem::path& out) {
  std::map<std::string, std::vector<double>> by_model;
  for (const RunMetrics& run : runs) {
    if (!run.valid.empty()) {
      by_model[run.model].push_back(run.valid.values().front().second);
    }
  }
  const auto best = std::ranges::max_element(
      by_model, {}, [](const auto& model) { return summarise(model.second).mean; });
  const auto folders = runsBelow(by_model.size() > 1 ? out / best->first : out);
  return folders.empty() ? out : folders.front();
}

// What a finished training is good for.
void sayWhatIsNext(const Session& session, std::span<const RunMetrics> runs,
                   const std::filesystem::path& out) {
  const std::string run = shellWord(mostPromising(runs, out).string());
  const std::string all = shellWord(out.string());
  std::vector<std::pair<std::string, const char*>> commands = {
      {fmt::format("predict {} --all --top 10 --out links.csv", run),
       "the links most likely missing"},
      {fmt::format("explain {} --pair U,V", run), "why a pair scores as it does"}};
  if (runs.size() > 1 && runs.front().label() != runs.back().label() &&
      runs.front().seed != runs[1].seed) {
    commands.emplace_back(
        fmt::format("compare {} --against {}", shellWord((out / runs.back().model).string()),
                    shellWord((out / runs.front().model).string())),
        "whether the difference is more than chance");
  }
  commands.emplace_back(fmt::format("report {} OTHER... --out comparison.html", all),
                        "beside other runs");
  commands.emplace_back(fmt::format("evaluate {}", all), "the same numbers again");
  const char* lead = "next: ";
  for (const auto& [command, about] : commands) {
    session.console.say(fmt::format("{}{} {}   {}", lead, session.program, command, about));
    lead = "      ";
  }
}

void showOutcome(const Session& session, std::span<const RunMetrics> runs,
                 const std::filesystem::path& out,
                 const std::optional<std::filesystem::path>& page) {
  showRuns(session.console, runs);
  double seconds = 0;
  for (const RunMetrics& run : runs) {
    for (const auto& [stage, time] : run.time) {
      const bool counted = stage.ends_with("_s") && (stage != "load_s" || &run == &runs.front());
      seconds += counted ? time : 0;
    }
  }
  session.console.say(fmt::format("\nrun folder: {}   ({}, {} at most)", out.string(),
                                  readableSeconds(seconds), readableBytes(peakMemoryBytes())));
  if (page) {
    session.console.say(fmt::format("report: {}   (open it in a browser)", page->string()));
  }
  sayWhatIsNext(session, runs, out);
}

}  // namespace

void closeRuns(const Session& session, const std::vector<RunMetrics>& runs,
               const std::filesystem::path& out, bool with_report) {
  if (runs.size() > 1) {
    writeFileAtomically(out / "summary.json", comparisonJson(runs).dump(2) + "\n");
  }
  showOutcome(session, runs, out, with_report ? writePages(session.console, out) : std::nullopt);
}

}  // namespace edgewise::app
