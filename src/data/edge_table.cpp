#include "edgewise/data/edge_table.h"

namespace edgewise {
namespace {

template <class T>
std::vector<T> pick(const std::vector<T>& column, std::span<const std::size_t> rows) {
  std::vector<T> picked;
  if (column.empty()) {
    return picked;
  }
  picked.reserve(rows.size());
  for (const std::size_t row : rows) {
    picked.push_back(column[row]);
  }
  return picked;
}

}  // namespace

EdgeTable EdgeTable::select(std::span<const std::size_t> rows) const {
  return {.edges = pick(edges, rows),
          .weight = pick(weight, rows),
          .time = pick(time, rows),
          .edge_class = pick(edge_class, rows)};
}

}  // namespace edgewise
