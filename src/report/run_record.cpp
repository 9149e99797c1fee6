#include "edgewise/report/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "edgewise/training/model_run.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/shell_text.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::string_view kValidPrefix = "valid_";

// curves.csv, a row an epoch.
class CurvesReader {
 public:
  // Throws DataError for what no run wrote.
  static std::vector<LearningPhase> read(const std::filesystem::path& path) {
    const FileBytes bytes = readFile(path);
    CurvesReader reader(path);
    for (const std::string_view line : splitText(bytes.view(), '\n')) {
      ++reader.line_;
      if (!trimmed(line).empty()) {
        reader.take(splitText(trimmed(line), ','));
      }
    }
    return std::move(reader.phases_);
  }

 private:
  explicit CurvesReader(std::filesystem::path path) : path_(std::move(path)) {}

  void take(const std::vector<std::string_view>& cells) {
    if (columns_.empty()) {
      columns_.assign(cells.begin(), cells.end());
      phase_ = column("phase");
      epoch_ = column("epoch");
      loss_ = column("loss");
      return;
    }
    if (cells.size() != columns_.size()) {
      fail(fmt::format("has {} cells where {} were expected", cells.size(), columns_.size()));
    }
    LearningPhase& phase = phaseNamed(cells[phase_]);
    phase.epoch.push_back(number(cells[epoch_]));
    phase.loss.push_back(number(cells[loss_]));
    std::size_t metric = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].starts_with(kValidPrefix)) {
        phase.valid[metric++].second.push_back(number(cells[i]));
      }
    }
  }

  LearningPhase& phaseNamed(std::string_view name) {
    if (phases_.empty() || phases_.back().name != name) {
      LearningPhase& phase = phases_.emplace_back();
      phase.name = name;
      for (const std::string& column : columns_) {
        if (column.starts_with(kValidPrefix)) {
          phase.valid.emplace_back(column.substr(kValidPrefix.size()), std::vector<double>());
        }
      }
    }
    return phases_.back();
  }

  [[nodiscard]] std::size_t column(std::string_view name) const {
    const auto found = std::ranges::find(columns_, name);
    if (found == columns_.end()) {
      fail(fmt::format("has no column {}", name));
    }
    return static_cast<std::size_t>(found - columns_.begin());
  }

  [[nodiscard]] double number(std::string_view text) const {
    if (text.empty()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const auto value = parseReal(text);
    if (!value) {
      fail("holds something else than numbers");
    }
    return *value;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(FilePlace{path_, line_}, what);
  }

  std::filesystem::path path_;
  std::size_t line_ = 0;
  std::vector<std::string> columns_;
  std::size_t phase_ = 0;
  std::size_t epoch_ = 0;
  std::size_t loss_ = 0;
  std::vector<LearningPhase> phases_;
};

RunMetrics metricsOf(const RunFolder& folder) {
  const nlohmann::ordered_json json = folder.readJson("metrics.json");
  try {
    return RunMetrics::fromJson(json);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(FilePlace{folder.path() / "metrics.json"},
                    fmt::format("is damaged ({})", error.what()), "run the training again");
  }
}

void readCurves(RunRecord& record) {
  const std::filesystem::path file = record.folder / kCurvesFile;
  if (isHeuristic(record.options.model)) {
    return;  // nothing was learned
  }
  if (!isThere(file)) {
    record.missing.push_back("curves.csv is missing: no learning curves");
    return;
  }
  try {
    record.phases = CurvesReader::read(file);
  } catch (const DataError& error) {
    record.missing.push_back(fmt::format("no learning curves: {}", error.what()));
  }
}

void readTestCurves(const RunFolder& folder, RunRecord& record) {
  if (!isThere(record.folder / kTestCurvesFile)) {
    record.missing.push_back(
        fmt::format("{} is missing: no histogram, ROC, precision-recall or calibration "
                    "(`edgewise evaluate` of the folder makes it)",
                    kTestCurvesFile));
    return;
  }
  try {
    record.curves = TestCurves::fromJson(folder.readJson(kTestCurvesFile));
  } catch (const DataError& error) {
    record.missing.push_back(fmt::format("{} {}", kTestCurvesFile, error.what()));
  } catch (const nlohmann::json::exception&) {
    record.missing.push_back(fmt::format("{} is damaged", kTestCurvesFile));
  }
}

// seed-2 before seed-10.
bool beforeByNumber(const std::filesystem::path& one, const std::filesystem::path& other) {
  const auto key = [](const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    return std::tuple(path.parent_path(), name.substr(0, digits),
                      parseInteger(name.substr(digits)).value_or(-1), name);
  };
  return key(one) < key(other);
}

}  // namespace

RunRecord readRunRecord(const std::filesystem::path& folder) {
  const RunFolder files = RunFolder::open(folder);
  RunRecord record;
  record.folder = folder;
  record.version = files.version();
  files.readOptions(record.options);
  record.metrics = metricsOf(files);
  readCurves(record);
  readTestCurves(files, record);
  if (!record.metrics.data) {
    record.missing.push_back(
        "metrics.json of an earlier version says nothing of the dataset's size");
  }
  return record;
}

RunRecords readRunRecords(std::span<const std::filesystem::path> folders) {
  RunRecords records;
  std::vector<std::filesystem::path> seen;
  for (const std::filesystem::path& folder : folders) {
    std::vector<std::filesystem::path> runs = runsBelow(folder);
    if (runs.empty()) {
      RunFolder::open(folder);  // to be told what is wrong with it
    }
    std::ranges::sort(runs, beforeByNumber);
    std::size_t finished = 0;
    for (const std::filesystem::path& run : runs) {
      std::error_code ignored;
      const std::filesystem::path name = std::filesystem::weakly_canonical(run, ignored);
      if (std::ranges::find(seen, name) != seen.end()) {
        ++finished;
        continue;
      }
      if (!RunFolder::open(run).finished()) {
        records.left_out.push_back(fmt::format("{} is left out: it did not finish", run.string()));
        continue;
      }
      seen.push_back(name);
      records.runs.push_back(readRunRecord(run));
      ++finished;
    }
    if (finished == 0) {
      throw DataError(FilePlace{folder}, "holds no finished run",
                      "finish it with: edgewise train --resume " + shellWord(folder.string()));
    }
  }
  return records;
}

}  // namespace edgewise
