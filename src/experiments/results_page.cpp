#include "edgewise/experiments/results_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "edgewise/experiments/experiment.h"
#include "edgewise/experiments/paper_tables.h"
#include "edgewise/report/grid.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::string_view kOpen = "<!-- results: ";
constexpr std::string_view kOpenEnd = " -->";
constexpr std::string_view kClose = "<!-- /results -->";
const std::vector<std::string> kBlocks = {"against-paper", "controls", "search", "mean", "planted"};

Cell cellOf(const std::string& dataset, const std::string& model, const std::string& selector,
            const std::string& recipe, const std::string& variant = "") {
  return {.dataset = dataset,
          .model = model,
          .selector = selector,
          .recipe = recipe,
          .variant = variant,
          .settings = {}};
}

std::string emptyText(const ResultBook& book, const std::string& dataset) {
  return book.absent(dataset) ? "no data" : "not run";
}

std::string seedsText(std::span<const CellResult* const> results) {
  std::vector<std::string> counts;
  for (const CellResult* result : results) {
    counts.push_back(result == nullptr ? "-" : std::to_string(result->runs.size()));
  }
  const bool same = std::ranges::all_of(counts, [&](const auto& c) { return c == counts.front(); });
  return same ? counts.front() : joinText(counts, ", ");
}

// The table as the paper has it, with how ours are made.
ExperimentPlan paperPlan(const std::string& table, const std::string& recipe) {
  return planExperiment(findExperiment(table), {.recipes = {recipe}, .controls = false},
                        [](const std::string&) { return true; });
}

std::string againstPaper(const std::string& table, const ResultBook& book) {
  const ExperimentPlan plan = paperPlan(table, "paper");
  Grid grid{.head = {"dataset", "model", "views", "test (%)", "paper", "ours, `paper`",
                     "ours, `best`", "seeds"},
            .rows = {},
            .labels = 4};
  for (const Cell& cell : plan.cells) {
    // Applied as the paper does; what the recipe does anyway has no name of its own.
    Cell best = cell;
    best.recipe = "best";
    if (cell.selector == "ps2" && plan.experiment.kind == ExperimentKind::kFinetune) {
      best.variant = cell.variant.empty() ? "finetune" : cell.variant;
      best.settings = {"selector.apply=" + best.variant};
    }
    best = simplified(best);
    const std::vector<const CellResult*> results = {book.find(cell.name()), book.find(best.name())};
    const std::vector<std::string> metrics = tableMetrics(cell.dataset, table);
    std::vector<std::string> row = {cell.dataset, cell.model, cell.method(),
                                    joinText(metrics, " / "), paperText(table, cell)};
    for (const CellResult* result : results) {
      row.push_back(result ? resultText(result, metrics) : emptyText(book, cell.dataset));
    }
    row.push_back(seedsText(results));
    grid.rows.push_back(std::move(row));
  }
  return gridMarkdown(grid);
}

constexpr const char* kPlanetoid = "table:planetoid";

// Rows of one model over the datasets of one of the paper's tables, those whose data is at hand.
class DatasetGrid {
 public:
  DatasetGrid(const ResultBook& book, const std::string& model,
              const std::string& table = kPlanetoid)
      : book_(book) {
    const std::vector<std::string>& all = findExperiment(table).datasets;
    std::ranges::copy_if(all, std::back_inserter(datasets_),
                         [&](const std::string& dataset) { return !book.absent(dataset); });
    if (datasets_.empty()) {
      datasets_ = all;
    }
    const std::vector<std::string> metrics = tableMetrics(datasets_.front());
    const bool alike = std::ranges::all_of(
        datasets_, [&](const std::string& dataset) { return tableMetrics(dataset) == metrics; });
    grid_.head = {alike ? fmt::format("{}: test {} (%)", model, joinText(metrics, " / "))
                        : fmt::format("{}: test (%)", model)};
    for (const std::string& dataset : datasets_) {
      grid_.head.push_back(alike ? dataset
                                 : dataset + " " + joinText(tableMetrics(dataset), " / "));
    }
  }

  template <class Text>
  void addRow(const std::string& label, const Text& text) {
    std::vector<std::string> row = {label};
    for (const std::string& dataset : datasets_) {
      row.push_back(text(dataset));
    }
    grid_.rows.push_back(std::move(row));
  }

  [[nodiscard]] bool anyResult(const Cell& like) const {
    return std::ranges::any_of(
        datasets_, [&](const std::string& dataset) { return find(dataset, like) != nullptr; });
  }

