#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "edgewise/experiments/paper_tables.h"
#include "edgewise/experiments/reproduction.h"
#include "edgewise/report/figure.h"
#include "edgewise/training/model_run.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/rng.h"
#include "edgewise/util/text.h"
#include "experiments/experiment_figures.h"

namespace edgewise::detail {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr double kPercent = 100;
// As many as the paper shows.
constexpr std::size_t kLinksShown = 6;

double probabilityOf(double logit) { return 1 / (1 + std::exp(-logit)); }

// Probability of every test link by its two ends, out of a run's test_scores.csv.
std::map<std::string, double> testLinks(const std::filesystem::path& file) {
  const FileBytes bytes = readFile(file);
  std::map<std::string, double> links;
  for (const std::string_view line : splitText(bytes.view(), '\n')) {
    // From the right, since ids may hold commas: score, link, the ends.
    const std::size_t before_score = line.rfind(',');
    const std::size_t before_link = before_score == std::string_view::npos || before_score == 0
                                        ? std::string_view::npos
                                        : line.rfind(',', before_score - 1);
    if (before_link == std::string_view::npos) {
      continue;
    }
    const std::optional<double> score = parseReal(trimmed(line.substr(before_score + 1)));
    if (score && line.substr(before_link + 1, before_score - before_link - 1) == "1") {
      links[std::string(line.substr(0, before_link))] = probabilityOf(*score);
    }
  }
  return links;
}

struct ViewScores {
  std::string view;
  const CellResult* result;
  std::map<std::string, double> links;
};

// Of one dataset, model and recipe: what every fixed view says.
class Observation {
 public:
  Observation(const Cell& like, const std::vector<ViewScores>& views)
      : like_(like), views_(views) {}

  [[nodiscard]] HeatPanel samples() const {
    HeatPanel panel = columns("probability of a link");
    for (const std::string& link : sampledLinks()) {
      panel.rows.push_back(link);
      for (const ViewScores& view : views_) {
        const auto found = view.links.find(link);
        panel.values.push_back(found == view.links.end() ? kNothing : found->second);
      }
    }
    panel.row_label = "test link";
    return panel;
  }

  [[nodiscard]] HeatPanel summary() const {
    HeatPanel panel = columns("all test links (%)");
    const std::string metric = tableMetrics(like_.dataset).front();
    panel.rows = {"surest of this view", metric};
    panel.low = 0;
    panel.high = kPercent;
    panel.digits = 1;
    const std::vector<double> shares = surest();
    for (const double share : shares) {
      panel.values.push_back(kPercent * share);
    }
    for (const ViewScores& view : views_) {
      const auto value = view.result->test(metric);
      panel.values.push_back(value ? kPercent * value->mean : kNothing);
    }
    return panel;
  }

 private:
  [[nodiscard]] HeatPanel columns(const std::string& what) const {
    HeatPanel panel{
        .title = fmt::format("{}, {}, {}: {}", like_.dataset, like_.model, like_.recipe, what)};
    for (const ViewScores& view : views_) {
      panel.columns.push_back("(" + view.view + ")");
    }
    return panel;
  }

  [[nodiscard]] std::vector<std::string> sampledLinks() const {
    std::vector<std::string> links;
    for (const auto& [link, probability] : views_.front().links) {
      links.push_back(link);
    }
    RngStream(0, "observation").shuffle(std::span(links));
    links.resize(std::min(links.size(), kLinksShown));
    return links;
  }

  // Of the links that all views scored, the share that each of them is surest of.
  [[nodiscard]] std::vector<double> surest() const {
    std::vector<double> shares(views_.size(), 0);
    double count = 0;
    for (const auto& [link, probability] : views_.front().links) {
      // (i, j) and (j, i) agree where pairs have no order, and share the link then.
      std::vector<std::size_t> best;
      double highest = -1;
      for (std::size_t i = 0; i < views_.size(); ++i) {
        const auto found = views_[i].links.find(link);
        if (found == views_[i].links.end() || found->second < highest) {
          continue;
        }
        if (found->second > highest) {
          best.clear();
          highest = found->second;
        }
        best.push_back(i);
      }
      for (const std::size_t view : best) {
        shares[view] += 1 / static_cast<double>(best.size());
      }
      count += 1;
    }
    for (double& share : shares) {
      share /= std::max(1.0, count);
    }
    return shares;
  }

