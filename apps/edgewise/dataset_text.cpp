#include "dataset_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "edgewise/data/dataset_facts.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

constexpr std::size_t kShortHash = 12;

std::string mendedText(const LoadNotes& notes) {
  std::vector<std::string> parts;
  const auto put = [&](std::size_t count, const char* one, const char* what) {
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", countText(count, one), what));
    }
  };
  put(notes.self_loops, "self-loop", "dropped");
  put(notes.duplicates, "repeated row", "merged");
  put(notes.mirrored, "edge", "listed both ways merged");
  return joinText(parts, ", ");
}

}  // namespace

std::string describeDataset(const Dataset& dataset) {
  std::string text = dataset.name + ": ";
  text += dataset.bipartite
              ? fmt::format("{}, {}, {}", countText(dataset.bipartite->users, "user"),
                            countText(dataset.bipartite->items, "item"),
                            countText(dataset.edges.size(), "interaction"))
              : fmt::format("{}, {}", countText(dataset.node_count, "node"),
                            countText(dataset.edges.size(),
                                      dataset.direction == Direction::kDirected ? "directed edge"
                                                                                : "edge"));
  if (!dataset.features.empty()) {
    text += fmt::format(", {} ({})", countText(dataset.features.columns(), "feature"),
                        countText(dataset.features.nonzeroCount(), "nonzero"));
  }
  if (dataset.official) {
    text += fmt::format(
        ", official split {} / {} / {}", groupedCount(dataset.official->train.size()),
        groupedCount(dataset.official->valid.size()), groupedCount(dataset.official->test.size()));
  }
  text += fmt::format(", data {}", dataset.hash.substr(0, kShortHash));
  if (const std::string mended = mendedText(dataset.notes); !mended.empty()) {
    text += "\n  " + mended;
  }
  for (const std::string& remark : dataset.notes.remarks) {
    text += "\n  " + remark;
  }
  return text;
}

nlohmann::ordered_json datasetJson(const Dataset& dataset) { return factsOf(dataset).toJson(); }

}  // namespace edgewise::app
