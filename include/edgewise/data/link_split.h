// A dataset cut into roles. Each role is a type of its own, and training sees only `TrainingEdges`:
// a function that is not handed the test edges cannot leak them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/edge_table.h"
#include "edgewise/graph/csr_graph.h"
#include "edgewise/util/options.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// Edges that an encoder or a heuristic may look at.
struct MessageEdges {
  EdgeTable table;
};

// Edges whose existence a model learns to predict.
struct SupervisionEdges {
  EdgeTable table;
};

// Non-edges drawn once per split; their hash is stored with every result.
struct FrozenNegatives {
  // A shared pool (per_positive == 0), or `per_positive` candidates for each positive, in the
  // positives' order.
  std::vector<Edge> edges;
  std::size_t per_positive = 0;
  // official, uniform, degree or hard.
  std::string kind;
};

// Edges held out for one purpose; the tag keeps validation and test from being mistaken for one
// another.
template <class Purpose>
struct HeldOutEdges {
  EdgeTable positive;
  FrozenNegatives negative;
};
using ValidEdges = HeldOutEdges<struct ValidPurpose>;
using TestEdges = HeldOutEdges<struct TestPurpose>;

// All that training and model selection may see.
struct TrainingEdges {
  MessageEdges message;
  SupervisionEdges supervision;
  ValidEdges valid;
  // Inductive splits: edges of validation nodes that carry messages while validating, and never
  // before.
  MessageEdges revealed_at_valid;
};

struct LinkSplit {
  TrainingEdges training;
  TestEdges test;
  // Inductive splits: edges of test nodes that carry messages at test time only.
  MessageEdges revealed_at_test;
  // random, official, time, nodes or per_user, as resolved.
  std::string kind;
  std::uint64_t seed = 0;
  // Remarks for the user, each one line.
  std::vector<std::string> notes;
  // SHA-256 over all roles and negatives.
  std::string hash;
};

struct SplitOptions {
  std::string kind = "auto";
  double valid = -1;
  double test = -1;
  double reveal = 0.5;
  std::string carve = "random";
  std::int64_t seed = -1;
  std::string message_at_train = "train";
  std::string message_at_test = "train";
  void bind(OptionSet& set);
};

struct NegativeSettings {
  std::string kind = "auto";
  std::int64_t per_positive = -1;
  double power = 0.75;
  void bind(OptionSet& set);
};

// Cuts the dataset and freezes evaluation negatives. The same dataset, options and seed give the
// same split on any machine. Throws ConfigError when the kind does not fit the data (no times, no
// official split, not bipartite) and DataError when a role would come out empty.
[[nodiscard]] LinkSplit splitLinks(const Dataset& dataset, const SplitOptions& split,
                                   const NegativeSettings& negatives, std::uint64_t seed,
                                   ProgressSink& progress = silentProgress());

// What training may see when `message_at_train` ("train" or "train+valid") carries messages. With
// "train+valid" the validation edges carry them while they are learned from and validated: a leak,
// there to show what it is worth.
[[nodiscard]] TrainingEdges trainingEdges(const LinkSplit& split,
                                          std::string_view message_at_train);
// What may carry messages when validation edges are scored.
[[nodiscard]] MessageEdges messagesAtValid(const TrainingEdges& training);
// The same when test edges are scored; `message_at_test` is "train" or "train+valid". Revealed
// edges of validation nodes stay known.
[[nodiscard]] MessageEdges messagesAtTest(const LinkSplit& split, std::string_view message_at_test);

// The graph of these messages over all nodes of the dataset, with their weights.
[[nodiscard]] CsrGraph messageGraph(const Dataset& dataset, const MessageEdges& messages);

[[nodiscard]] std::string splitHash(const LinkSplit& split);

}  // namespace edgewise
