#include "edgewise/experiments/paper_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "edgewise/data/catalogue.h"
#include "edgewise/data/sized_graph.h"
#include "edgewise/experiments/paper_numbers.h"
#include "edgewise/nn/encoder.h"
#include "edgewise/report/mean_text.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr double kPercent = 100;

// A generated graph stands for the real one in tables of speed.
std::string realName(const std::string& dataset) {
  if (!dataset.starts_with(kSizedPrefix)) {
    return dataset;
  }
  const std::string plain = dataset.substr(kSizedPrefix.size());
  const std::string ogb = "ogbl-" + plain;
  const bool of_ogb = std::ranges::any_of(
      catalogue(), [&](const CatalogueEntry& entry) { return entry.name == ogb; });
  return of_ogb ? ogb : plain;
}

std::optional<PaperNumber> paperNumberOf(const std::string& table, const Cell& cell,
                                         const std::string& metric) {
  const std::string dataset = realName(cell.dataset);
  // The paper fine-tunes unless it says otherwise; a recipe that does not has a variant for it.
  const bool plain = cell.variant == "timed" || cell.variant == "finetune";
  const std::string method = plain ? cell.selector : cell.method();
  return findPaperNumber({.table = table,
                          .dataset = dataset,
                          .model = cell.model,
                          .method = method,
                          .metric = metric});
}

std::string seedsText(const CellStatus& status, const CellResult* result) {
  const std::size_t done = result == nullptr ? 0 : result->runs.size();
  if (done == 0 && !status.runnable()) {
    return status.absent ? "no data" : "cannot run here";
  }
  return done == static_cast<std::size_t>(status.wanted)
             ? std::to_string(done)
             : fmt::format("{} of {}", done, status.wanted);
}

// Cells of the same dataset, model and recipe are compared with one another.
bool sameGroup(const Cell& a, const Cell& b) {
  return a.dataset == b.dataset && a.model == b.model && a.recipe == b.recipe;
}

class ComparisonRows {
 public:
  ComparisonRows(const ExperimentPlan& plan, const ResultBook& book) : plan_(plan), book_(book) {}

  void addCell(const CellStatus& status) {
    const CellResult* result = book_.find(status.cell.name());
    const std::optional<double> effective = result ? result->effective() : std::nullopt;
    const std::vector<std::string> metrics =
        tableMetrics(status.cell.dataset, plan_.experiment.name);
    const std::string ours = resultText(result, metrics);
    const std::string paper = paperText(plan_.experiment.name, status.cell);
    rows_.push_back({status.cell.dataset, status.cell.model, status.cell.recipe,
                     status.cell.method(), joinText(metrics, " / "), paper.empty() ? "-" : paper,
                     ours.empty() ? "-" : ours, effective ? fmt::format("{:.1f}", *effective) : "",
                     seedsText(status, result)});
  }

  // What choosing gains over not choosing.
  void addGains(const Cell& like) {
    Cell ps2 = like;
    ps2.selector = "ps2";
    ps2.variant.clear();
    const CellResult* chosen = book_.find(ps2.name());
    const CellResult* fixed = bestFixed(book_, like);
    for (const std::string selector : {"none", "rs", "jk"}) {
      Cell other = ps2;
      other.selector = selector;
      addGain(like, "ps2 − " + selector, chosen, book_.find(other.name()));
    }
    if (fixed != nullptr) {
      addGain(like, fmt::format("ps2 − {} (best fixed)", fixed->cell.selector), chosen, fixed);
    }
  }

  std::vector<std::vector<std::string>> take() { return std::move(rows_); }

 private:
  void addGain(const Cell& like, const std::string& label, const CellResult* first,
               const CellResult* second) {
    const std::string text = differenceText(first, second);
    if (!text.empty()) {
      rows_.push_back({like.dataset, like.model, like.recipe, label,
                       tableMetrics(like.dataset).front(), "", text});
    }
  }

  const ExperimentPlan& plan_;
  const ResultBook& book_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

std::vector<std::string> tableMetrics(const std::string& dataset) {
  const std::string real = realName(dataset);
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == real) {
      return entry.family == DatasetFamily::kRecommendation
                 ? std::vector<std::string>{"hit@10", "ndcg@50"}
                 : entry.metrics;
    }
  }
  return {"auc", "ap"};
}

std::vector<std::string> tableMetrics(const std::string& dataset, const std::string& table) {
  std::vector<std::string> all = tableMetrics(dataset);
  std::vector<std::string> reported;
  for (const std::string& metric : all) {
    if (std::ranges::any_of(paperNumbers(), [&](const PaperNumber& number) {
          return number.table == table && number.dataset == dataset && number.metric == metric;
        })) {
      reported.push_back(metric);
    }
  }
  return reported.empty() ? all : reported;
}

std::string percentText(const MeanStd& value) {
  MeanStd percent = value;
  percent.mean *= kPercent;
  percent.std *= kPercent;
  return meanText(percent, 2);
}

std::string paperText(const std::string& table, const Cell& cell) {
  std::vector<std::string> parts;
  for (const std::string& metric : tableMetrics(cell.dataset)) {
    if (const auto number = paperNumberOf(table, cell, metric)) {
      parts.push_back(fmt::format("{:.2f}", number->mean));
    }
  }
  return joinText(parts, " / ");
}

std::string resultText(const CellResult* result, std::span<const std::string> metrics) {
  std::vector<std::string> parts;
  for (const std::string& metric : metrics) {
    if (const auto value = result ? result->test(metric) : std::nullopt) {
      parts.push_back(percentText(*value));
    }
  }
  return joinText(parts, " / ");
}

