// An independent check of a split: recomputes from the edges themselves that no role can see
// another's answers, and names every leak it finds. Every run stores one.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"

namespace edgewise {

// One kind of leak, with how often it occurs and the first few cases in the user's ids.
struct Leak {
  std::string what;
  std::size_t count = 0;
  std::vector<std::string> examples;
};

struct AuditReport {
  // Names of all checks that were made, whether or not they found anything.
  std::vector<std::string> checks;
  std::vector<Leak> leaks;
  // Curious but harmless: repeated negatives, published repeats.
  std::vector<Leak> remarks;

  [[nodiscard]] bool clean() const { return leaks.empty(); }
  // Sum of all leaks' counts.
  [[nodiscard]] std::size_t leakCount() const;
  [[nodiscard]] nlohmann::json toJson() const;
  // Throws nlohmann's exceptions for JSON that is no report.
  static AuditReport fromJson(const nlohmann::ordered_json& json);
};

// Messages that are really used at each stage; they need not be what the split intends, which is
// what an audit is for.
struct StageMessages {
  const MessageEdges& training;
  const MessageEdges& valid;
  const MessageEdges& test;
};

[[nodiscard]] AuditReport auditSplit(const Dataset& dataset, const LinkSplit& split,
                                     const StageMessages& messages);

}  // namespace edgewise
