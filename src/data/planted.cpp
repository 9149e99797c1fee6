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
enum NodeKind : std::uint8_t { kNear, kFar, kOther };
constexpr std::size_t kMarkedKinds = 2;

// Words a node shows: communities own a block of the vocabulary each; marks tell kinds; common
// words say nothing.
constexpr std::size_t kWordsPerCommunity = 16;
constexpr std::size_t kMarkWords = 16;
constexpr std::size_t kCommonWords = 64;
constexpr std::size_t kWordsShown = 12;

// Node kinds as shares of all nodes; badges take what is left.
constexpr double kNearShare = 0.35;
constexpr double kFarShare = 0.35;
constexpr double kTagShare = 0.07;
constexpr double kRelayShare = 0.07;
constexpr double kBeaconShare = 0.07;
constexpr double kUsherShare = 0.06;

// Links of each kind of node to the next.
constexpr std::size_t kTagsPerNode = 3;
constexpr std::size_t kRelaysPerNode = 3;
constexpr std::size_t kUshersPerNode = 3;
constexpr std::size_t kLinksBehind = 16;

// Node numbers by kind, one range after the other.
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
        {.name = "near_near", .views = {{1, 1}}, .kinds = KindPair{kNear, kNear}},
        {.name = "near_far", .views = {{1, 2}}, .kinds = KindPair{kNear, kFar}},
        {.name = "far_far", .views = {{2, 2}}, .kinds = KindPair{kFar, kFar}},
        {.name = "context", .target = false, .views = {}},
    };
    parts.node_kinds = kinds();
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
    tags_ = take(kTagShare);
    relays_ = take(kRelayShare);
    beacons_ = take(kBeaconShare);
    ushers_ = take(kUsherShare);
    badges_ = {next, nodes_};
  }

  // Communities are dealt round robin within a kind, so that all have members everywhere. Ushers
  // and badges stand for a kind instead, near or far in turn.
  void drawCommunities() {
    community_.resize(nodes_);
    for (const Range& kind : {near_, far_, tags_, relays_, beacons_}) {
      for (std::size_t node = kind.begin; node < kind.end; ++node) {
        community_[node] = static_cast<std::int32_t>((node - kind.begin) % communities_);
      }
    }
    for (std::size_t node = ushers_.begin; node < nodes_; ++node) {
      community_[node] = -1;
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> kinds() const {
    std::vector<std::uint8_t> kinds(nodes_, kOther);
    std::fill_n(kinds.begin(), near_.end, kNear);
    std::fill_n(kinds.begin() + static_cast<std::ptrdiff_t>(far_.begin), far_.size(), kFar);
    return kinds;
  }

  void addEdge(std::size_t src, std::size_t dst, PlantedClass edge_class) {
    const Edge edge = makeEdge(static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(dst));
    if (src != dst && known_.insert(edgeKey(canonical(edge))).second) {
      table_.edges.push_back(edge);
      table_.edge_class.push_back(edge_class);
    }
  }

  // A random node of this kind that belongs to group `group` of `groups` dealt in turn.
  std::size_t memberOf(const Range& kind, std::size_t group, std::size_t groups) {
    const std::size_t members = (kind.size() - group + groups - 1) / groups;
    return kind.begin + group + groups * random_.below(members);
  }

  // One true claim and one false, a hop and two hops away; which is which, the badges know.
  void drawContext() {
    for (std::size_t node = near_.begin; node < far_.end; ++node) {
      const bool near = node < near_.end;
      const auto own = static_cast<std::size_t>(community_[node]);
      const std::size_t decoy = (own + 1 + random_.below(communities_ - 1)) % communities_;
      attach(node, tags_, near ? own : decoy, communities_, kTagsPerNode);
      attach(node, relays_, near ? decoy : own, communities_, kRelaysPerNode);
      attach(node, ushers_, near ? kNear : kFar, kMarkedKinds, kUshersPerNode);
    }
    for (std::size_t node = relays_.begin; node < relays_.end; ++node) {
      attach(node, beacons_, static_cast<std::size_t>(community_[node]), communities_,
             kLinksBehind);
    }
    for (std::size_t node = ushers_.begin; node < ushers_.end; ++node) {
      attach(node, badges_, markOf(node), kMarkedKinds, kLinksBehind);
    }
  }

  void attach(std::size_t node, const Range& kind, std::size_t group, std::size_t groups,
              std::size_t links) {
    for (std::size_t i = 0; i < links; ++i) {
      addEdge(node, memberOf(kind, group, groups), kContext);
    }
  }

  // Of ushers and badges: the kind they stand for.
  [[nodiscard]] std::size_t markOf(std::size_t node) const {
    return (node - (node < ushers_.end ? ushers_ : badges_).begin) % kMarkedKinds;
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
      const std::size_t right = memberOf(to_near ? near_ : far_, community, communities_);
      const bool from_near = left < near_.end;
      if (from_near == to_near) {
        addEdge(left, right, from_near ? kNearNear : kFarFar);
      } else {
        addEdge(std::min(left, right), std::max(left, right), kNearFar);
      }
    }
  }

  // Words of a block of the vocabulary.
  std::uint32_t wordOf(std::size_t begin, std::size_t count) {
    return static_cast<std::uint32_t>(begin + random_.below(count));
  }

  // Of a community, each replaced by a random community's with probability `noise`.
  std::uint32_t communityWord(std::size_t community) {
    const std::size_t topic =
        random_.uniform() < options_.noise ? random_.below(communities_) : community;
    return wordOf(topic * kWordsPerCommunity, kWordsPerCommunity);
  }

  // Tags and beacons speak of their community, badges of a kind of node; nodes to be linked say
  // nothing of use. Relays and ushers are silent but for one word all of them have, so that who
  // stands behind them is seen two hops away and not at one.
  std::vector<std::uint32_t> drawWords(std::size_t node) {
    const auto is = [&](const Range& kind) { return node >= kind.begin && node < kind.end; };
    const std::size_t marks = communities_ * kWordsPerCommunity;
    const std::size_t common = marks + kMarkedKinds * kMarkWords;
    if (is(relays_) || is(ushers_)) {
      return {static_cast<std::uint32_t>(common)};
    }
    std::set<std::uint32_t> words;
    while (words.size() < kWordsShown) {
      if (is(tags_) || is(beacons_)) {
        words.insert(communityWord(static_cast<std::size_t>(community_[node])));
      } else if (is(badges_)) {
        words.insert(wordOf(marks + markOf(node) * kMarkWords, kMarkWords));
      } else {
        words.insert(wordOf(common + 1, kCommonWords - 1));
      }
    }
    return {words.begin(), words.end()};
  }

  FeatureMatrix drawFeatures() {
    std::vector<std::uint64_t> offsets = {0};
    std::vector<std::uint32_t> columns;
    for (std::size_t node = 0; node < nodes_; ++node) {
      const std::vector<std::uint32_t> words = drawWords(node);
      columns.insert(columns.end(), words.begin(), words.end());
      offsets.push_back(columns.size());
    }
    std::vector<float> ones(columns.size(), 1.0F);
    return FeatureMatrix::sparse(
        communities_ * kWordsPerCommunity + kMarkedKinds * kMarkWords + kCommonWords,
        std::move(offsets), std::move(columns), std::move(ones));
  }

  PlantedOptions options_;
  std::size_t nodes_;
  std::size_t communities_;
  RngStream random_;
  Range near_{};
  Range far_{};
  Range tags_{};
  Range relays_{};
  Range beacons_{};
  Range ushers_{};
  Range badges_{};
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
