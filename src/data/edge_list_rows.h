// The rows of one piece of an edge list, parsed on their own so that pieces can run in parallel.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/label_index.h"
#include "data/text_table.h"
#include "edgewise/data/edge_list.h"
#include "edgewise/graph/types.h"

namespace edgewise {

struct EdgeColumns {
  std::size_t source = 0;
  std::size_t target = 1;
  std::optional<std::size_t> weight;
  std::optional<std::size_t> time;
};

// How the ids of one side are read. Both ends of a list that is not bipartite share one side.
struct IdSide {
  bool labels = false;
  // An id that cannot be a node number ends the attempt to read numbers instead of being an error.
  bool may_turn_to_labels = false;
  // Numbers must be below it.
  std::uint64_t limit = kMaxNodes;
  // The limit is the user's node count, not ours.
  bool limit_is_given = false;
};

struct EdgeRowPlan {
  TableLayout layout;
  EdgeColumns columns;
  bool bipartite = false;
  IdSide left;
  IdSide right;
  // Times are ISO dates.
  bool dates = false;
};

// What a piece of the file holds. For labels, edges hold positions in the piece's own lists of
// labels; a list that is not bipartite uses `left_labels` for both ends.
struct EdgeChunk {
  std::vector<Edge> edges;
  std::vector<float> weight;
  std::vector<double> time;
  LabelIndex left_labels;
  LabelIndex right_labels;
  // Owns labels that are not views into the file.
  std::deque<std::string> unescaped;
  // Numbers: the largest.
  std::uint32_t left_max = 0;
  std::uint32_t right_max = 0;
  // Labels: whether all of them are written as integers.
  bool left_all_integers = true;
  bool right_all_integers = true;
};

// Set by any piece that meets an id which is no node number (see IdSide::may_turn_to_labels); the
// others then stop early, and their results are of no use.
struct LabelsFound {
  std::atomic<bool> left{false};
  std::atomic<bool> right{false};
  [[nodiscard]] bool any() const {
    return left.load(std::memory_order_relaxed) || right.load(std::memory_order_relaxed);
  }
};

// Parses `piece`, a part of plan.layout.body that ends at a line end. Throws DataError for the
// first row that does not fit.
[[nodiscard]] EdgeChunk parseEdgeRows(const TextFile& file, const EdgeRowPlan& plan,
                                      std::string_view piece, LabelsFound& labels_found);

}  // namespace edgewise
