#include "data/split_positives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"
#include "edgewise/util/text.h"

namespace edgewise::detail {
namespace {

// Row numbers of the dataset's edges by role; kept sorted so that a role's table is in the
// dataset's order.
struct RoleRows {
  std::vector<std::size_t> train;
  std::vector<std::size_t> valid;
  std::vector<std::size_t> test;
};

std::vector<std::size_t> allRows(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// Rows that are to be predicted; the others (context) carry messages and get no role.
std::vector<std::size_t> targetRows(const Dataset& dataset) {
  std::vector<std::size_t> rows = allRows(dataset.edges.size());
  std::erase_if(rows, [&](std::size_t row) { return !dataset.isTarget(row); });
  return rows;
}

std::size_t shareOf(double share, std::size_t count) {
  return static_cast<std::size_t>(std::floor(share * static_cast<double>(count)));
}

LinkSplit fromRows(const Dataset& dataset, RoleRows rows) {
  for (auto* role : {&rows.train, &rows.valid, &rows.test}) {
    std::ranges::sort(*role);
  }
  LinkSplit split;
  std::vector<std::size_t> supervised = rows.train;
  std::erase_if(supervised, [&](std::size_t row) { return !dataset.isTarget(row); });
  split.training.message.table = dataset.edges.select(rows.train);
  split.training.supervision.table = dataset.edges.select(supervised);
  split.training.valid.positive = dataset.edges.select(rows.valid);
  split.test.positive = dataset.edges.select(rows.test);
  return split;
}

// Adds the context rows, which are known from the start.
void addContext(const Dataset& dataset, std::vector<std::size_t>& train) {
  for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
    if (!dataset.isTarget(row)) {
      train.push_back(row);
    }
  }
}

LinkSplit cutAtRandom(const Dataset& dataset, const SplitShares& shares, std::uint64_t seed) {
  std::vector<std::size_t> rows = targetRows(dataset);
  RngStream(seed, "split.random").shuffle(std::span(rows));
  const auto valid_end = static_cast<std::ptrdiff_t>(shareOf(shares.valid, rows.size()));
  const auto test_end = valid_end + static_cast<std::ptrdiff_t>(shareOf(shares.test, rows.size()));
  RoleRows roles = {.train = {rows.begin() + test_end, rows.end()},
                    .valid = {rows.begin(), rows.begin() + valid_end},
                    .test = {rows.begin() + valid_end, rows.begin() + test_end}};
  addContext(dataset, roles.train);
  return fromRows(dataset, std::move(roles));
}

// Where to cut rows sorted by time so that about `share` lies at or after the cut and equal times
// stay together in the past.
std::size_t timeCut(std::span<const double> times, std::span<const std::size_t> rows,
                    double share) {
  std::size_t cut = rows.size() - shareOf(share, rows.size());
  while (cut > 0 && cut < rows.size() && times[rows[cut]] == times[rows[cut - 1]]) {
    ++cut;
  }
  return cut;
}

LinkSplit cutByTime(const Dataset& dataset, const SplitShares& shares) {
  const std::vector<double>& times = dataset.edges.time;
  if (times.empty()) {
    throw ConfigError(fmt::format("split.kind=time: {} has no times", dataset.name),
                      "name the time column with --set data.time_column=NAME, or use "
                      "split.kind=random");
  }
  std::vector<std::size_t> rows = allRows(times.size());
  std::ranges::stable_sort(rows, {}, [&](std::size_t row) { return times[row]; });
  const std::size_t test_begin = timeCut(times, rows, shares.test);
  const std::size_t valid_begin = timeCut(times, rows, shares.test + shares.valid);
  const auto at = [&](std::size_t place) {
    return rows.begin() + static_cast<std::ptrdiff_t>(place);
  };
  return fromRows(dataset, {.train = {rows.begin(), at(valid_begin)},
                            .valid = {at(valid_begin), at(test_begin)},
                            .test = {at(test_begin), rows.end()}});
}

enum class NodeRole : std::uint8_t { kTrain, kValid, kTest };

// Draws held-out nodes among those that have edges.
std::vector<NodeRole> drawNodeRoles(const Dataset& dataset, const SplitShares& shares,
                                    std::uint64_t seed) {
  std::vector<std::uint8_t> has_edges(dataset.node_count, 0);
  for (const Edge& edge : dataset.edges.edges) {
    has_edges[index(edge.src)] = 1;
    has_edges[index(edge.dst)] = 1;
  }
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < dataset.node_count; ++node) {
    if (has_edges[node] != 0) {
      nodes.push_back(node);
    }
  }
  RngStream(seed, "split.nodes").shuffle(std::span(nodes));
  std::vector<NodeRole> roles(dataset.node_count, NodeRole::kTrain);
  const std::size_t test_count = shareOf(shares.test, nodes.size());
  const std::size_t valid_count = shareOf(shares.valid, nodes.size());
  for (std::size_t i = 0; i < test_count + valid_count; ++i) {
    roles[nodes[i]] = i < test_count ? NodeRole::kTest : NodeRole::kValid;
  }
  return roles;
}

LinkSplit cutByNodes(const Dataset& dataset, const SplitShares& shares, double reveal,
                     std::uint64_t seed) {
  const std::vector<NodeRole> roles = drawNodeRoles(dataset, shares, seed);
  const CounterRng coin(seed, "split.reveal");
  RoleRows rows;
  std::vector<std::size_t> valid_messages;
  std::vector<std::size_t> test_messages;
  for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
    const Edge edge = dataset.edges.edges[row];
    // The latest role wins: an edge of a test node is unknown until test time.
    const NodeRole role = std::max(roles[index(edge.src)], roles[index(edge.dst)]);
    if (role == NodeRole::kTrain) {
      rows.train.push_back(row);
      continue;
    }
    const bool revealed = !dataset.isTarget(row) || coin.uniform(row) < reveal;
    if (role == NodeRole::kValid) {
      (revealed ? valid_messages : rows.valid).push_back(row);
    } else {
      (revealed ? test_messages : rows.test).push_back(row);
    }
  }
  LinkSplit split = fromRows(dataset, std::move(rows));
  split.training.revealed_at_valid.table = dataset.edges.select(valid_messages);
  split.revealed_at_test.table = dataset.edges.select(test_messages);
  return split;
}

