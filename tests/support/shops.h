// Small shops: users of some groups who buy mostly what their group likes, so that who buys what
// can be learned.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/util/rng.h"

namespace edgewise::testing {

struct ShopOptions {
  std::uint32_t users = 120;
  std::uint32_t items = 90;
  std::uint32_t groups = 3;
  // Things that each user buys, and the share of them that the group does not like.
  std::uint32_t bought = 12;
  double odd = 0.1;
};

// (user, item), each counted on its own side; repeats occur.
inline std::vector<Edge> shopEdges(const ShopOptions& options, std::uint64_t seed = 1) {
  RngStream random(seed, "shop");
  std::vector<Edge> edges;
  for (std::uint32_t user = 0; user < options.users; ++user) {
    for (std::uint32_t i = 0; i < options.bought; ++i) {
      const auto any = static_cast<std::uint32_t>(random.below(options.items));
      const std::uint32_t liked = any - any % options.groups + user % options.groups;
      const bool odd = random.uniform() < options.odd || liked >= options.items;
      edges.push_back(makeEdge(user, odd ? any : liked));
    }
  }
  return edges;
}

inline Dataset makeShop(const ShopOptions& options = {}, std::uint64_t seed = 1) {
  DatasetParts parts;
  parts.name = "shop";
  parts.raw.table.edges = shopEdges(options, seed);
  parts.raw.ids = IdMap::numbers(options.users);
  parts.raw.right_ids = IdMap::numbers(options.items);
  return makeDataset(std::move(parts));
}

}  // namespace edgewise::testing
