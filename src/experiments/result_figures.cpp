#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "edgewise/experiments/paper_tables.h"
#include "edgewise/report/figure.h"
#include "experiments/experiment_figures.h"

namespace edgewise::detail {
namespace {

constexpr double kPercent = 100;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Mean over the runs; empty where views are not chosen by pair.
std::vector<double> meanShares(const CellResult& result,
                               const std::vector<double> SeedResult::* part) {
  std::vector<double> sum;
  double count = 0;
  for (const SeedResult& run : result.runs) {
    const std::vector<double>& shares = run.*part;
    if (sum.empty()) {
      sum.assign(shares.size(), 0);
    }
    if (shares.size() == sum.size()) {
      std::ranges::transform(sum, shares, sum.begin(), std::plus<>());
      count += 1;
    }
  }
  for (double& share : sum) {
    share /= count;
  }
  return sum;
}

HeatPanel viewPanel(const CellResult& result, const std::vector<double>& shares,
                    const std::string& of) {
  const auto depth = static_cast<std::size_t>(std::lround(std::sqrt(shares.size())));
  HeatPanel panel{.title = fmt::format("{}, {}, {}: {}", result.cell.dataset, result.cell.model,
                                       result.cell.recipe, of)};
  for (std::size_t i = 0; i < depth; ++i) {
    const std::string hops = std::to_string(result.runs.front().first_hops + static_cast<int>(i));
    panel.rows.push_back(hops);
    panel.columns.push_back(hops);
  }
  panel.values = shares;
  panel.row_label = "hops around u";
  panel.column_label = "hops around v";
  return panel;
}

std::string viewList(const CellResult& result, const std::vector<double>& shares) {
  const auto depth = static_cast<std::size_t>(std::lround(std::sqrt(shares.size())));
  std::string text;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] >= 0.005) {
      text += fmt::format("{}({},{}) {:.0f}%", text.empty() ? "" : ", ",
                          result.runs.front().first_hops + static_cast<int>(i / depth),
                          result.runs.front().first_hops + static_cast<int>(i % depth),
                          kPercent * shares[i]);
    }
  }
  return text;
}

}  // namespace

Figure viewsFigure(const ExperimentPlan& plan, const ResultBook& book) {
  Figure figure;
  figure.table = {.head = {"dataset", "model", "recipe", "links", "non-links", "in use", "seeds"},
                  .rows = {},
                  .labels = 5};
  std::vector<HeatPanel> panels;
  for (const Cell& cell : plan.cells) {
    const CellResult* result = book.find(cell.name());
    if (result == nullptr || result->runs.front().views_positive.empty()) {
      figure.table.rows.push_back({cell.dataset, cell.model, cell.recipe, "-", "-", "", "0"});
      continue;
    }
    const std::vector<double> links = meanShares(*result, &SeedResult::views_positive);
    const std::vector<double> others = meanShares(*result, &SeedResult::views_negative);
    panels.push_back(viewPanel(*result, links, "test links"));
    panels.push_back(viewPanel(*result, others, "test non-links"));
    figure.table.rows.push_back({cell.dataset, cell.model, cell.recipe, viewList(*result, links),
                                 viewList(*result, others),
                                 fmt::format("{:.1f}", result->effective().value_or(0)),
                                 std::to_string(result->runs.size())});
  }
  constexpr std::size_t kAcross = 4;
  figure.drawing =
      drawHeatmaps("Views that PS2 chooses for test pairs (share of pairs)", panels, kAcross);
  return figure;
}

