#include "edgewise/graph/heuristics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "edgewise/graph/spectral.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/text.h"
#include "graph/pair_scorer.h"

namespace edgewise {
namespace {

struct NamedHeuristic {
  Heuristic heuristic;
  std::string_view name;
};

constexpr std::array<NamedHeuristic, 7> kNames = {{
    {Heuristic::kCommonNeighbours, "cn"},
    {Heuristic::kAdamicAdar, "aa"},
    {Heuristic::kResourceAllocation, "ra"},
    {Heuristic::kJaccard, "jaccard"},
    {Heuristic::kPreferentialAttachment, "pa"},
    {Heuristic::kKatz, "katz"},
    {Heuristic::kPersonalizedPageRank, "ppr"},
}};

constexpr std::array<Heuristic, kNames.size()> kAll = [] {
  std::array<Heuristic, kNames.size()> all{};
  std::ranges::transform(kNames, all.begin(), &NamedHeuristic::heuristic);
  return all;
}();

constexpr double kLargestDefaultBeta = 0.05;
constexpr double kLeastRestart = 1e-4;

class DegreeProductScorer final : public detail::PairScorer {
 public:
  explicit DegreeProductScorer(const CsrGraph& graph)
      : from_(graph.nodeCount(), 0.0), to_(graph.nodeCount(), 0.0) {
    for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
      from_[node] = static_cast<double>(graph.degree(NodeId{node}));
      for (const NodeId target : graph.neighbours(NodeId{node})) {
        to_[index(target)] += 1.0;
      }
    }
  }

  void score(std::span<const Edge> pairs, std::span<double> out,
             ProgressTask& task) const override {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      out[i] = from_[index(pairs[i].src)] * to_[index(pairs[i].dst)];
    }
    task.advance(pairs.size());
  }

  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressTask& task) const override {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      throwIfInterrupted();
      for (std::size_t node = 0; node < to_.size(); ++node) {
        out[i * to_.size() + node] = from_[index(sources[i])] * to_[node];
      }
      task.advance();
    }
  }

 private:
  std::vector<double> from_;
  std::vector<double> to_;
};

void checkTolerance(double tolerance) {
  const bool usable = tolerance > 0.0 && tolerance < 1.0;  // false for NaN
  if (!usable) {
    throw ConfigError(fmt::format("tolerance {} is not between 0 and 1", tolerance),
                      "leave it at 1e-12");
  }
}

detail::KatzPlan planKatz(const CsrGraph& graph, const HeuristicOptions& options) {
  checkTolerance(options.tolerance);
  if (!(options.katz_beta >= 0.0) || std::isinf(options.katz_beta)) {
    throw ConfigError(fmt::format("Katz beta {} is not a positive number", options.katz_beta),
                      "leave it at 0 to have a safe one chosen");
  }
  if (options.katz_max_length < 0) {
    throw ConfigError(
        fmt::format("longest Katz walk {} is less than nothing", options.katz_max_length),
        "give a length of 1 or more, or 0 for all lengths");
  }
  detail::KatzPlan plan{.beta = options.katz_beta,
                        .radius_upper = 0.0,
                        .max_length = options.katz_max_length,
                        .tolerance = options.tolerance};
  if (plan.beta > 0.0 && plan.max_length > 0) {
    return plan;
  }
  const SpectralRadiusBounds radius = spectralRadiusBounds(graph);
  plan.radius_upper = radius.upper;
  const double safe =
      radius.upper > 0.0 ? std::min(kLargestDefaultBeta, 0.5 / radius.upper) : kLargestDefaultBeta;
  if (plan.beta == 0.0) {
    plan.beta = safe;
  }
  // Between the two bounds nothing is proved, so that is refused too.
  if (plan.beta * radius.upper >= 1.0) {
    throw ConfigError(
        fmt::format("Katz beta {} is too large for this graph: the sum over all walk lengths needs "
                    "beta < {:.6g} (1 / largest eigenvalue)",
                    plan.beta, 1.0 / radius.upper),
        fmt::format("use {:.4g} or less, or bound the walk length", safe));
  }
  return plan;
}

