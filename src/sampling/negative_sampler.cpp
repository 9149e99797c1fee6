#include "edgewise/sampling/negative_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::array<std::pair<NegativeKind, std::string_view>, 3> kKinds = {{
    {NegativeKind::kUniform, "uniform"},
    {NegativeKind::kDegree, "degree"},
    {NegativeKind::kHard, "hard"},
}};

constexpr double kLargestPower = 8.0;
constexpr std::size_t kDrawGrain = 4096;
constexpr std::size_t kLeastBatch = 1024;
constexpr std::size_t kMostBatch = std::size_t{1} << 22;
// Where one pair in so many is free, listing the free ones beats drawing blindly.
constexpr std::uint64_t kCrowding = 16;
// Draws granted to a request before its rest is taken from a list instead.
constexpr std::uint64_t kDrawsPerPair = 64;
constexpr std::uint64_t kDrawsAtLeast = 100'000;
// The longest list that is ever made for that.
constexpr std::uint64_t kLongestList = std::uint64_t{1} << 27;

// Draws at one counter that must not share numbers.
constexpr std::uint64_t kSourceLane = 0;
constexpr std::uint64_t kTargetLane = 1;
constexpr std::uint64_t kListLane = 2;

}  // namespace

std::string_view negativeKindName(NegativeKind kind) {
  return std::ranges::find(kKinds, kind, &std::pair<NegativeKind, std::string_view>::first)->second;
}

NegativeKind parseNegativeKind(std::string_view name) {
  std::vector<std::string> known;
  known.reserve(kKinds.size());
  for (const auto& [kind, kind_name] : kKinds) {
    if (name == kind_name) {
      return kind;
    }
    known.emplace_back(kind_name);
  }
  throw ConfigError(fmt::format("unknown kind of negatives '{}'", name), suggestName(name, known));
}

std::uint64_t PairSpace::pairCount() const {
  if (bipartite()) {
    return std::uint64_t{users} * items();
  }
  if (node_count < 2) {
    return 0;
  }
  const std::uint64_t nodes = node_count;
  return direction == Direction::kDirected ? nodes * (nodes - 1) : nodes * (nodes - 1) / 2;
}

bool PairSpace::contains(Edge pair) const {
  const std::size_t src = index(pair.src);
  const std::size_t dst = index(pair.dst);
  if (src >= node_count || dst >= node_count) {
    return false;
  }
  if (bipartite()) {
    return src < users && dst >= users;
  }
  return direction == Direction::kDirected ? src != dst : src < dst;
}

NegativeSampler::NegativeSampler(const PairSpace& space, const EdgeSet& known,
                                 const NegativeOptions& options, const CsrGraph* messages)
    : space_(space), known_(&known), options_(options) {
  if (space.users > space.node_count || space.node_count > kMaxNodes) {
    throw ShapeError(fmt::format("{} users among {} nodes", space.users, space.node_count));
  }
  if (known.direction() != space.direction) {
    throw ShapeError("known edges and the pairs to draw disagree on being directed");
  }
  if (options.kind == NegativeKind::kHard) {
    throw ConfigError("hard negatives belong to positives and cannot be drawn without them",
                      "use 'uniform' or 'degree' here");
  }
  if (weighted()) {
    const bool usable = options.degree_power >= 0.0 && options.degree_power <= kLargestPower;
    if (!usable) {
      throw ConfigError(fmt::format("degree power {} is not between 0 and {}", options.degree_power,
                                    kLargestPower),
                        "0.75 is the usual choice");
    }
    if (messages == nullptr || messages->nodeCount() != space.node_count) {
      throw ShapeError("negatives by degree need a graph over the same nodes");
    }
    weighEnds(*messages);
  }
  available_ = countAvailable();
}

NegativeSampler::EndWeights NegativeSampler::weigh(std::span<const double> degrees) const {
  EndWeights ends;
  double total = 0.0;
  for (const double degree : degrees) {
    // Nodes of the other side are marked by a negative degree.
    const double weight = degree < 0.0 ? 0.0 : std::pow(degree, options_.degree_power);
    ends.positive += weight > 0.0 ? 1 : 0;
    total += weight;
    ends.weight.push_back(weight);
    ends.cumulative.push_back(total);
  }
  return ends;
}