Figure optimizationFigure(const ExperimentPlan& plan, const ResultBook& book) {
  const std::vector<std::string> ways = {"finetune", "joint"};
  Figure figure;
  figure.table = {.head = {"dataset", "model", "recipe", "test (%)", "search and apply", "jointly",
                           "difference", "seeds"},
                  .rows = {},
                  .labels = 4};
  std::vector<BarPanel> panels;
  for (const std::string& recipe : plan.experiment.recipes) {
    BarPanel panel{.title = "recipe " + recipe,
                   .y_label = "test (%), first metric",
                   .series = {"search and apply", "jointly"}};
    for (const std::string& dataset : plan.experiment.datasets) {
      std::vector<const CellResult*> found(ways.size(), nullptr);
      const Cell* any = nullptr;
      for (const Cell& cell : plan.cells) {
        if (cell.dataset == dataset && cell.recipe == recipe) {
          any = &cell;
          const std::string apply = resolveCell(cell).network.selector.apply;
          const auto way = std::ranges::find(ways, apply) - ways.begin();
          // Another way was asked for by hand.
          if (static_cast<std::size_t>(way) < ways.size()) {
            found[static_cast<std::size_t>(way)] = book.find(cell.name());
          }
        }
      }
      if (any == nullptr) {
        continue;
      }
      const std::string metric = tableMetrics(dataset).front();
      std::vector<std::string> row = {dataset, any->model, recipe, metric};
      const bool drawn = std::ranges::any_of(found, [](const auto* each) { return each; });
      if (drawn) {
        panel.groups.push_back(dataset);
      }
      for (const CellResult* result : found) {
        const auto value = result ? result->test(metric) : std::nullopt;
        row.push_back(value ? percentText(*value) : "-");
        if (drawn) {
          panel.bars.push_back({.value = value ? kPercent * value->mean : 0,
                                .error = value ? kPercent * value->std : 0,
                                .there = value.has_value()});
        }
      }
      row.push_back(differenceText(found[0], found[1]));
      row.push_back(found[0] ? std::to_string(found[0]->runs.size()) : "0");
      figure.table.rows.push_back(std::move(row));
    }
    if (!panel.groups.empty()) {
      panels.push_back(std::move(panel));
    }
  }
  figure.drawing = drawBars("PS2: searched then applied, or trained jointly", panels, 2);
  return figure;
}

Figure hyperFigure(const ExperimentPlan& plan, const ResultBook& book) {
  const std::vector<std::int64_t> depths = triedDepths(ExperimentKind::kHyper);
  const std::vector<std::int64_t> widths = triedWidths();
  Figure figure;
  figure.table = {.head = {"dataset", "model", "recipe", "K", "D", "test (%)", "edgewise", "seeds"},
                  .rows = {},
                  .labels = 4};
  std::vector<HeatPanel> panels;
  for (const Cell& cell : plan.cells) {
    const std::string metric = tableMetrics(cell.dataset).front();
    const std::string title =
        fmt::format("{}, {}, {}: test {} (%)", cell.dataset, cell.model, cell.recipe, metric);
    if (panels.empty() || panels.back().title != title) {
      HeatPanel panel{.title = title, .low = 0, .high = 0};
      panel.row_label = "hops K";
      panel.column_label = "width D of the selector";
      for (const std::int64_t depth : depths) {
        panel.rows.push_back(std::to_string(depth));
      }
      for (const std::int64_t width : widths) {
        panel.columns.push_back(std::to_string(width));
      }
      panel.values.assign(depths.size() * widths.size(), kNothing);
      panels.push_back(std::move(panel));
    }
    const RunOptions options = resolveCell(cell);
    const std::int64_t depth = options.network.encoder.layers;
    const std::int64_t width = options.network.selector.hidden;
    const CellResult* result = book.find(cell.name());
    const auto value = result ? result->test(metric) : std::nullopt;
    const auto row = std::ranges::find(depths, depth) - depths.begin();
    const auto column = std::ranges::find(widths, width) - widths.begin();
    if (value && row < std::ssize(depths) && column < std::ssize(widths)) {
      panels.back().values[static_cast<std::size_t>(row * std::ssize(widths) + column)] =
          kPercent * value->mean;
    }
    figure.table.rows.push_back({cell.dataset, cell.model, cell.recipe, std::to_string(depth),
                                 std::to_string(width), metric, value ? percentText(*value) : "-",
                                 result ? std::to_string(result->runs.size()) : "0"});
  }
  figure.drawing = drawHeatmaps("PS2 by hops and width of its selector", panels, 2);
  return figure;
}

}  // namespace edgewise::detail
