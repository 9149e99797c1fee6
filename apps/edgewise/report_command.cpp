// edgewise report DIR...: one HTML page on a run, or on several beside each other.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "edgewise/report/run_report.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

struct ReportArguments {
  std::vector<std::filesystem::path> folders;
  std::string out;
};

void report(const Session& session, const ReportArguments& arguments) {
  const bool one = arguments.folders.size() == 1;
  if (arguments.out.empty() && !one) {
    throw ConfigError("a report of several folders needs a place of its own",
                      "name a file with --out FILE, for example --out comparison.html");
  }
  const std::filesystem::path file = arguments.out.empty() ? arguments.folders.front() / kReportFile
                                                           : std::filesystem::path(arguments.out);
  const WrittenReport written = writeReport(arguments.folders, file);
  for (const std::string& remark : written.remarks) {
    session.console.note(remark);
  }
  const std::string what =
      written.methods == 1
          ? fmt::format("{} {}", written.runs, written.runs == 1 ? "run" : "runs of one method")
          : fmt::format("{} runs, {} methods", written.runs, written.methods);
  session.console.say(
      fmt::format("report: {}   ({}; open it in a browser)", written.file.string(), what));
  session.console.showJson({{"report", written.file.string()},
                            {"runs", written.runs},
                            {"methods", written.methods},
                            {"remarks", written.remarks}});
}

}  // namespace

void addReportCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("report", "write one HTML page on a run, or compare several");
  const auto arguments = std::make_shared<ReportArguments>();
  command->add_option("DIR", arguments->folders, "run folders, or folders above them")->required();
  command
      ->add_option("--out", arguments->out,
                   "the page (default: report.html in the folder, where there is one folder)")
      ->option_text("FILE");
  addCommonOptions(*command, session);
  command->footer(
      "One file that needs neither network nor other files, reads on a phone and prints: metrics\n"
      "with mean ± std, learning curves, views, ROC, precision and recall, calibration, scores, "
      "time\n"
      "and memory, the leak audit, the data and every option, what is not the default marked. "
      "Runs\n"
      "that differ in nothing but their seed are put together. `train` writes the page of its own\n"
      "runs.\n"
      "\n"
      "Pictures of test scores come from test_curves.json, which `train` leaves in a run's "
      "folder;\n"
      "of a run without it the page says so, and `edgewise evaluate DIR` makes it.\n"
      "\n"
      "Examples:\n"
      "  edgewise report runs/cora-gae\n"
      "  edgewise report runs/cora-gae runs/cora-sage --out comparison.html");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { report(session, *arguments); };
  });
}

}  // namespace edgewise::app