void NegativeSampler::weighEnds(const CsrGraph& messages) {
  const bool directed = messages.direction() == Direction::kDirected;
  std::vector<double> out(space_.node_count, 0.0);
  std::vector<double> in(space_.node_count, 0.0);
  for (std::uint32_t node = 0; node < space_.node_count; ++node) {
    out[node] = static_cast<double>(messages.degree(NodeId{node}));
    for (const NodeId target : messages.neighbours(NodeId{node})) {
      in[index(target)] += 1.0;
    }
  }
  if (!directed) {
    in = out;
  }
  if (space_.bipartite()) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(space_.users), out.end(), -1.0);
    std::fill_n(in.begin(), space_.users, -1.0);
  }
  sources_ = weigh(out);
  targets_ = weigh(in);
}

bool NegativeSampler::drawable(Edge pair) const {
  return space_.contains(pair) && (!weighted() || weightOf(pair) > 0.0);
}

double NegativeSampler::weightOf(Edge pair) const {
  return weighted() ? sources_.weight[index(pair.src)] * targets_.weight[index(pair.dst)] : 1.0;
}

std::uint64_t NegativeSampler::countAvailable() const {
  std::uint64_t pairs = space_.pairCount();
  if (weighted()) {
    std::uint64_t loops = 0;
    for (std::size_t node = 0; node < space_.node_count; ++node) {
      loops += sources_.weight[node] > 0.0 && targets_.weight[node] > 0.0 ? 1 : 0;
    }
    pairs = sources_.positive * targets_.positive - loops;
    if (space_.direction == Direction::kUndirected && !space_.bipartite()) {
      pairs /= 2;
    }
  }
  std::uint64_t taken = 0;
  known_->forEach([&](Edge edge) { taken += drawable(edge) ? 1 : 0; });
  return pairs - taken;
}

std::vector<Edge> NegativeSampler::sample(std::size_t count, const CounterRng& rng) const {
  if (count > 0 && (available_ == 0 || (options_.distinct && count > available_))) {
    throw DataError(fmt::format("{} non-edges were asked for, but the graph has only {}",
                                groupedCount(count), groupedCount(available_)),
                    "ask for fewer negatives, or check that the graph is not complete");
  }
  Drawn drawn{.pairs = {}, .taken = EdgeSet(space_.direction)};
  drawn.pairs.reserve(count);
  if (!crowded(count)) {
    drawByRejection(count, rng, drawn);
  }
  if (drawn.pairs.size() < count) {
    drawFromList(count, rng, drawn);
  }
  return std::move(drawn.pairs);
}

bool NegativeSampler::crowded(std::size_t count) const {
  const bool nearly_all = options_.distinct && count > available_ / 2;
  return !weighted() && (nearly_all || available_ < space_.pairCount() / kCrowding);
}

Edge NegativeSampler::draw(const CounterRng& rng, std::uint64_t counter) const {
  if (weighted()) {
    const auto pick = [&](const EndWeights& ends, std::uint64_t lane) {
      const double place = rng.uniform(counter, lane) * ends.cumulative.back();
      const auto found = std::ranges::upper_bound(ends.cumulative, place);
      // Rounding can reach the very end; the draw is then rejected like any other unfit one.
      const auto last = static_cast<std::ptrdiff_t>(ends.cumulative.size()) - 1;
      return NodeId{static_cast<std::uint32_t>(std::min(found - ends.cumulative.begin(), last))};
    };
    const Edge pair{pick(sources_, kSourceLane), pick(targets_, kTargetLane)};
    return space_.direction == Direction::kUndirected ? canonical(pair) : pair;
  }
  if (space_.bipartite()) {
    return makeEdge(
        static_cast<std::uint32_t>(rng.below(counter, space_.users, kSourceLane)),
        static_cast<std::uint32_t>(space_.users + rng.below(counter, space_.items(), kTargetLane)));
  }
  const std::uint64_t src = rng.below(counter, space_.node_count, kSourceLane);
  const std::uint64_t other = rng.below(counter, space_.node_count - 1, kTargetLane);
  const Edge pair = makeEdge(static_cast<std::uint32_t>(src),
                             static_cast<std::uint32_t>(other < src ? other : other + 1));
  return space_.direction == Direction::kUndirected ? canonical(pair) : pair;
}

