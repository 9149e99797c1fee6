#include "edgewise/report/text_table.h"

#include <algorithm>

#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kNarrowestWrap = 24;

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::size_t used = displayWidth(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return align == Align::kRight ? blanks + std::string(text) : std::string(text) + blanks;
}

std::string withoutTrailingBlanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::size_t displayWidth(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> wrapWords(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : splitText(text, ' ')) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (displayWidth(line) + 1 + displayWidth(word) <= width) {
      line.append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

void TextTable::addRow(std::vector<Cell> cells) {
  invariant(cells.size() <= columns_.size(), "a table row has more cells than the table columns");
  cells.resize(columns_.size(), Cell(""));
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths(const TerminalStyle& style) const {
  std::vector<std::size_t> result;
  std::size_t used = 0;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::size_t width = displayWidth(columns_[column].title);
    for (const auto& row : rows_) {
      width = std::max(width, displayWidth(row[column].text));
    }
    const std::size_t left = style.width > used ? style.width - used : 0;
    if (column + 1 == columns_.size() && width > left) {
      width = std::max(kNarrowestWrap, left);
    }
    result.push_back(width);
    used += width + kGap.size();
  }
  return result;
}

std::string TextTable::render(const TerminalStyle& style) const {
  const std::vector<std::size_t> width = widths(style);
  std::string text;
  std::string head;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    head += padded(columns_[column].title, width[column], columns_[column].align);
    head += column + 1 < columns_.size() ? kGap : "";
  }
  text += style.paint(withoutTrailingBlanks(head), Ink::kBold) + "\n";
  for (const auto& row : rows_) {
    const std::vector<std::string> last = wrapWords(row.back().text, width.back());
    std::string line;
    std::size_t indent = 0;
    for (std::size_t column = 0; column + 1 < columns_.size(); ++column) {
      line += style.paint(padded(row[column].text, width[column], columns_[column].align),
                          row[column].ink);
      line += kGap;
      indent += width[column] + kGap.size();
    }
    line +=
        style.paint(padded(last.front(), last.size() > 1 ? 0 : width.back(), columns_.back().align),
                    row.back().ink);
    text += withoutTrailingBlanks(line) + "\n";
    for (std::size_t i = 1; i < last.size(); ++i) {
      text += std::string(indent, ' ') + style.paint(last[i], row.back().ink) + "\n";
    }
  }
  return text;
}

}  // namespace edgewise