  void addResults(const std::string& label, const Cell& like) {
    addRow(label, [&](const std::string& dataset) {
      if (const CellResult* result = find(dataset, like)) {
        return resultText(result, tableMetrics(dataset)) + ofSeeds(*result);
      }
      return std::string(isVanilla(dataset, like) ? "as none" : "-");
    });
  }

  // A row for each of these that anything was run with; `like(selector)` is its cell.
  template <class Like>
  void addMade(const std::vector<std::string>& selectors, const Like& like) {
    for (const std::string& selector : selectors) {
      if (anyResult(like(selector))) {
        addResults(selector, like(selector));
      }
    }
  }

  void addEffective(const Cell& like) {
    addRow("effective views", [&](const std::string& dataset) {
      const CellResult* result = find(dataset, like);
      const auto effective = result ? result->effective() : std::nullopt;
      return effective ? fmt::format("{:.1f}", *effective) : std::string();
    });
  }

  void addDifference(const std::string& label, const Cell& first, const Cell& second) {
    addRow(label, [&](const std::string& dataset) {
      return differenceText(find(dataset, first), find(dataset, second));
    });
  }

  [[nodiscard]] const CellResult* find(const std::string& dataset, Cell like) const {
    like.dataset = dataset;
    return book_.find(like.name());
  }
  [[nodiscard]] std::string markdown() const { return gridMarkdown(grid_); }

 private:
  // The view that the model looks at without a selector.
  static bool isVanilla(const std::string& dataset, Cell like) {
    like.dataset = dataset;
    return like.selector == fmt::format("fixed:{0},{0}", resolveCell(like).network.encoder.layers);
  }

  // Told where it is not the usual number.
  static std::string ofSeeds(const CellResult& result) {
    constexpr std::size_t kUsual = 10;
    return result.runs.size() == kUsual ? "" : fmt::format(" ({} seeds)", result.runs.size());
  }

  const ResultBook& book_;
  std::vector<std::string> datasets_;
  Grid grid_;
};

std::string controls(const std::string& recipe, const std::string& model, const std::string& table,
                     const ResultBook& book) {
  DatasetGrid grid(book, model, table);
  const auto like = [&](const std::string& selector) {
    return cellOf("", model, selector, recipe);
  };
  grid.addRow("PS2 in the paper", [&](const std::string& dataset) {
    return paperText(table, cellOf(dataset, model, "ps2", "paper"));
  });
  grid.addMade({"none", "fixed:1,1", "fixed:2,2", "rs", "jk", "mean"}, like);
  grid.addResults("**ps2**", like("ps2"));
  grid.addEffective(like("ps2"));
  for (const std::string selector : {"none", "fixed:1,1", "jk"}) {
    if (grid.anyResult(like(selector))) {
      grid.addDifference("ps2 − " + selector, like("ps2"), like(selector));
    }
  }
  return grid.markdown();
}

std::string search(const std::string& model, const ResultBook& book) {
  DatasetGrid grid(book, model);
  const auto like = [&](const std::string& selector, const std::string& variant = "") {
    return cellOf("", model, selector, "paper", variant);
  };
  grid.addMade({"none", "fixed:1,1", "fixed:2,2", "rs", "jk"}, like);
  grid.addResults("ps2, fine-tuned", like("ps2"));
  grid.addResults("ps2, from scratch", like("ps2", "scratch"));
  grid.addResults("ps2, jointly", like("ps2", "joint"));
  grid.addResults("ps2, fine-tuned, with the leak", like("ps2", "leak"));
  grid.addRow("valid AUC of ps2, without and with the leak", [&](const std::string& dataset) {
    std::vector<std::string> parts;
    for (const std::string variant : {"", "leak"}) {
      const CellResult* result = grid.find(dataset, like("ps2", variant));
      const auto valid = result ? result->valid("auc") : std::nullopt;
      parts.push_back(valid ? fmt::format("{:.2f}", 100 * valid->mean) : "-");
    }
    return joinText(parts, ", ");
  });
  grid.addEffective(like("ps2"));
  return grid.markdown();
}