LinkSplit cutPerUser(const Dataset& dataset, const SplitShares& shares, std::uint64_t seed) {
  if (!dataset.bipartite) {
    throw ConfigError(fmt::format("split.kind=per_user: {} is not bipartite", dataset.name),
                      "add --bipartite for user-item data, or use split.kind=random");
  }
  const CounterRng order(seed, "split.per_user");
  RoleRows rows;
  const std::vector<Edge>& edges = dataset.edges.edges;
  // Edges are sorted by user: each user's rows stand together.
  for (std::size_t begin = 0; begin < edges.size();) {
    std::size_t end = begin;
    while (end < edges.size() && edges[end].src == edges[begin].src) {
      ++end;
    }
    std::vector<std::size_t> mine(end - begin);
    std::iota(mine.begin(), mine.end(), begin);
    std::ranges::sort(mine, {}, [&](std::size_t row) { return order.bits(row); });
    const auto count = static_cast<double>(mine.size());
    // At least one interaction stays for training, or nothing is known about the user.
    const std::size_t room = mine.size() - 1;
    const std::size_t test =
        std::min(room, static_cast<std::size_t>(std::lround(shares.test * count)));
    const std::size_t valid =
        std::min(room - test, static_cast<std::size_t>(std::lround(shares.valid * count)));
    for (std::size_t i = 0; i < mine.size(); ++i) {
      auto& role = i < test ? rows.test : i < test + valid ? rows.valid : rows.train;
      role.push_back(mine[i]);
    }
    begin = end;
  }
  return fromRows(dataset, std::move(rows));
}

// Rows by how near they are to the end of their source's list, as a share of it: by time, or by
// place in the file where there are no times. The first rows are the last of every list.
std::vector<std::size_t> latestFirst(const EdgeTable& table, std::size_t node_count) {
  std::vector<std::size_t> rows = allRows(table.size());
  if (!table.time.empty()) {
    std::ranges::stable_sort(rows, {}, [&](std::size_t row) { return table.time[row]; });
  }
  std::vector<std::uint32_t> listed(node_count, 0);
  for (const Edge& edge : table.edges) {
    ++listed[index(edge.src)];
  }
  std::vector<std::uint32_t> later = listed;
  std::vector<double> from_end(table.size());
  for (const std::size_t row : rows) {
    const std::size_t source = index(table.edges[row].src);
    --later[source];
    from_end[row] = (later[source] + 0.5) / listed[source];
  }
  std::ranges::stable_sort(rows, {}, [&](std::size_t row) { return from_end[row]; });
  return rows;
}

// Moves a share of all interactions from train to validation where none was published: drawn, or
// from the ends of the lists. Every node keeps at least one training edge.
void carveValidation(LinkSplit& split, std::size_t total, double share, std::string_view carve,
                     std::uint64_t seed, std::size_t node_count) {
  EdgeTable& train = split.training.message.table;
  std::vector<std::uint32_t> left(node_count, 0);
  for (const Edge& edge : train.edges) {
    ++left[index(edge.src)];
    ++left[index(edge.dst)];
  }
  const bool last = carve == "last";
  std::vector<std::size_t> rows = last ? latestFirst(train, node_count) : allRows(train.size());
  if (!last) {
    RngStream(seed, "split.carve").shuffle(std::span(rows));
  }
  const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(total)));
  std::vector<std::size_t> valid;
  std::vector<std::size_t> kept;
  for (const std::size_t row : rows) {
    const Edge edge = train.edges[row];
    if (valid.size() < wanted && left[index(edge.src)] > 1 && left[index(edge.dst)] > 1) {
      --left[index(edge.src)];
      --left[index(edge.dst)];
      valid.push_back(row);
    } else {
      kept.push_back(row);
    }
  }
  std::ranges::sort(valid);
  std::ranges::sort(kept);
  split.training.valid.positive = train.select(valid);
  train = train.select(kept);
  split.notes.push_back(
      fmt::format("no official validation edges: {} of the training edges{} moved there",
                  groupedCount(valid.size()), last ? ", the last of users' lists," : ""));
}

