// Link datasets of the Open Graph Benchmark (ogbl-ddi, ogbl-collab, ogbl-ppa) in the layout OGB
// unpacks, and the same arrays as plain CSV.
#pragma once

#include <filesystem>
#include <string>

#include "edgewise/data/dataset.h"

namespace edgewise {

struct OgbOptions {
  // Folder below split/ that holds the official split; empty: the one OGB fixed for the dataset
  // (ddi: target, collab: time, ppa: throughput).
  std::string split_type;
  // Whether to read raw/node-feat.csv.
  bool features = true;
};

// Reads from `folder` (each file plain or as .gz):
//   raw/num-node-list.csv, raw/num-edge-list.csv   one count each
//   raw/edge.csv                                   training edges, `src,dst` a line, no header
//   raw/edge_weight.csv, raw/edge_year.csv         optional, one number a training edge
//   raw/node-feat.csv                              optional, one row of numbers a node
//   split/<type>/{train,valid,test}.pt             dictionaries with `edge` [n, 2] and, where they
//                                                  exist, `edge_neg`, `weight`, `year`
// The raw rows are the positives of train, valid and test in this order; weights (`weight`) and
// times (`year`) are kept where all three have them. Throws DataError for a missing or damaged
// file, an id outside the node count, or counts that disagree; ConfigError for an unknown dataset
// without a split type.
[[nodiscard]] DatasetParts readOgb(const std::filesystem::path& folder, const std::string& name,
                                   const OgbOptions& options = {});

// Reads {train,valid,test}_pos.csv and, where they exist, {valid,test}_neg.csv, each plain or as
// .gz, with `src,dst` rows under a header, from `folder`/csv or `folder` itself. The node count
// comes from raw/num-node-list.csv beside the csv folder, else from the largest id. The result
// equals readOgb's for a dataset without features, weights and times.
[[nodiscard]] DatasetParts readOgbCsv(const std::filesystem::path& folder, const std::string& name);

}  // namespace edgewise