std::string meanOfViews(const std::string& model, const ResultBook& book) {
  Grid grid{.head = {model, "valid AUC", "test AUC", "test AP",
                     "best single view by validation: test AUC", "seeds"},
            .rows = {},
            .labels = 1};
  for (const std::string& dataset : findExperiment(kPlanetoid).datasets) {
    const CellResult* result = book.find(cellOf(dataset, model, "mean", "best").name());
    if (result == nullptr) {
      grid.rows.push_back({dataset, emptyText(book, dataset)});
      continue;
    }
    std::vector<double> single;
    for (const SeedResult& run : result->runs) {
      if (const auto value = run.best_view_test.find("auc")) {
        single.push_back(*value);
      }
    }
    const auto shown = [](const std::optional<MeanStd>& value) {
      return value ? percentText(*value) : std::string("-");
    };
    grid.rows.push_back({dataset, shown(result->valid("auc")), shown(result->test("auc")),
                         shown(result->test("ap")),
                         single.empty() ? "-" : percentText(summarise(single)),
                         std::to_string(result->runs.size())});
  }
  return gridMarkdown(grid);
}

std::string planted(const ResultBook& book) {
  const std::vector<std::string> models = {"gae", "sage"};
  Grid grid{.head = {"test AUC (%)", "gae", "sage", "effective views (gae, sage)"}};
  for (const std::string selector :
       {"fixed:1,1", "fixed:1,2", "fixed:2,2", "rs", "jk", "mean", "ps2", "oracle"}) {
    std::vector<std::string> row = {selector == "ps2" ? "**ps2**" : selector};
    std::vector<std::string> effective;
    for (const std::string& model : models) {
      const CellResult* result = book.find(cellOf("planted", model, selector, "best").name());
      const auto value = result ? result->test("auc") : std::nullopt;
      row.push_back(value ? percentText(*value) : "not run");
      if (const auto views = result ? result->effective() : std::nullopt) {
        effective.push_back(fmt::format("{:.2f}", *views));
      }
    }
    row.push_back(joinText(effective, ", "));
    grid.rows.push_back(std::move(row));
  }
  return gridMarkdown(grid);
}

std::string blockText(const std::vector<std::string>& words, const ResultBook& book,
                      const FilePlace& place) {
  const auto takes = [&](std::string_view name, std::size_t count) {
    return words.front() == name && words.size() == count + 1;
  };
  try {
    if (takes("against-paper", 1)) {
      return againstPaper(words[1], book);
    }
    if (takes("controls", 2)) {
      return controls(words[1], words[2], kPlanetoid, book);
    }
    if (takes("controls", 3)) {
      return controls(words[1], words[2], words[3], book);
    }
    if (takes("search", 1)) {
      return search(words[1], book);
    }
    if (takes("mean", 1)) {
      return meanOfViews(words[1], book);
    }
    if (takes("planted", 0)) {
      return planted(book);
    }
  } catch (const ConfigError& error) {
    throw DataError(place, error.what(), error.hint());
  }
  throw DataError(place, fmt::format("no table of results is called '{}'", joinText(words, " ")),
                  suggestName(words.front(), kBlocks));
}

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : splitText(text, ' ')) {
    if (!trimmed(word).empty()) {
      words.emplace_back(trimmed(word));
    }
  }
  return words;
}

// What a table's opening line asks for; nothing for any other line.
std::optional<std::vector<std::string>> openedBlock(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with(kOpen) || !line.ends_with(kOpenEnd)) {
    return std::nullopt;
  }
  line.remove_prefix(kOpen.size());
  line.remove_suffix(kOpenEnd.size());
  std::vector<std::string> words = wordsOf(line);
  return words.empty() ? std::nullopt : std::optional(std::move(words));
}

}  // namespace

PageUpdate updateResultsPage(const std::filesystem::path& page, const ResultBook& book) {
  const FileBytes bytes = readFile(page);
  PageUpdate update;
  std::size_t number = 0;
  std::size_t opened = 0;
  const std::vector<std::string_view> lines = splitText(bytes.view(), '\n');
  for (const std::string_view line : lines) {
    ++number;
    if (opened > 0) {
      if (trimmed(line) == kClose) {
        opened = 0;
      } else {
        continue;
      }
    }
    update.text += line;
    update.text += number < lines.size() ? "\n" : "";
    if (const auto words = openedBlock(line)) {
      opened = number;
      ++update.blocks;
      update.text += blockText(*words, book, {page, number});
    }
  }
  if (opened > 0) {
    throw DataError(FilePlace{page, opened}, "this table does not end",
                    fmt::format("put a line {} below it", kClose));
  }
  update.changed = update.text != bytes.view();
  return update;
}

void writeResultsPage(const std::filesystem::path& page, const PageUpdate& update) {
  writeFileAtomically(page, update.text);
}

}  // namespace edgewise
