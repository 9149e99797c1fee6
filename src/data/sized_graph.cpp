#include "edgewise/data/sized_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "edgewise/sampling/edge_set.h"
#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// Dense graphs run out of pairs among their hubs: past so many draws an edge, the rest is taken in
// order.
constexpr std::size_t kDrawsPerEdge = 64;
constexpr std::size_t kDenseBlock = 1 << 16;

void check(const SizedGraphOptions& options) {
  const std::uint64_t nodes = options.nodes;
  const std::uint64_t users = options.users;
  const std::uint64_t pairs = nodes < 2 || users >= nodes ? 0
                              : users > 0                 ? users * (nodes - users)
                                                          : nodes * (nodes - 1) / 2;
  if (nodes > kMaxNodes || options.edges == 0 || options.edges > pairs) {
    throw ConfigError(fmt::format("{} edges among {} nodes: a graph that size has 1 to {}",
                                  groupedCount(options.edges), groupedCount(nodes),
                                  groupedCount(pairs)));
  }
  if (options.feature_entries > options.nodes * options.features) {
    throw ConfigError(fmt::format("{} feature entries in {} rows of {}",
                                  groupedCount(options.feature_entries),
                                  groupedCount(options.nodes), groupedCount(options.features)));
  }
}

// Uneven choice among `count`: the density falls with the square root of the rank. A square rather
// than a general power, whose last bits differ between machines.
std::size_t unevenBelow(RngStream& random, std::size_t count) {
  const double u = random.uniform();
  const auto drawn = static_cast<std::size_t>(u * u * static_cast<double>(count));
  return std::min(drawn, count - 1);
}

// Numbers for the ranks: a hub's neighbours in memory are then nobody in particular.
std::vector<std::uint32_t> shuffledNumbers(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  RngStream(seed, "sized.numbers").shuffle(std::span(numbers));
  return numbers;
}

std::vector<Edge> drawEdges(const SizedGraphOptions& options) {
  const std::vector<std::uint32_t> numbers = shuffledNumbers(options.nodes, options.seed);
  RngStream random(options.seed, "sized.edges");
  EdgeSet known;
  known.reserve(options.edges);
  std::vector<Edge> edges;
  edges.reserve(options.edges);
  const auto add = [&](std::size_t left, std::size_t right) {
    const Edge edge = canonical(makeEdge(numbers[left], numbers[right]));
    if (left != right && known.insert(edge)) {
      edges.push_back(edge);
    }
  };
  for (std::size_t i = 0; i < kDrawsPerEdge * options.edges && edges.size() < options.edges; ++i) {
    const std::size_t left = unevenBelow(random, options.nodes);
    add(left, unevenBelow(random, options.nodes));
  }
  for (std::size_t left = 0; edges.size() < options.edges; ++left) {
    for (std::size_t right = left + 1; right < options.nodes && edges.size() < options.edges;
         ++right) {
      add(left, right);
    }
  }
  return edges;
}

// Between users 0 .. users - 1 and items 0 .. items - 1, each numbered on its own side.
std::vector<Edge> drawInteractions(const SizedGraphOptions& options) {
  const std::size_t items = options.nodes - options.users;
  const std::vector<std::uint32_t> user_numbers = shuffledNumbers(options.users, options.seed);
  const std::vector<std::uint32_t> item_numbers = shuffledNumbers(items, options.seed + 1);
  RngStream random(options.seed, "sized.edges");
  EdgeSet known(Direction::kDirected);
  known.reserve(options.edges);
  std::vector<Edge> edges;
  edges.reserve(options.edges);
  const auto add = [&](std::size_t user, std::size_t item) {
    const Edge edge = makeEdge(user_numbers[user], item_numbers[item]);
    if (known.insert(edge)) {
      edges.push_back(edge);
    }
  };
  for (std::size_t i = 0; i < kDrawsPerEdge * options.edges && edges.size() < options.edges; ++i) {
    const std::size_t user = unevenBelow(random, options.users);
    add(user, unevenBelow(random, items));
  }
  for (std::size_t user = 0; edges.size() < options.edges; ++user) {
    for (std::size_t item = 0; item < items && edges.size() < options.edges; ++item) {
      add(user, item);
    }
  }
  return edges;
}