double checkedRestart(const HeuristicOptions& options) {
  checkTolerance(options.tolerance);
  const bool usable = options.ppr_restart >= kLeastRestart && options.ppr_restart < 1.0;
  if (!usable) {
    throw ConfigError(fmt::format("PageRank restart probability {} is not between {} and 1",
                                  options.ppr_restart, kLeastRestart),
                      "0.15 is the usual choice");
  }
  return options.ppr_restart;
}

void checkNode(NodeId node, std::size_t node_count) {
  if (index(node) >= node_count) {
    throw ShapeError(
        fmt::format("node {} to be scored is outside a graph of {} nodes", index(node), node_count),
        "check that the pairs and the graph come from the same dataset");
  }
}

}  // namespace

std::span<const Heuristic> allHeuristics() { return kAll; }

std::string_view heuristicName(Heuristic heuristic) {
  return std::ranges::find(kNames, heuristic, &NamedHeuristic::heuristic)->name;
}

Heuristic parseHeuristic(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name, &NamedHeuristic::name);
  if (found == kNames.end()) {
    std::vector<std::string> known;
    known.reserve(kNames.size());
    for (const NamedHeuristic& entry : kNames) {
      known.emplace_back(entry.name);
    }
    throw ConfigError(fmt::format("unknown heuristic '{}'", name), suggestName(name, known));
  }
  return found->heuristic;
}

HeuristicScorer::HeuristicScorer(const CsrGraph& messages, Heuristic heuristic,
                                 const HeuristicOptions& options)
    : graph_(&messages), heuristic_(heuristic) {
  switch (heuristic) {
    case Heuristic::kPreferentialAttachment:
      scorer_ = std::make_unique<DegreeProductScorer>(messages);
      break;
    case Heuristic::kKatz: {
      const detail::KatzPlan plan = planKatz(messages, options);
      katz_beta_ = plan.beta;
      scorer_ = detail::makeKatzScorer(messages, plan);
      break;
    }
    case Heuristic::kPersonalizedPageRank:
      scorer_ = detail::makePageRankScorer(messages, checkedRestart(options), options.tolerance);
      break;
    default:
      scorer_ = detail::makeOverlapScorer(messages, heuristic);
  }
}

HeuristicScorer::HeuristicScorer(HeuristicScorer&&) noexcept = default;
HeuristicScorer& HeuristicScorer::operator=(HeuristicScorer&&) noexcept = default;
HeuristicScorer::~HeuristicScorer() = default;

std::vector<double> HeuristicScorer::score(std::span<const Edge> pairs,
                                           ProgressSink& progress) const {
  for (const Edge& pair : pairs) {
    checkNode(pair.src, graph_->nodeCount());
    checkNode(pair.dst, graph_->nodeCount());
  }
  std::vector<double> scores(pairs.size(), 0.0);
  ProgressTask task(progress, heuristicName(heuristic_), pairs.size());
  scorer_->score(pairs, scores, task);
  return scores;
}

void HeuristicScorer::scoreSources(std::span<const NodeId> sources, std::span<double> out,
                                   ProgressSink& progress) const {
  for (const NodeId source : sources) {
    checkNode(source, graph_->nodeCount());
  }
  if (out.size() != sources.size() * graph_->nodeCount()) {
    throw ShapeError(fmt::format("{} places for the scores of {} sources against {} nodes",
                                 out.size(), sources.size(), graph_->nodeCount()));
  }
  ProgressTask task(progress, heuristicName(heuristic_), sources.size());
  scorer_->scoreSources(sources, out, task);
}

namespace detail {

KeyGroups groupByKey(std::span<const std::uint32_t> keys, std::size_t key_count) {
  if (keys.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ResourceError(fmt::format("{} pairs are too many to score at once", keys.size()),
                        "score them in parts");
  }
  KeyGroups groups;
  groups.offsets.assign(key_count + 1, 0);
  for (const std::uint32_t key : keys) {
    ++groups.offsets[key + std::size_t{1}];
  }
  for (std::size_t key = 0; key < key_count; ++key) {
    groups.offsets[key + 1] += groups.offsets[key];
  }
  groups.order.resize(keys.size());
  std::vector<std::uint64_t> cursor(groups.offsets.begin(), groups.offsets.end() - 1);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    groups.order[cursor[keys[i]]++] = static_cast<std::uint32_t>(i);
  }
  return groups;
}

}  // namespace detail
}  // namespace edgewise
