#include "edgewise/evaluation/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

namespace edgewise {
namespace {

constexpr std::size_t kExamples = 3;

// Sorted keys of a list of edges: small, exact, and independent of the hash sets that built the
// split.
class KeyList {
 public:
  KeyList(std::span<const Edge> edges, Direction direction) {
    keys_.reserve(edges.size());
    for (const Edge& edge : edges) {
      keys_.push_back(keyOf(edge, direction));
    }
    std::ranges::sort(keys_);
  }

  static std::uint64_t keyOf(Edge edge, Direction direction) {
    return edgeKey(direction == Direction::kUndirected ? canonical(edge) : edge);
  }
  [[nodiscard]] bool contains(std::uint64_t key) const {
    return std::ranges::binary_search(keys_, key);
  }
  // Keys that occur more than once.
  [[nodiscard]] std::vector<std::uint64_t> repeated() const {
    std::vector<std::uint64_t> twice;
    for (std::size_t i = 1; i < keys_.size(); ++i) {
      if (keys_[i] == keys_[i - 1]) {
        twice.push_back(keys_[i]);
      }
    }
    return twice;
  }
  // Keys that are also in `other`, each once.
  [[nodiscard]] std::vector<std::uint64_t> shared(const KeyList& other) const {
    std::vector<std::uint64_t> both;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if ((i == 0 || keys_[i] != keys_[i - 1]) && other.contains(keys_[i])) {
        both.push_back(keys_[i]);
      }
    }
    return both;
  }
  [[nodiscard]] std::vector<std::uint64_t> loops() const {
    std::vector<std::uint64_t> found;
    for (const std::uint64_t key : keys_) {
      const Edge edge = edgeFromKey(key);
      if (edge.src == edge.dst) {
        found.push_back(key);
      }
    }
    return found;
  }

 private:
  std::vector<std::uint64_t> keys_;
};

class Auditor {
 public:
  Auditor(const Dataset& dataset, const LinkSplit& split, const StageMessages& messages)
      : dataset_(dataset),
        split_(split),
        messages_(messages),
        valid_(keys(split.training.valid.positive.edges)),
        test_(keys(split.test.positive.edges)) {}

