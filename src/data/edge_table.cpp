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

// Half a column would be out of step with the edges.
template <class T>
void appendColumn(std::vector<T>& to, std::size_t to_rows, const std::vector<T>& from,
                  std::size_t from_rows) {
  if (to.size() != to_rows || from.size() != from_rows) {
    to.clear();
    return;
  }
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

EdgeTable EdgeTable::select(std::span<const std::size_t> rows) const {
  return {.edges = pick(edges, rows),
          .weight = pick(weight, rows),
          .time = pick(time, rows),
          .place = pick(place, rows),
          .edge_class = pick(edge_class, rows)};
}

void EdgeTable::append(const EdgeTable& more) {
  appendColumn(weight, size(), more.weight, more.size());
  appendColumn(time, size(), more.time, more.size());
  appendColumn(place, size(), more.place, more.size());
  appendColumn(edge_class, size(), more.edge_class, more.size());
  edges.insert(edges.end(), more.edges.begin(), more.edges.end());
}

}  // namespace edgewise
