#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "data/named_choice.h"
#include "data/text_numbers.h"
#include "data/text_table.h"
#include "edgewise/data/feature_text.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r";

// The rows of one piece of the file, indices as written.
struct SparseChunk {
  std::vector<std::uint64_t> row_sizes;
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
  // An entry with the smallest and one with the largest index, for errors that show only when the
  // whole file is known.
  std::string_view smallest;
  std::string_view largest;
  std::uint32_t min_index = 0xFFFFFFFFU;
  std::uint32_t max_index = 0;
};

class SvmlightParser {
 public:
  explicit SvmlightParser(const TextFile& file) : file_(file) {}

  SparseChunk run(std::string_view piece) {
    DataLines lines(piece);
    std::string_view line;
    while (lines.next(line)) {
      parseLine(line.substr(0, line.find('#')));
    }
    return std::move(chunk_);
  }

 private:
  void parseLine(std::string_view line) {
    const std::size_t row_begin = chunk_.indices.size();
    std::string_view rest = line;
    bool first = true;
    for (std::string_view token = takeToken(rest); !token.empty(); token = takeToken(rest)) {
      const bool label = first && token.find(':') == std::string_view::npos;
      if (!label && !token.starts_with("qid:")) {
        parseEntry(token);
      }
      first = false;
    }
    checkRepeats(line, row_begin);
    chunk_.row_sizes.push_back(chunk_.indices.size() - row_begin);
  }

  static std::string_view takeToken(std::string_view& text) {
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    const std::string_view token = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return token;
  }

  void parseEntry(std::string_view token) {
    std::uint32_t column = 0;
    const char* begin = token.data();
    const char* end = begin + token.size();
    const auto [stop, failure] = std::from_chars(begin, end, column);
    if (failure == std::errc::invalid_argument || stop == end || *stop != ':') {
      throw file_.errorAt(token, fmt::format("{} is not index:value", shown(token)),
                          "rows look like: label 1:0.5 7:2");
    }
    if (failure != std::errc() || column > kMaxFeatureColumns) {
      throw file_.errorAt(
          token, fmt::format("feature index of {} is beyond {}", shown(token), kMaxFeatureColumns));
    }
    const std::string_view text = token.substr(static_cast<std::size_t>(stop + 1 - begin));
    const auto value = parseFiniteFloat(text);
    if (!value) {
      throw file_.errorAt(token, fmt::format("feature {} in column {} {}", shown(text), column,
                                             whyNotFinite(text)));
    }
    if (chunk_.indices.empty() || column < chunk_.min_index) {
      chunk_.smallest = token;
      chunk_.min_index = column;
    }
    if (chunk_.indices.empty() || column > chunk_.max_index) {
      chunk_.largest = token;
      chunk_.max_index = column;
    }
    chunk_.indices.push_back(column);
    chunk_.values.push_back(*value);
  }

  void checkRepeats(std::string_view line, std::size_t row_begin) {
    const auto begin = chunk_.indices.begin() + static_cast<std::ptrdiff_t>(row_begin);
    if (std::adjacent_find(begin, chunk_.indices.end(), std::greater_equal<>()) ==
        chunk_.indices.end()) {
      return;
    }
    scratch_.assign(begin, chunk_.indices.end());
    std::ranges::sort(scratch_);
    const auto repeat = std::ranges::adjacent_find(scratch_);
    if (repeat != scratch_.end()) {
      throw file_.errorAt(line, fmt::format("feature index {} is repeated in its row", *repeat));
    }
  }

  const TextFile& file_;
  SparseChunk chunk_;
  std::vector<std::uint32_t> scratch_;
};

// The index at which the file's columns start.
std::uint32_t findBase(const TextFile& file, std::span<const SparseChunk> chunks,
                       IndexBase wanted) {
  const auto zero = std::ranges::find_if(
      chunks, [](const SparseChunk& c) { return !c.smallest.empty() && c.min_index == 0; });
  if (wanted == IndexBase::kOne && zero != chunks.end()) {
    throw file.errorAt(zero->smallest, "feature index 0, but indices start at 1",
                       "index_base=0 reads files that start at 0");
  }
  return wanted == IndexBase::kZero || zero != chunks.end() ? 0 : 1;
}

std::size_t findWidth(const TextFile& file, std::span<const SparseChunk> chunks, std::uint32_t base,
                      std::size_t wanted) {
  std::size_t width = wanted;
  for (const SparseChunk& chunk : chunks) {
    if (chunk.largest.empty()) {
      continue;
    }
    const std::size_t needed = std::size_t{chunk.max_index} + 1 - base;
    if (wanted != 0 && needed > wanted) {
      throw file.errorAt(chunk.largest, fmt::format("feature index {} is beyond {} columns",
                                                    chunk.max_index, wanted));
    }
    width = std::max(width, needed);
  }
  return width;
}

}  // namespace

IndexBase parseIndexBase(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, IndexBase>, 3> kChoices = {{
      {"auto", IndexBase::kAuto},
      {"0", IndexBase::kZero},
      {"1", IndexBase::kOne},
  }};
  return namedChoice<IndexBase>("index_base", name, kChoices);
}

FeatureMatrix readFeaturesSvmlight(const std::filesystem::path& path,
                                   const FeatureTextOptions& options) {
  if (options.column_count > kMaxFeatureColumns) {
    throw ConfigError(
        fmt::format("column_count is {}, more than {}", options.column_count, kMaxFeatureColumns));
  }
  const TextFile file(path);
  const auto pieces = cutAtLineEnds(file.text(), kChunkBytes);
  std::vector<SparseChunk> chunks(pieces.size());
  parallelFor(pieces.size(), 1, [&](std::size_t begin, std::size_t) {
    throwIfInterrupted();
    chunks[begin] = SvmlightParser(file).run(pieces[begin]);
  });
  const std::uint32_t base = findBase(file, chunks, options.index_base);
  const std::size_t width = findWidth(file, chunks, base, options.column_count);
  std::vector<std::uint64_t> offsets(1, 0);
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  for (SparseChunk& chunk : chunks) {
    const SparseChunk taken = std::move(chunk);
    for (const std::uint64_t size : taken.row_sizes) {
      offsets.push_back(offsets.back() + size);
    }
    std::ranges::transform(taken.indices, std::back_inserter(columns),
                           [base](std::uint32_t column) { return column - base; });
    values.insert(values.end(), taken.values.begin(), taken.values.end());
  }
  if (width == 0) {
    throw DataError(FilePlace{path}, "holds no features (index:value)",
                    "rows look like: label 1:0.5 7:2");
  }
  return FeatureMatrix::sparse(width, std::move(offsets), std::move(columns), std::move(values));
}

}  // namespace edgewise