LinkSplit takeOfficial(const Dataset& dataset, const SplitShares& shares, std::string_view carve,
                       std::uint64_t seed) {
  if (!dataset.official) {
    throw ConfigError(fmt::format("split.kind=official: {} has no official split", dataset.name),
                      "use split.kind=random");
  }
  const OfficialSplit& official = *dataset.official;
  LinkSplit split;
  split.training.message.table = official.train;
  if (dataset.bipartite && official.train.time.empty()) {
    std::vector<std::uint32_t>& place = split.training.message.table.place;
    place.resize(official.train.size());
    std::iota(place.begin(), place.end(), std::uint32_t{0});
  }
  split.training.valid.positive = official.valid;
  split.test.positive = official.test;
  if (official.valid.empty()) {
    carveValidation(split, official.train.size() + official.test.size(), shares.valid, carve, seed,
                    dataset.node_count);
  }
  split.training.supervision.table = split.training.message.table;
  return split;
}

void checkNotEmpty(const LinkSplit& split, const Dataset& dataset) {
  const auto check = [&](const EdgeTable& table, std::string_view role) {
    if (table.empty()) {
      throw DataError(fmt::format("{}: the {} split leaves no {} edges of {}", dataset.name,
                                  split.kind, role, groupedCount(dataset.edges.size())),
                      "give more edges, or other shares with --set split.valid=... split.test=...");
    }
  };
  check(split.training.message.table, "training");
  check(split.training.valid.positive, "validation");
  check(split.test.positive, "test");
}

// Users and items that training knows nothing of are scored all the same; better that is known.
void noteUnseen(const Dataset& dataset, LinkSplit& split) {
  if (!dataset.bipartite) {
    return;
  }
  std::vector<std::uint8_t> seen(dataset.node_count, 0);
  for (const Edge& edge : split.training.message.table.edges) {
    seen[index(edge.src)] = 1;
    seen[index(edge.dst)] = 1;
  }
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(dataset.bipartite->users);
  const auto users = static_cast<std::size_t>(std::count(seen.begin(), middle, 0));
  const auto items = static_cast<std::size_t>(std::count(middle, seen.end(), 0));
  if (users + items > 0) {
    split.notes.push_back(
        fmt::format("{} of {} users and {} of {} items have no training interaction: nothing is "
                    "learned of them",
                    groupedCount(users), groupedCount(dataset.bipartite->users),
                    groupedCount(items), groupedCount(dataset.bipartite->items)));
  }
}

}  // namespace

std::string resolveSplitKind(const Dataset& dataset, const SplitOptions& options) {
  if (options.kind != "auto") {
    return options.kind;
  }
  if (dataset.official) {
    return "official";
  }
  return dataset.bipartite ? "per_user" : "random";
}

SplitShares resolveShares(const SplitOptions& options, std::string_view kind) {
  const bool per_user = kind == "per_user" || kind == "official";
  const SplitShares shares = {.valid = options.valid >= 0 ? options.valid : (per_user ? 0.1 : 0.05),
                              .test = options.test >= 0 ? options.test : (per_user ? 0.2 : 0.1)};
  for (const double given : {options.valid, options.test}) {
    if (given < 0 && given != -1) {
      throw ConfigError(fmt::format("a share of {} makes no sense", given),
                        "split.valid and split.test are between 0 and 1, or -1 for the usual");
    }
  }
  if (shares.valid + shares.test >= 1) {
    throw ConfigError(fmt::format("split.valid={} and split.test={} leave nothing to train on",
                                  shares.valid, shares.test),
                      "their sum must be below 1");
  }
  return shares;
}

LinkSplit cutPositives(const Dataset& dataset, const SplitOptions& options, std::uint64_t seed) {
  const std::string kind = resolveSplitKind(dataset, options);
  const SplitShares shares = resolveShares(options, kind);
  LinkSplit split;
  if (kind == "official") {
    split = takeOfficial(dataset, shares, options.carve, seed);
  } else if (kind == "time") {
    split = cutByTime(dataset, shares);
  } else if (kind == "nodes") {
    split = cutByNodes(dataset, shares, options.reveal, seed);
  } else if (kind == "per_user") {
    split = cutPerUser(dataset, shares, seed);
  } else {
    split = cutAtRandom(dataset, shares, seed);
  }
  split.kind = kind;
  split.seed = seed;
  checkNotEmpty(split, dataset);
  noteUnseen(dataset, split);
  return split;
}

}  // namespace edgewise::detail
