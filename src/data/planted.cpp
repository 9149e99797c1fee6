#include "edgewise/data/planted.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

enum PlantedClass : std::uint8_t { kNearNear, kNearFar, kFarFar, kContext };

// Words a node shows: communities own a block of the vocabulary each, common words say nothing.
constexpr std::size_t kWordsPerCommunity = 16;
constexpr std::size_t kCommonWords = 64;
constexpr std::size_t kWordsShown = 12;

// Node kinds as shares of all nodes.
constexpr double kNearShare = 0.38;
constexpr double kFarShare = 0.38;
constexpr double kBridgeShare = 0.075;
constexpr double kRelayShare = 0.075;

constexpr std::size_t kBridgesPerNear = 6;
constexpr std::size_t kRelaysPerFar = 2;
constexpr std::size_t kBeaconsPerConnector = 16;
constexpr std::size_t kBeaconsPerBeacon = 16;

// How many of a node's words speak of a community.
constexpr std::size_t kNearWords = 4;
constexpr std::size_t kRelayWords = 6;
constexpr std::size_t kBeaconWords = 12;

// Node numbers by kind: near, far, bridges, relays, beacons, one range after the other.
struct Range {
  std::size_t begin;
  std::size_t end;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

class PlantedBuilder {
 public:
  explicit PlantedBuilder(const PlantedOptions& options)
      : options_(options),
        nodes_(static_cast<std::size_t>(options.nodes)),
        communities_(static_cast<std::size_t>(options.communities)),
        random_(static_cast<std::uint64_t>(options.seed), "planted") {
    layOut();
  }

  Dataset build() {
    drawCommunities();
    drawContext();
    drawTargets();
    DatasetParts parts;
    parts.name = "planted";
    parts.raw.table = std::move(table_);
    parts.raw.ids = IdMap::numbers(nodes_);
    parts.features = drawFeatures();
    parts.labels.assign(community_.begin(), community_.end());
    parts.edge_classes = {
        {.name = "near_near", .views = {{1, 1}}},
        {.name = "near_far", .views = {{1, 2}, {1, 3}}},
        {.name = "far_far", .views = {{2, 2}, {2, 3}, {3, 2}, {3, 3}}},
        {.name = "context", .target = false, .views = {}},
    };
    return makeDataset(std::move(parts));
  }

 private:
  void layOut() {
    std::size_t next = 0;
    const auto take = [&](double share) {
      const std::size_t begin = next;
      next += static_cast<std::size_t>(share * static_cast<double>(nodes_));
      return Range{begin, next};
    };
    near_ = take(kNearShare);
    far_ = take(kFarShare);
    bridges_ = take(kBridgeShare);
    relays_ = take(kRelayShare);
    beacons_ = {next, nodes_};
  }

  // Communities are dealt round robin within a kind, so that all have members everywhere; bridges
  // and relays take the community of the beacons behind them.
  void drawCommunities() {
    community_.resize(nodes_);
    for (const Range& kind : {near_, far_, bridges_, relays_, beacons_}) {
      for (std::size_t node = kind.begin; node < kind.end; ++node) {
        community_[node] = static_cast<std::int32_t>((node - kind.begin) % communities_);
      }
    }
  }

  void addEdge(std::size_t src, std::size_t dst, PlantedClass edge_class) {
    const Edge edge = makeEdge(static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(dst));
    if (src != dst && known_.insert(edgeKey(canonical(edge))).second) {
      table_.edges.push_back(edge);
      table_.edge_class.push_back(edge_class);
    }
  }

  // A random node of this kind that belongs to `community`.
  std::size_t memberOf(const Range& kind, std::size_t community) {
    const std::size_t members = (kind.size() - community + communities_ - 1) / communities_;
    return kind.begin + community + communities_ * random_.below(members);
  }

  void drawContext() {
    for (std::size_t node = near_.begin; node < near_.end; ++node) {
      const auto own = static_cast<std::size_t>(community_[node]);
      // All bridges of a node lead to the same wrong community; different ones would cancel out.
      const std::size_t decoy = (own + 1 + random_.below(communities_ - 1)) % communities_;
      for (std::size_t i = 0; i < kBridgesPerNear; ++i) {
        addEdge(node, memberOf(bridges_, decoy), kContext);
      }
    }
    for (std::size_t node = far_.begin; node < far_.end; ++node) {
      for (std::size_t i = 0; i < kRelaysPerFar; ++i) {
        addEdge(node, memberOf(relays_, static_cast<std::size_t>(community_[node])), kContext);
      }
    }
    attachToBeacons(bridges_, kBeaconsPerConnector);
    attachToBeacons(relays_, kBeaconsPerConnector);
    // Beacons know one another, so what they say is as loud three hops away as at two.
    attachToBeacons(beacons_, kBeaconsPerBeacon);
  }

