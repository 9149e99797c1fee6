#include "edgewise/data/open_dataset.h"

#include <fmt/format.h>

#include "edgewise/data/catalogue.h"
#include "edgewise/data/edge_list.h"
#include "edgewise/data/features.h"
#include "edgewise/data/sized_graph.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

EdgeListOptions edgeListOptions(const DataOptions& data) {
  EdgeListOptions options;
  options.delimiter = parseDelimiter(data.delimiter);
  options.header = parseHeaderRule(data.header);
  options.source_column = data.source_column;
  options.target_column = data.target_column;
  options.weight_column = data.weight_column;
  options.time_column = data.time_column;
  options.ids = parseIdRule(data.ids);
  options.bipartite = data.bipartite;
  if (data.nodes > 0) {
    options.node_count = static_cast<std::size_t>(data.nodes);
  }
  return options;
}

Dataset openFiles(const DataOptions& data, ProgressSink& progress) {
  if (data.bipartite && data.directed) {
    throw ConfigError("a bipartite list cannot be directed too", "drop one of the two");
  }
  const std::filesystem::path path = data.edges;
  DatasetParts parts;
  // "friends.csv.gz" is called "friends".
  parts.name = path.filename().string();
  parts.name = parts.name.substr(0, parts.name.find('.', 1));
  parts.raw = readEdgeList(path, edgeListOptions(data), progress);
  parts.direction = data.directed ? Direction::kDirected : Direction::kUndirected;
  if (!data.features.empty()) {
    if (data.bipartite) {
      throw ConfigError("features of a bipartite list are not supported",
                        "leave --features out: users and items are told apart by their edges");
    }
    parts.features =
        readFeatures(data.features, {.ids = &parts.raw.ids, .id_column = data.feature_id_column});
  }
  return makeDataset(std::move(parts));
}

SourceForm parseSourceForm(const std::string& name) {
  if (name == "raw") {
    return SourceForm::kRaw;
  }
  return name == "csv" ? SourceForm::kCsv : SourceForm::kAuto;
}

// Settings that describe files mean nothing for a known dataset; ignoring them would mislead.
void refuseFileSettings(const DataOptions& data) {
  const DataOptions untouched;
  const auto refuse = [&](bool changed, std::string_view key) {
    if (changed) {
      throw ConfigError(
          fmt::format("{} describes your own files, but {} is a known dataset", key, data.dataset),
          "drop it, or give --edges FILE instead of --dataset");
    }
  };
  refuse(data.features != untouched.features, "data.features");
  refuse(data.feature_id_column != untouched.feature_id_column, "data.feature_id_column");
  refuse(data.bipartite != untouched.bipartite, "data.bipartite");
  refuse(data.directed != untouched.directed, "data.directed");
  refuse(data.delimiter != untouched.delimiter, "data.delimiter");
  refuse(data.header != untouched.header, "data.header");
  refuse(data.source_column != untouched.source_column, "data.source_column");
  refuse(data.target_column != untouched.target_column, "data.target_column");
  refuse(data.weight_column != untouched.weight_column, "data.weight_column");
  refuse(data.time_column != untouched.time_column, "data.time_column");
  refuse(data.ids != untouched.ids, "data.ids");
  refuse(data.nodes != untouched.nodes, "data.nodes");
}

}  // namespace

void DataOptions::bind(OptionSet& set) {
  set.add("data.dataset", dataset,
          "a known dataset (`edgewise datasets`), planted, or sized-NAME: a generated graph as "
          "large as cora, pubmed, ddi, collab, ppa or gowalla, to try speed and memory on");
  set.add("data.edges", edges, "your own edge list: CSV, TSV or spaces, plain or gzip");
  set.add("data.features", features, "node features: CSV, npy, npz (dense or CSR) or svmlight");
  set.add(
      "data.feature_id_column", feature_id_column,
      "column of a features CSV that holds the node's id; empty: one that is called id or node, or "
      "the first where ids are names; else rows are in node order");
  set.add("data.bipartite", bipartite,
          "the two columns are different kinds of node (users, items)");
  set.add("data.directed", directed, "an edge a,b does not imply b,a");
  set.add("data.delimiter", delimiter, {"auto", "comma", "tab", "semicolon", "space"},
          "what stands between columns");
  set.add("data.header", header, {"auto", "yes", "no"}, "whether the first row names the columns");
  set.add("data.source_column", source_column, "name or number (from 1) of the source column");
  set.add("data.target_column", target_column, "name or number (from 1) of the target column");
  set.add("data.weight_column", weight_column, "name or number of the weight column; none: ignore");
  set.add("data.time_column", time_column, "name or number of the time column; none: ignore");
  set.add("data.ids", ids, {"auto", "number", "label"},
          "whether ids are node numbers from 0, or any text");
  set.add("data.nodes", nodes, {0, static_cast<std::int64_t>(kMaxNodes)},
          "how many nodes there are when ids are numbers; 0: the largest id decides");
  set.add("data.source", source, {"auto", "raw", "csv"},
          "which files of a known dataset to read: as published, or its plain CSV twin");
  set.add("data.verify", verify, "check a known dataset's counts");
  set.add("data.download", download, "fetch a known dataset that is not on disk");
}

Dataset openDataset(const DataOptions& data, const PlantedOptions& planted,
                    const std::filesystem::path& data_root, ProgressSink& progress) {
  if (data.dataset.empty() == data.edges.empty()) {
    throw ConfigError(
        data.dataset.empty() ? "no data given" : "both a dataset and an edge list given",
        "give --dataset NAME (see `edgewise datasets`) or --edges FILE");
  }
  if (!data.edges.empty()) {
    return openFiles(data, progress);
  }
  refuseFileSettings(data);
  if (data.dataset == "planted") {
    return makePlanted(planted);
  }
  if (data.dataset.starts_with(kSizedPrefix)) {
    SizedGraphOptions sizes = findSizes(std::string_view(data.dataset).substr(kSizedPrefix.size()));
    sizes.name = data.dataset;
    return makeSizedGraph(sizes);
  }
  const CatalogueEntry& entry = findDataset(data.dataset);
  LoadOptions options;
  options.prefer = parseSourceForm(data.source);
  options.verify_counts = data.verify;
  options.download = data.download;
  Dataset dataset = loadDataset(entry, data_root, options, progress);
  dataset.metrics = entry.metrics;
  return dataset;
}

}  // namespace edgewise