  const Cell& like_;
  const std::vector<ViewScores>& views_;
};

void addObservation(const Cell& like, const std::vector<ViewScores>& views,
                    std::vector<HeatPanel>& panels, Grid& table) {
  if (views.empty() || views.front().links.empty()) {
    return;
  }
  const Observation observation(like, views);
  panels.push_back(observation.samples());
  panels.push_back(observation.summary());
  for (const HeatPanel& panel : {panels[panels.size() - 2], panels.back()}) {
    for (std::size_t row = 0; row < panel.rows.size(); ++row) {
      std::vector<std::string> cells = {like.dataset, panel.rows[row]};
      for (std::size_t column = 0; column < panel.columns.size(); ++column) {
        cells.push_back(fmt::format("{:.2f}", panel.values[row * panel.columns.size() + column]));
      }
      table.rows.push_back(std::move(cells));
    }
    if (table.head.empty()) {
      table.head = {"dataset", "test link"};
      table.head.insert(table.head.end(), panel.columns.begin(), panel.columns.end());
      table.labels = 2;
    }
  }
}

// The columns of a run's curves.csv that a figure shows.
struct RunCurves {
  std::vector<std::pair<double, double>> loss;
  std::vector<std::pair<double, double>> valid;
  std::string metric;
};

// Phases follow one another: the second one's first epoch comes after the first one's last.
RunCurves readCurves(const std::filesystem::path& file) {
  RunCurves curves;
  const FileBytes bytes = readFile(file);
  const std::vector<std::string_view> lines = splitText(bytes.view(), '\n');
  const std::vector<std::string_view> head = splitText(lines.front(), ',');
  const auto place = [&](auto&& wanted) {
    return static_cast<std::size_t>(std::ranges::find_if(head, wanted) - head.begin());
  };
  const std::size_t loss = place([](std::string_view name) { return name == "loss"; });
  const std::size_t valid =
      place([](std::string_view name) { return trimmed(name).starts_with("valid_"); });
  if (loss >= head.size()) {
    throw DataError(FilePlace{file, 1}, "names no column 'loss'", "remove the run's folder");
  }
  if (valid < head.size()) {
    curves.metric = trimmed(head[valid]).substr(std::string_view("valid_").size());
  }
  double epoch = 0;
  for (const std::string_view line : std::span(lines).subspan(1)) {
    const std::vector<std::string_view> fields = splitText(line, ',');
    if (fields.size() != head.size()) {
      continue;
    }
    epoch += 1;
    if (const auto value = parseReal(trimmed(fields[loss])); value && std::isfinite(*value)) {
      curves.loss.emplace_back(epoch, *value);
    }
    if (const auto value = valid < head.size() ? parseReal(trimmed(fields[valid])) : std::nullopt;
        value && std::isfinite(*value)) {
      curves.valid.emplace_back(epoch, *value);
    }
  }
  return curves;
}

}  // namespace

Figure observationFigure(const ExperimentPlan& plan, const ResultBook& book,
                         const std::filesystem::path& out) {
  Figure figure;
  std::vector<HeatPanel> panels;
  std::vector<ViewScores> views;
  const Cell* like = nullptr;
  for (const Cell& cell : plan.cells) {
    if (like != nullptr && (cell.dataset != like->dataset || cell.model != like->model ||
                            cell.recipe != like->recipe)) {
      addObservation(*like, views, panels, figure.table);
      views.clear();
    }
    like = &cell;
    if (const CellResult* result = book.find(cell.name())) {
      const auto seed = static_cast<std::int64_t>(result->runs.front().seed);
      const auto file = runFolderOf(cell, seed, out) / "test_scores.csv";
      if (isThere(file)) {
        views.push_back(
            {cell.selector.substr(std::string_view("fixed:").size()), result, testLinks(file)});
      }
    }
  }
  if (like != nullptr) {
    addObservation(*like, views, panels, figure.table);
  }
  figure.drawing = drawHeatmaps("Test links by every fixed view", panels, 1);
  return figure;
}

Figure curvesFigure(const ExperimentPlan& plan, const ResultBook& book,
                    const std::filesystem::path& out) {
  Figure figure;
  figure.table = {.head = {"dataset", "model", "recipe", "K", "epochs", "last loss", "best valid"},
                  .rows = {},
                  .labels = 3};
  std::vector<CurvePanel> panels;
  std::string group;
  for (const Cell& cell : plan.cells) {
    const CellResult* result = book.find(cell.name());
    if (result == nullptr) {
      continue;
    }
    const auto seed = static_cast<std::int64_t>(result->runs.front().seed);
    const auto file = runFolderOf(cell, seed, out) / kCurvesFile;
    if (!std::filesystem::exists(file)) {
      continue;
    }
    const RunCurves curves = readCurves(file);
    const std::string title = fmt::format("{}, {}, {}", cell.dataset, cell.model, cell.recipe);
    if (title != group) {
      group = title;
      panels.push_back({.title = title + ": loss", .x_label = "epoch", .y_label = "loss"});
      panels.push_back({.title = fmt::format("{}: validation", title),
                        .x_label = "epoch",
                        .y_label = "valid " + curves.metric});
    }
    const std::int64_t depth = resolveCell(cell).network.encoder.layers;
    const std::string name = fmt::format("K={}", depth);
    panels[panels.size() - 2].curves.push_back({name, curves.loss});
    panels.back().curves.push_back({name, curves.valid});
    double best = 0;
    for (const auto& [epoch, value] : curves.valid) {
      best = std::max(best, value);
    }
    figure.table.rows.push_back(
        {cell.dataset, cell.model, cell.recipe, std::to_string(depth),
         std::to_string(curves.loss.size()),
         curves.loss.empty() ? "-" : fmt::format("{:.4f}", curves.loss.back().second),
         fmt::format("{:.4f}", best)});
  }
  figure.drawing = drawCurves("PS2 in training: search, then application", panels, 2);
  return figure;
}

}  // namespace edgewise::detail