std::string differenceText(const CellResult* first, const CellResult* second) {
  if (first == nullptr || second == nullptr) {
    return "";
  }
  const auto test = pairedDifference(*first, *second, tableMetrics(first->cell.dataset).front());
  if (!test) {
    return "";
  }
  std::string text = fmt::format("{:+.2f} (t {:.1f})", kPercent * test->mean_difference, test->t);
  // As minus signs are typeset elsewhere on the page.
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-')) {
    text.replace(at, 1, "−");
  }
  return text;
}

const CellResult* bestFixed(const ResultBook& book, const Cell& like) {
  const std::string metric = tableMetrics(like.dataset).front();
  const CellResult* best = nullptr;
  double best_valid = 0;
  for (const auto& [name, result] : book.cells()) {
    const Cell& cell = result.cell;
    const bool fixed = cell.selector.starts_with("fixed:") ||
                       (cell.selector == "none" && !isRecommender(cell.model));
    if (!fixed || !cell.variant.empty() || !sameGroup(cell, like)) {
      continue;
    }
    const std::optional<MeanStd> valid = result.valid(metric);
    if (valid && (best == nullptr || valid->mean > best_valid)) {
      best = &result;
      best_valid = valid->mean;
    }
  }
  return best;
}

Grid comparisonGrid(const ExperimentPlan& plan, std::span<const CellStatus> cells,
                    const ResultBook& book) {
  ComparisonRows rows(plan, book);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    rows.addCell(cells[i]);
    const bool last = i + 1 == cells.size() || !sameGroup(cells[i].cell, cells[i + 1].cell);
    if (last && plan.experiment.kind == ExperimentKind::kComparison) {
      rows.addGains(cells[i].cell);
    }
  }
  return {.head = {"dataset", "model", "recipe", "views", "test (%)", "paper", "edgewise", "in use",
                   "seeds"},
          .rows = rows.take(),
          .labels = 5};
}

std::optional<double> epochSeconds(const CellResult& result) {
  std::vector<double> seconds;
  const RunOptions options = resolveCell(result.cell);
  const double share = result.cell.model == "seal" ? options.subgraph.train_share : 1;
  for (const SeedResult& run : result.runs) {
    if (const auto step = run.timeOf("apply_step_ms")) {
      const double edges = share * static_cast<double>(run.supervision);
      const double steps = std::ceil(edges / static_cast<double>(options.training.batch_size));
      seconds.push_back(steps * *step / 1000);
    }
  }
  return seconds.empty() ? std::nullopt : std::optional(summarise(seconds).mean);
}

Grid efficiencyGrid(const ExperimentPlan& plan, const ResultBook& book) {
  Grid grid{.head = {"graph", "model", "paper: none", "ps2", "ratio", "edgewise: none", "ps2",
                     "ratio", "device"},
            .rows = {},
            .labels = 2};
  const auto ratio = [](double without, double with) {
    return fmt::format("{:.2f}", with / without);
  };
  for (const Cell& cell : plan.cells) {
    if (cell.selector != "none") {
      continue;
    }
    Cell ps2 = cell;
    ps2.selector = "ps2";
    std::vector<std::string> row = {cell.dataset, cell.model, "", "", "", "", "", "", ""};
    const auto paper_without = paperNumberOf(plan.experiment.name, cell, "epoch_s");
    const auto paper_with = paperNumberOf(plan.experiment.name, ps2, "epoch_s");
    if (paper_without && paper_with) {
      row[2] = fmt::format("{:.1f} s", paper_without->mean);
      row[3] = fmt::format("{:.1f} s", paper_with->mean);
      row[4] = ratio(paper_without->mean, paper_with->mean);
    }
    const CellResult* none = book.find(cell.name());
    const CellResult* chosen = book.find(ps2.name());
    // 0: not timed.
    const double without = none ? epochSeconds(*none).value_or(0) : 0;
    const double with = chosen ? epochSeconds(*chosen).value_or(0) : 0;
    row[5] = without > 0 ? readableSeconds(without) : "-";
    row[6] = with > 0 ? readableSeconds(with) : "-";
    row[7] = without > 0 && with > 0 ? ratio(without, with) : "-";
    row[8] = none ? none->runs.front().device : "";
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

nlohmann::ordered_json resultsJson(const ExperimentPlan& plan, std::span<const CellStatus> cells,
                                   const ResultBook& book) {
  nlohmann::ordered_json json;
  json["experiment"] = plan.experiment.name;
  json["about"] = plan.experiment.about;
  json["cells"] = nlohmann::ordered_json::array();
  for (const CellStatus& status : cells) {
    const CellResult* result = book.find(status.cell.name());
    nlohmann::ordered_json cell;
    cell["cell"] = status.cell.name();
    cell["command"] = status.cell.command(static_cast<std::size_t>(status.wanted));
    cell["runs"] = result ? result->runs.size() : 0;
    cell["wanted"] = status.wanted;
    if (!status.runnable()) {
      cell["obstacle"] = status.obstacle;
      cell["remedy"] = status.remedy;
    }
    for (const std::string& metric : tableMetrics(status.cell.dataset)) {
      if (const auto value = result ? result->test(metric) : std::nullopt) {
        cell["test"][metric] = {{"mean", value->mean}, {"std", value->std}};
      }
      if (const auto number = paperNumberOf(plan.experiment.name, status.cell, metric)) {
        cell["paper"][metric] = {{"mean", number->mean / kPercent},
                                 {"std", number->std / kPercent}};
      }
    }
    if (const auto seconds = result ? epochSeconds(*result) : std::nullopt) {
      cell["epoch_s"] = *seconds;
    }
    if (const auto effective = result ? result->effective() : std::nullopt) {
      cell["effective_views"] = *effective;
    }
    json["cells"].push_back(std::move(cell));
  }
  return json;
}

}  // namespace edgewise