// `count` different columns in ascending order, added to `columns`. `used` holds no mark before or
// after.
void drawRow(RngStream& random, std::size_t count, std::vector<bool>& used,
             std::vector<std::uint32_t>& columns) {
  const std::size_t begin = columns.size();
  const auto take = [&](std::size_t column) {
    if (!used[column]) {
      used[column] = true;
      columns.push_back(static_cast<std::uint32_t>(column));
    }
  };
  for (std::size_t i = 0; i < kDrawsPerEdge * count && columns.size() - begin < count; ++i) {
    take(unevenBelow(random, used.size()));
  }
  for (std::size_t column = 0; columns.size() - begin < count; ++column) {
    take(column);
  }
  const auto row = std::span(columns).subspan(begin);
  std::ranges::sort(row);
  for (const std::uint32_t column : row) {
    used[column] = false;
  }
}

FeatureMatrix drawSparse(const SizedGraphOptions& options) {
  RngStream random(options.seed, "sized.words");
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> columns;
  columns.reserve(options.feature_entries);
  std::vector<bool> used(options.features, false);
  for (std::size_t row = 0; row < options.nodes; ++row) {
    // So that the rows' ends are spread evenly and the last is the total.
    const std::uint64_t end = options.feature_entries * (row + 1) / options.nodes;
    drawRow(random, end - columns.size(), used, columns);
    offsets.push_back(columns.size());
  }
  std::vector<float> ones(columns.size(), 1.0F);
  return FeatureMatrix::sparse(options.features, std::move(offsets), std::move(columns),
                               std::move(ones));
}

FeatureMatrix drawDense(const SizedGraphOptions& options) {
  std::vector<float> values(options.nodes * options.features);
  const CounterRng random(options.seed, "sized.values");
  parallelFor(values.size(), kDenseBlock, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> words(end - begin);
    random.fill(0, begin / kDenseBlock, words);
    for (std::size_t i = begin; i < end; ++i) {
      values[i] = static_cast<float>(words[i - begin]) * 0x1p-31F - 1.0F;
    }
  });
  return FeatureMatrix::dense(options.nodes, options.features, std::move(values));
}

}  // namespace

Dataset makeSizedGraph(const SizedGraphOptions& options) {
  check(options);
  DatasetParts parts;
  parts.name = options.name;
  if (options.users > 0) {
    parts.raw.table.edges = drawInteractions(options);
    parts.raw.ids = IdMap::numbers(options.users);
    parts.raw.right_ids = IdMap::numbers(options.nodes - options.users);
  } else {
    parts.raw.table.edges = drawEdges(options);
    parts.raw.ids = IdMap::numbers(options.nodes);
  }
  if (options.features > 0) {
    parts.features = options.feature_entries > 0 ? drawSparse(options) : drawDense(options);
  }
  return makeDataset(std::move(parts));
}

std::span<const SizedGraphOptions> knownSizes() {
  static const std::vector<SizedGraphOptions> sizes = {
      {.name = "cora", .nodes = 2708, .edges = 5278, .features = 1433, .feature_entries = 49'216},
      {.name = "pubmed",
       .nodes = 19'717,
       .edges = 44'324,
       .features = 500,
       .feature_entries = 988'031},
      {.name = "ddi", .nodes = 4267, .edges = 1'334'889},
      {.name = "collab", .nodes = 235'868, .edges = 1'285'465, .features = 128},
      {.name = "ppa",
       .nodes = 576'289,
       .edges = 30'326'273,
       .features = 58,
       .feature_entries = 576'289},
      {.name = "gowalla", .nodes = 29'858 + 40'981, .edges = 1'027'370, .users = 29'858}};
  return sizes;
}

const SizedGraphOptions& findSizes(std::string_view name) {
  std::vector<std::string> known;
  for (const SizedGraphOptions& each : knownSizes()) {
    if (each.name == name) {
      return each;
    }
    known.push_back(each.name);
  }
  throw ConfigError(fmt::format("no sizes are known by the name '{}'", name),
                    suggestName(name, known));
}

}  // namespace edgewise
