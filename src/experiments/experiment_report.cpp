#include "edgewise/experiments/experiment_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "edgewise/experiments/paper_tables.h"
#include "edgewise/report/figure.h"
#include "edgewise/util/atomic_file.h"
#include "experiments/experiment_figures.h"

namespace edgewise {
namespace {

// Each obstacle once, with the way around it.
std::vector<std::string> obstacles(std::span<const CellStatus> cells) {
  std::vector<std::string> remarks;
  std::set<std::string> told;
  for (const CellStatus& status : cells) {
    if (!status.runnable() && told.insert(status.obstacle).second) {
      remarks.push_back(fmt::format("{}: {}", status.obstacle, status.remedy));
    }
  }
  return remarks;
}

detail::Figure figureOf(const ExperimentPlan& plan, const ResultBook& book,
                        const std::filesystem::path& out) {
  switch (plan.experiment.kind) {
    case ExperimentKind::kViews:
      return detail::viewsFigure(plan, book);
    case ExperimentKind::kObservation:
      return detail::observationFigure(plan, book, out);
    case ExperimentKind::kOptimization:
      return detail::optimizationFigure(plan, book);
    case ExperimentKind::kHyper:
      return detail::hyperFigure(plan, book);
    default:
      return detail::curvesFigure(plan, book, out);
  }
}

}  // namespace

std::string ExperimentReport::html() const {
  FigurePage page{.title = title, .drawings = {}, .tables = {table}, .remarks = remarks};
  if (figure) {
    page.drawings.push_back(*figure);
  }
  return figureHtml(page);
}

ExperimentReport makeReport(const ExperimentPlan& plan, std::span<const CellStatus> cells,
                            const ResultBook& book, const std::filesystem::path& out) {
  ExperimentReport report;
  report.title = fmt::format("{}: {}", plan.experiment.name, plan.experiment.about);
  report.remarks = obstacles(cells);
  switch (plan.experiment.kind) {
    case ExperimentKind::kComparison:
      report.table = comparisonGrid(plan, cells, book);
      report.remarks.emplace_back(
          "ps2 − X: the difference over the same seeds in points of the first metric, with "
          "Student's t of the pairs. The best fixed view is the one that validates best. In use: "
          "the effective number of views, exp of the entropy of their shares.");
      break;
    case ExperimentKind::kFinetune:
      report.table = comparisonGrid(plan, cells, book);
      break;
    case ExperimentKind::kEfficiency:
      report.table = efficiencyGrid(plan, book);
      report.remarks.emplace_back(
          "Seconds an epoch of training the model with the chosen views, from the mean of the "
          "steps that were timed; SEAL's include cutting out subgraphs, which the paper's leave "
          "out. "
          "sized-NAME is a generated graph as large as NAME.");
      break;
    default: {
      detail::Figure figure = figureOf(plan, book, out);
      report.table = std::move(figure.table);
      report.figure = std::move(figure.drawing);
    }
  }
  return report;
}

std::vector<std::filesystem::path> writeReport(const ExperimentReport& report,
                                               const std::string& experiment,
                                               const std::filesystem::path& out) {
  std::string name = experiment;
  std::ranges::replace(name, ':', '-');
  std::vector<std::filesystem::path> files;
  const auto write = [&](const char* ending, const std::string& content) {
    files.push_back(out / (name + ending));
    writeFileAtomically(files.back(), content);
  };
  std::string text = fmt::format("# {}\n\n{}", report.title, gridMarkdown(report.table));
  for (const std::string& remark : report.remarks) {
    text += "\n" + remark + "\n";
  }
  write(".md", text);
  write(".html", report.html());
  if (report.figure) {
    write(".svg", *report.figure);
  }
  return files;
}

}  // namespace edgewise
