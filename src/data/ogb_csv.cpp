#include "data/ogb_csv.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "data/printable.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Walks the cells of a file from left to right, line by line.
class CellReader {
 public:
  CellReader(std::string_view text, const std::filesystem::path& path)
      : at_(text.data()), end_(text.data() + text.size()), path_(path) {
    // Blank lines at the end are no rows.
    while (end_ > at_ && (end_[-1] == '\n' || end_[-1] == '\r')) {
      --end_;
    }
  }

  [[nodiscard]] bool done() const { return at_ == end_; }
  [[nodiscard]] bool atDigit() const { return at_ != end_ && isDigit(*at_); }

  [[noreturn]] void fail(const std::string& what, std::string hint = {}) const {
    throw DataError(FilePlace{path_, line_}, what, std::move(hint));
  }

  void skipLine() {
    const auto* stop =
        static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
    at_ = stop == nullptr ? end_ : stop + 1;
    ++line_;
  }

  std::uint64_t wholeNumber() {
    std::uint64_t value = 0;
    const auto [stop, failure] = std::from_chars(at_, end_, value);
    if (failure != std::errc() || !endsCell(stop)) {
      fail(fmt::format("{} is not a whole number from 0 up", printable(cell())));
    }
    at_ = stop;
    return value;
  }

  double number() {
    // One-hot files consist of nothing but "0", "1", "0.0" and "1.0".
    if (atDigit() && endsCell(at_ + 1)) {
      return *at_++ - '0';
    }
    if (end_ - at_ >= 3 && isDigit(at_[0]) && at_[1] == '.' && at_[2] == '0' && endsCell(at_ + 3)) {
      const double value = at_[0] - '0';
      at_ += 3;
      return value;
    }
    double value = 0;
    const auto [stop, failure] = std::from_chars(at_, end_, value);
    if (failure != std::errc() || !endsCell(stop) || !std::isfinite(value)) {
      fail(fmt::format("{} is not a finite number", printable(cell())),
           "replace missing and infinite values before loading");
    }
    at_ = stop;
    return value;
  }

  void comma() {
    if (at_ == end_ || *at_ != ',') {
      fail("the row has one cell, not two");
    }
    ++at_;
  }

  // Passes over a comma; false at the end of a line, which it passes over too.
  bool nextCell() {
    if (at_ != end_ && *at_ == ',') {
      ++at_;
      return true;
    }
    skipLine();
    constexpr std::size_t kLinesBetweenChecks = 1 << 16;
    if (line_ % kLinesBetweenChecks == 0) {
      throwIfInterrupted();
    }
    return false;
  }

  void lineEnd(const char* expected) {
    if (at_ != end_ && *at_ == ',') {
      fail(fmt::format("the row has more than {}", expected));
    }
    nextCell();
  }

 private:
  [[nodiscard]] bool endsCell(const char* at) const {
    return at == end_ || *at == ',' || *at == '\n' ||
           (*at == '\r' && at + 1 != end_ && at[1] == '\n');
  }

  [[nodiscard]] std::string_view cell() const {
    const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
    return rest.substr(0, rest.find_first_of(",\r\n"));
  }

  const char* at_;
  const char* end_;
  const std::filesystem::path& path_;
  std::size_t line_ = 1;
};

NodeId readNode(CellReader& cells, std::size_t node_count) {
  const std::uint64_t id = cells.wholeNumber();
  if (id >= node_count) {
    cells.fail(
        fmt::format("node {} is outside 0..{}", id, static_cast<std::int64_t>(node_count) - 1),
        "the node count comes from num-node-list.csv; the files may be of different datasets");
  }
  return NodeId{static_cast<std::uint32_t>(id)};
}

}  // namespace

std::size_t readCount(const std::filesystem::path& path) {
  const FileBytes bytes = readFile(path);
  CellReader cells(bytes.view(), path);
  const std::uint64_t count = cells.wholeNumber();
  cells.lineEnd("one cell");
  if (!cells.done()) {
    cells.fail("holds more than one count", "only datasets of a single graph are read");
  }
  return count;
}

std::vector<Edge> readEdgeRows(const std::filesystem::path& path, std::size_t node_count) {
  const FileBytes bytes = readFile(path);
  CellReader cells(bytes.view(), path);
  if (!cells.done() && !cells.atDigit()) {
    cells.skipLine();
  }
  std::vector<Edge> edges;
  while (!cells.done()) {
    const NodeId src = readNode(cells, node_count);
    cells.comma();
    edges.push_back({src, readNode(cells, node_count)});
    cells.lineEnd("two cells");
  }
  return edges;
}

std::vector<double> readNumberColumn(const std::filesystem::path& path) {
  const FileBytes bytes = readFile(path);
  CellReader cells(bytes.view(), path);
  std::vector<double> numbers;
  while (!cells.done()) {
    numbers.push_back(cells.number());
    cells.lineEnd("one cell");
  }
  return numbers;
}

FeatureMatrix readNumberRows(const std::filesystem::path& path) {
  const FileBytes bytes = readFile(path);
  CellReader cells(bytes.view(), path);
  std::vector<float> values;
  std::size_t columns = 0;
  std::size_t rows = 0;
  while (!cells.done()) {
    std::size_t width = 0;
    do {
      values.push_back(static_cast<float>(cells.number()));
      ++width;
    } while (cells.nextCell());
    ++rows;
    if (rows == 1) {
      columns = width;
    } else if (width != columns) {
      throw DataError(FilePlace{path, rows},
                      fmt::format("the row has {} cells, the first one has {}", width, columns),
                      "every row must have the same number of columns");
    }
  }
  return FeatureMatrix::dense(rows, columns, std::move(values));
}

}  // namespace edgewise
