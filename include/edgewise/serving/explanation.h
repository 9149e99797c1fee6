// Why a pair scores as it does: which views of it were looked at, what lies within their reach, and
// what was known of the pair itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/serving/served_run.h"

namespace edgewise {

// A view of the pair, and its share in the score.
struct ViewShare {
  HopPair view;
  // What speaks for the view: the selector's score, the view's own score where each has a
  // predictor, or the learned score of a mixture; none where views are not scored.
  std::optional<double> score;
  // All views' weights add up to 1.
  double weight = 0;
};

// One end of the pair among the messages.
struct ExplainedEnd {
  std::string id;
  std::size_t degree = 0;
  // How far the score looks from here, and how many nodes lie within, itself included; none where
  // it looks everywhere.
  std::optional<int> hops;
  std::size_t nodes = 0;
};

// A node between the ends.
struct CommonNeighbour {
  std::string id;
  std::size_t degree = 0;
  // Its part of the score, where the score is a sum over common neighbours.
  std::optional<double> adds;
};

// A neighbour of an end, and what the score would be without it.
struct NeighbourChange {
  NodeId node{};
  std::string id;
  // Whose neighbour it is; one or both.
  bool of_source = false;
  bool of_target = false;
  std::size_t degree = 0;
  // Without the messages between it and the ends, and that less the score with them: below zero it
  // spoke for the link.
  double score = 0;
  double change = 0;
};

// The neighbours that mattered most.
struct NeighbourChanges {
  // How many neighbours the ends have together, the ends themselves aside, and how many of them
  // were left out to see what that changes.
  std::size_t count = 0;
  std::size_t tried = 0;
  // Those that change the score, the largest change first, then by order of the nodes.
  std::vector<NeighbourChange> most;

  [[nodiscard]] nlohmann::ordered_json toJson() const;
};

// What is looked at of the graph around a pair, without the pair's own edge.
struct ExplainedSubgraph {
  struct Node {
    std::string id;
    // As the labelling has it: one number, or two where each distance is one.
    std::vector<std::uint32_t> label;
    // From each end inside the subgraph; none where there is no path.
    std::optional<int> from_source;
    std::optional<int> from_target;
    // How the score changes without it, of a neighbour that mattered; told by the picture alone.
    std::optional<double> change = std::nullopt;
  };
  // "drnl", "de" or "zo".
  std::string labelling;
  // The source, the target, then the others as SubgraphBatch orders them.
  std::vector<Node> nodes;
  // Places among the nodes, the smaller first, ascending.
  std::vector<std::pair<std::size_t, std::size_t>> edges;

  [[nodiscard]] nlohmann::ordered_json toJson() const;
  // A small picture: the source at the left, the target at the right, the others between them by
  // their distances, those that mattered by name and change. Of larger ones these and the nodes
  // nearest to the ends.
  [[nodiscard]] std::string toSvg() const;
};

struct Explanation {
  std::string dataset;
  std::string model;
  // Empty for a formula.
  std::string selector;
  double score = 0;
  // What of it the selector added for the ends' degrees; none where it adds nothing.
  std::optional<double> by_degrees;
  // Of a link, where the score is a logit.
  std::optional<double> probability;
  // The view that decides alone; none where several do, or no views are looked at.
  std::optional<HopPair> view;
  // The views that can count, hops around the source slowest; empty for a formula.
  std::vector<ViewShare> views;
  ExplainedEnd source;
  ExplainedEnd target;
  // Within reach of one end or the other.
  std::size_t nodes = 0;
  // Them, with the edges among them; none where the score looks everywhere.
  std::optional<ExplainedSubgraph> subgraph;
  // Of a formula: largest part first, then by order of the nodes.
  std::vector<CommonNeighbour> common;
  // None where they were not asked for.
  std::optional<NeighbourChanges> neighbours;
  // Parts of the split that have this edge: train, valid, test, revealed_at_valid,
  // revealed_at_test. Empty when it is not known.
  std::vector<std::string> parts;
  // Which edges carried messages, how many, and whether the pair itself was taken out of them so
  // that it does not explain itself.
  std::string carried;
  std::size_t message_edges = 0;
  bool left_out = false;

  [[nodiscard]] nlohmann::ordered_json toJson() const;
};

struct ExplainOptions {
  // How many of the neighbours that mattered most to tell; 0: none, and nothing is left out.
  std::size_t neighbours = 10;
};

// Scores the pair as the run scores test pairs, over the same messages but for the pair's own edge.
//
// For the neighbours that mattered, the score is made anew without the messages between one
// neighbour and the ends, as if the graph had been without them: degrees, views and subgraphs
// follow. That is done for 100 neighbours at most, fewer on graphs of millions of messages, unless
// more are asked for: those of both ends first, then those with the fewest edges, whose messages
// weigh most.
//
// Throws DataError when the run's model is missing, damaged, or another's, and InterruptedError.
[[nodiscard]] Explanation explainPair(const ServedRun& run, Edge pair,
                                      const ExplainOptions& options = {},
                                      ProgressSink& progress = silentProgress());

}  // namespace edgewise