// Draws 0, 1, 2, ... are made in batches and kept in that order, so that the size of a batch does
// not show.
void NegativeSampler::drawByRejection(std::size_t count, const CounterRng& rng,
                                      Drawn& drawn) const {
  const std::uint64_t most = std::max(kDrawsAtLeast, kDrawsPerPair * count);
  std::vector<Edge> batch;
  std::vector<std::uint8_t> fit;
  for (std::uint64_t begin = 0; begin < most && drawn.pairs.size() < count; begin += batch.size()) {
    throwIfInterrupted();
    const std::size_t missing = count - drawn.pairs.size();
    batch.resize(std::clamp(missing + missing / 8, kLeastBatch, kMostBatch));
    fit.resize(batch.size());
    parallelFor(batch.size(), kDrawGrain, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        batch[i] = draw(rng, begin + i);
        fit[i] = drawable(batch[i]) && !known_->contains(batch[i]) ? 1 : 0;
      }
    });
    for (std::size_t i = 0; i < batch.size() && drawn.pairs.size() < count; ++i) {
      if (fit[i] != 0 && (!options_.distinct || drawn.taken.insert(batch[i]))) {
        drawn.pairs.push_back(batch[i]);
      }
    }
  }
}

std::vector<Edge> NegativeSampler::listRest(const Drawn& drawn) const {
  std::vector<Edge> rest;
  const bool halved = space_.direction == Direction::kUndirected || space_.bipartite();
  const auto nodes = static_cast<std::uint32_t>(space_.node_count);
  for (std::uint32_t src = 0; src < (space_.bipartite() ? space_.users : nodes); ++src) {
    throwIfInterrupted();
    for (std::uint32_t dst = halved ? src + 1 : 0; dst < nodes; ++dst) {
      const Edge pair = makeEdge(src, dst);
      if (drawable(pair) && !known_->contains(pair) && !drawn.taken.contains(pair)) {
        rest.push_back(pair);
      }
    }
  }
  return rest;
}

void NegativeSampler::drawFromList(std::size_t count, const CounterRng& rng, Drawn& drawn) const {
  if (weighted() && space_.pairCount() > kLongestList) {
    throw DataError(
        fmt::format("degrees of this graph are so uneven that only {} of {} negatives were found",
                    groupedCount(drawn.pairs.size()), groupedCount(count)),
        "use a smaller degree power or uniform negatives");
  }
  const std::vector<Edge> rest = listRest(drawn);
  const std::size_t missing = count - drawn.pairs.size();
  if (!options_.distinct) {
    std::vector<double> cumulative;
    cumulative.reserve(rest.size());
    double total = 0.0;
    for (const Edge& pair : rest) {
      cumulative.push_back(total += weightOf(pair));
    }
    for (std::size_t i = 0; i < missing; ++i) {
      const auto found = std::ranges::upper_bound(cumulative, rng.uniform(i, kListLane) * total);
      drawn.pairs.push_back(rest[static_cast<std::size_t>(
          std::min<std::ptrdiff_t>(found - cumulative.begin(), std::ssize(rest) - 1))]);
    }
    return;
  }
  // Efraimidis and Spirakis (2006): the smallest of independent exponential times, one a pair at
  // the rate of its weight, are a weighted sample without replacement, in order of drawing.
  std::vector<std::pair<double, Edge>> times(rest.size());
  parallelFor(rest.size(), kDrawGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double uniform = rng.uniform(edgeKey(rest[i]), kListLane);
      times[i] = {-std::log1p(-uniform) / weightOf(rest[i]), rest[i]};
    }
  });
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(missing);
  std::ranges::nth_element(times, middle == times.end() ? middle - 1 : middle);
  std::sort(times.begin(), middle);
  for (std::size_t i = 0; i < missing; ++i) {
    drawn.pairs.push_back(times[i].second);
  }
}

std::vector<Edge> uniformNonEdges(std::size_t count, const PairSpace& space, const EdgeSet& known,
                                  const CounterRng& rng) {
  return NegativeSampler(space, known).sample(count, rng);
}

}  // namespace edgewise
