#include "edgewise/data/edge_ages.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace edgewise {
namespace {

template <class Key>
std::vector<double> agesByKey(std::span<const Edge> edges, std::span<const Key> keys,
                              EdgeLists lists) {
  const auto list_of = [&](std::size_t row) {
    return lists.by_source ? std::size_t{index(edges[row].src)} : std::size_t{0};
  };
  std::vector<std::size_t> rows(edges.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  // List after list, the latest first.
  std::ranges::sort(rows, [&](std::size_t a, std::size_t b) {
    return std::pair(list_of(a), keys[b]) < std::pair(list_of(b), keys[a]);
  });
  std::vector<std::size_t> listed(lists.by_source ? lists.node_count : 1, 0);
  for (std::size_t row = 0; row < edges.size(); ++row) {
    ++listed[list_of(row)];
  }
  std::vector<double> ages(edges.size());
  std::size_t list_begin = 0;
  for (std::size_t begin = 0; begin < rows.size();) {
    const std::size_t list = list_of(rows[begin]);
    if (begin > 0 && list_of(rows[begin - 1]) != list) {
      list_begin = begin;
    }
    std::size_t end = begin + 1;
    while (end < rows.size() && list_of(rows[end]) == list &&
           keys[rows[end]] == keys[rows[begin]]) {
      ++end;
    }
    const double middle = static_cast<double>(begin + end) / 2 - static_cast<double>(list_begin);
    for (; begin < end; ++begin) {
      ages[rows[begin]] = middle / static_cast<double>(listed[list]);
    }
  }
  return ages;
}

}  // namespace

bool knowsAges(const EdgeTable& table) { return !table.time.empty() || !table.place.empty(); }

std::vector<double> edgeAges(const EdgeTable& table, EdgeLists lists) {
  const std::span<const Edge> edges = table.edges;
  if (!table.time.empty()) {
    return agesByKey(edges, std::span<const double>(table.time), lists);
  }
  if (!table.place.empty()) {
    return agesByKey(edges, std::span<const std::uint32_t>(table.place), lists);
  }
  return {};
}

}  // namespace edgewise