  AuditReport run() {
    checkPositives();
    checkNegatives("validation", split_.training.valid.negative, split_.training.valid.positive);
    checkNegatives("test", split_.test.negative, split_.test.positive);
    if (split_.test.negative.per_positive == 0) {
      remark("negatives in both validation and test",
             keys(split_.training.valid.negative.edges).shared(keys(split_.test.negative.edges)));
    }
    if (split_.kind == "time") {
      checkTimes();
    }
    if (split_.kind == "nodes") {
      checkHeldOutNodes();
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] KeyList keys(std::span<const Edge> edges) const {
    return {edges, dataset_.direction};
  }

  void record(std::vector<Leak>& list, std::string what, std::span<const std::uint64_t> found) {
    report_.checks.push_back(what);
    if (found.empty()) {
      return;
    }
    Leak leak{.what = std::move(what), .count = found.size(), .examples = {}};
    for (const std::uint64_t key : found.first(std::min(kExamples, found.size()))) {
      const Edge edge = edgeFromKey(key);
      leak.examples.push_back(
          fmt::format("{},{}", dataset_.nodeLabel(edge.src), dataset_.nodeLabel(edge.dst)));
    }
    list.push_back(std::move(leak));
  }
  void leak(std::string what, std::span<const std::uint64_t> found) {
    record(report_.leaks, std::move(what), found);
  }
  void remark(std::string what, std::span<const std::uint64_t> found) {
    record(report_.remarks, std::move(what), found);
  }

  void checkPositives() {
    const KeyList training_messages = keys(messages_.training.table.edges);
    const KeyList valid_messages = keys(messages_.valid.table.edges);
    const KeyList test_messages = keys(messages_.test.table.edges);
    const KeyList supervision = keys(split_.training.supervision.table.edges);
    leak("validation edges among the training messages", valid_.shared(training_messages));
    leak("test edges among the training messages", test_.shared(training_messages));
    leak("validation edges among the messages used to validate", valid_.shared(valid_messages));
    leak("test edges among the messages used to validate", test_.shared(valid_messages));
    leak("test edges among the messages used to test", test_.shared(test_messages));
    leak("validation edges among the supervision edges", valid_.shared(supervision));
    leak("test edges among the supervision edges", test_.shared(supervision));
    leak("edges in both validation and test", valid_.shared(test_));
    remark("repeated validation edges", valid_.repeated());
    remark("repeated test edges", test_.repeated());
  }

  void checkNegatives(std::string_view role, const FrozenNegatives& negative,
                      const EdgeTable& positive) {
    const KeyList drawn = keys(negative.edges);
    leak(fmt::format("{} negatives that are known edges", role),
         drawn.shared(keys(dataset_.edges.edges)));
    leak(fmt::format("{} negatives that are positives of the same split", role),
         drawn.shared(keys(positive.edges)));
    leak(fmt::format("{} negatives from a node to itself", role), drawn.loops());
    if (negative.per_positive == 0) {
      remark(fmt::format("repeated {} negatives", role), drawn.repeated());
    }
  }

  // Past predicts future: nothing that carries messages may be younger than what it predicts.
  void checkTimes() {
    leak("training edges later than the first validation edge",
         laterThan(messages_.training.table, split_.training.valid.positive));
    leak("validation edges later than the first test edge",
         laterThan(split_.training.valid.positive, split_.test.positive));
  }
  [[nodiscard]] std::vector<std::uint64_t> laterThan(const EdgeTable& past,
                                                     const EdgeTable& future) const {
    std::vector<std::uint64_t> found;
    if (future.time.size() != future.size() || past.time.size() != past.size() || future.empty()) {
      return found;
    }
    const double first = *std::ranges::min_element(future.time);
    for (std::size_t row = 0; row < past.size(); ++row) {
      if (past.time[row] >= first) {
        found.push_back(KeyList::keyOf(past.edges[row], dataset_.direction));
      }
    }
    return found;
  }

  // Every edge held out by nodes must touch a node that training has never seen.
  void checkHeldOutNodes() {
    std::vector<std::uint8_t> seen(dataset_.node_count, 0);
    for (const Edge& edge : messages_.training.table.edges) {
      seen[index(edge.src)] = 1;
      seen[index(edge.dst)] = 1;
    }
    const auto both_seen = [&](const EdgeTable& table) {
      std::vector<std::uint64_t> found;
      for (const Edge& edge : table.edges) {
        if (seen[index(edge.src)] != 0 && seen[index(edge.dst)] != 0) {
          found.push_back(KeyList::keyOf(edge, dataset_.direction));
        }
      }
      return found;
    };
    const KeyList later = keys(split_.revealed_at_test.table.edges);
    leak("test nodes' edges among the messages used to validate",
         later.shared(keys(messages_.valid.table.edges)));
    leak("held-out nodes' edges among the training messages",
         keys(split_.training.revealed_at_valid.table.edges)
             .shared(keys(messages_.training.table.edges)));
    leak("validation edges between two training nodes", both_seen(split_.training.valid.positive));
    leak("test edges between two training nodes", both_seen(split_.test.positive));
  }

  const Dataset& dataset_;
  const LinkSplit& split_;
  const StageMessages& messages_;
  KeyList valid_;
  KeyList test_;
  AuditReport report_;
};

nlohmann::json listJson(const std::vector<Leak>& list) {
  nlohmann::json result = nlohmann::json::array();
  for (const Leak& leak : list) {
    result.push_back({{"what", leak.what}, {"count", leak.count}, {"examples", leak.examples}});
  }
  return result;
}

std::vector<Leak> listFrom(const nlohmann::ordered_json& json) {
  std::vector<Leak> list;
  for (const auto& leak : json) {
    list.push_back({.what = leak.at("what"),
                    .count = leak.at("count"),
                    .examples = leak.at("examples").get<std::vector<std::string>>()});
  }
  return list;
}

}  // namespace

std::size_t AuditReport::leakCount() const {
  std::size_t total = 0;
  for (const Leak& leak : leaks) {
    total += leak.count;
  }
  return total;
}

nlohmann::json AuditReport::toJson() const {
  return {{"leaks", leakCount()},
          {"found", listJson(leaks)},
          {"remarks", listJson(remarks)},
          {"checks", checks}};
}

AuditReport AuditReport::fromJson(const nlohmann::ordered_json& json) {
  return {.checks = json.at("checks").get<std::vector<std::string>>(),
          .leaks = listFrom(json.at("found")),
          .remarks = listFrom(json.at("remarks"))};
}

AuditReport auditSplit(const Dataset& dataset, const LinkSplit& split,
                       const StageMessages& messages) {
  return Auditor(dataset, split, messages).run();
}

}  // namespace edgewise