  void attachToBeacons(const Range& kind, std::size_t links) {
    for (std::size_t node = kind.begin; node < kind.end; ++node) {
      for (std::size_t i = 0; i < links; ++i) {
        addEdge(node, memberOf(beacons_, static_cast<std::size_t>(community_[node])), kContext);
      }
    }
  }

  // Pairs of kinds get edges in proportion to the pairs there are, so the kind of a pair says
  // nothing about its label.
  void drawTargets() {
    const std::size_t ends = near_.size() + far_.size();
    const auto wanted =
        static_cast<std::size_t>(options_.target_degree * static_cast<double>(ends) / 2);
    // Distinct pairs run out in tiny graphs: stop after a generous number of draws.
    constexpr std::size_t kDrawsPerEdge = 20;
    const std::size_t goal = table_.size() + wanted;
    for (std::size_t draw = 0; draw < kDrawsPerEdge * wanted && table_.size() < goal; ++draw) {
      const std::size_t left = random_.below(ends);
      const auto community = static_cast<std::size_t>(community_[left]);
      const bool to_near = random_.below(ends) < near_.size();
      const std::size_t right = memberOf(to_near ? near_ : far_, community);
      const bool from_near = left < near_.end;
      if (from_near == to_near) {
        addEdge(left, right, from_near ? kNearNear : kFarFar);
      } else {
        addEdge(std::min(left, right), std::max(left, right), kNearFar);
      }
    }
  }

  // Draws `telling` words of a community (each replaced by a random community's with probability
  // `noise`) and fills up with common words.
  std::vector<std::uint32_t> drawWords(std::size_t community, std::size_t telling) {
    std::set<std::uint32_t> words;
    while (words.size() < telling) {
      const std::size_t topic =
          random_.uniform() < options_.noise ? random_.below(communities_) : community;
      words.insert(static_cast<std::uint32_t>(topic * kWordsPerCommunity +
                                              random_.below(kWordsPerCommunity)));
    }
    while (words.size() < kWordsShown) {
      words.insert(static_cast<std::uint32_t>(communities_ * kWordsPerCommunity +
                                              random_.below(kCommonWords)));
    }
    return {words.begin(), words.end()};
  }

  // The community a node's own words speak of, and how many do.
  std::pair<std::size_t, std::size_t> voice(std::size_t node) {
    const auto own = static_cast<std::size_t>(community_[node]);
    if (node < near_.end) {
      return {own, kNearWords};
    }
    if (node >= relays_.begin && node < relays_.end) {
      return {(own + 1 + random_.below(communities_ - 1)) % communities_, kRelayWords};
    }
    if (node >= beacons_.begin) {
      return {own, kBeaconWords};
    }
    return {own, 0};
  }

  FeatureMatrix drawFeatures() {
    std::vector<std::uint64_t> offsets = {0};
    std::vector<std::uint32_t> columns;
    for (std::size_t node = 0; node < nodes_; ++node) {
      const auto [community, telling] = voice(node);
      const std::vector<std::uint32_t> words = drawWords(community, telling);
      columns.insert(columns.end(), words.begin(), words.end());
      offsets.push_back(columns.size());
    }
    std::vector<float> ones(columns.size(), 1.0F);
    return FeatureMatrix::sparse(communities_ * kWordsPerCommunity + kCommonWords,
                                 std::move(offsets), std::move(columns), std::move(ones));
  }

  PlantedOptions options_;
  std::size_t nodes_;
  std::size_t communities_;
  RngStream random_;
  Range near_{};
  Range far_{};
  Range bridges_{};
  Range relays_{};
  Range beacons_{};
  std::vector<std::int32_t> community_;
  EdgeTable table_;
  std::set<std::uint64_t> known_;
};

}  // namespace

void PlantedOptions::bind(OptionSet& set) {
  set.add("planted.nodes", nodes, {200, 10'000'000}, "nodes of the generated graph");
  set.add("planted.communities", communities, {2, 12},
          "communities; target edges join nodes of the same one");
  set.add("planted.target_degree", target_degree, {0.5, 100.0},
          "mean number of target edges of a node that has any");
  set.add("planted.noise", noise, {0.0, 1.0},
          "share of telling words that are drawn from a random community instead");
  set.add("planted.seed", seed, {0, std::int64_t{1} << 62},
          "seed of the generator (the split has its own)");
}

Dataset makePlanted(const PlantedOptions& options) { return PlantedBuilder(options).build(); }

}  // namespace edgewise
