#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "data/dataset_fetch.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/data/edge_list.h"
#include "edgewise/data/feature_text.h"
#include "edgewise/data/lightgcn.h"
#include "edgewise/data/npy.h"
#include "edgewise/data/ogb.h"
#include "edgewise/data/planetoid.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// The value of a variable that is set to something.
std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

Presence presenceOf(std::size_t missing, std::size_t known) {
  if (known == 0 || missing == known) {
    return Presence::kAbsent;
  }
  return missing == 0 ? Presence::kPresent : Presence::kPartly;
}

std::uint64_t sizeOf(const std::filesystem::path& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  return failure ? 0 : size;
}

DatasetParts readRaw(const CatalogueEntry& entry, const std::filesystem::path& folder) {
  switch (entry.family) {
    case DatasetFamily::kPlanetoid:
      return readPlanetoid(folder, entry.name);
    case DatasetFamily::kOgb:
      return readOgb(folder, entry.name);
    case DatasetFamily::kRecommendation:
      break;
  }
  return readLightGcn(folder, entry.name);
}

DatasetParts readPlanetoidTwin(const CatalogueEntry& entry, const std::filesystem::path& folder) {
  const auto file = [&](const std::string& name) {
    return detail::locate(folder, name).value_or(folder / name);
  };
  DatasetParts parts;
  parts.name = entry.name;
  parts.features = readFeaturesNpz(file("features.npz"));
  EdgeListOptions options;
  options.ids = IdRule::kNumber;
  options.node_count = parts.features.rows();
  parts.raw = readEdgeList(file("edges.csv"), options);
  parts.labels = readLabelsCsv(file("labels.csv"), parts.features.rows());
  return parts;
}

DatasetParts readTwin(const CatalogueEntry& entry, const std::filesystem::path& folder) {
  return entry.family == DatasetFamily::kOgb ? readOgbCsv(folder, entry.name)
                                             : readPlanetoidTwin(entry, folder);
}

// What the missing raw files are, in words: "train.txt is missing in FOLDER".
std::string missingText(const CatalogueEntry& entry, const DatasetState& state) {
  const std::vector<std::string>& missing = state.missing_raw;
  return fmt::format("{}: {} {} missing in {}", entry.name, fmt::join(missing, ", "),
                     missing.size() == 1 ? "is" : "are", state.folder.string());
}

[[noreturn]] void throwMissing(const CatalogueEntry& entry, const DatasetState& state,
                               const LoadOptions& options, const std::string& reason) {
  const auto places = detail::fetchList(entry, state, detail::mirrorOf(options));
  throw DataError(
      missingText(entry, state) + reason,
      fmt::format("put in place{}:\n  {}", entry.archive ? " (it is unpacked on the next run)" : "",
                  fmt::join(places, "\n  ")));
}

// Makes the raw files complete, or throws saying which are needed and from where.
void completeRaw(const CatalogueEntry& entry, DatasetState& state,
                 const std::filesystem::path& data_root, const LoadOptions& options,
                 ProgressSink& progress) {
  if (!detail::unpackArchiveAtHand(entry, state, progress)) {
    if (!options.download) {
      throwMissing(entry, state, options, " (downloads are switched off)");
    }
    try {
      detail::fetchMissing(entry, state, options, progress);
    } catch (const DataError& failure) {
      state = inspect(entry, data_root);
      throwMissing(entry, state, options,
                   fmt::format(" and could not be downloaded: {}", failure.what()));
    }
  }
  state = inspect(entry, data_root);
  if (state.raw != Presence::kPresent) {
    throwMissing(entry, state, options, "");
  }
}

bool useTwin(const DatasetState& state, SourceForm prefer) {
  if (prefer == SourceForm::kAuto) {
    return state.raw != Presence::kPresent && state.csv == Presence::kPresent;
  }
  return prefer == SourceForm::kCsv;
}

void checkTwin(const CatalogueEntry& entry, const DatasetState& state) {
  if (entry.csv_files.empty()) {
    throw ConfigError(fmt::format("{} has no CSV form", entry.name), "load its published files");
  }
  if (state.csv != Presence::kPresent) {
    throw DataError(fmt::format("{}: {} missing in {}", entry.name,
                                fmt::join(state.missing_csv, ", "), state.folder.string()),
                    "load the published files instead; they can be downloaded");
  }
}

}  // namespace

std::filesystem::path dataRoot(const std::optional<std::filesystem::path>& given) {
  if (given && !given->empty()) {
    return *given;
  }
  if (const auto root = environment("EDGEWISE_DATA")) {
    return *root;
  }
  if (const auto cache = environment("XDG_CACHE_HOME")) {
    return std::filesystem::path(*cache) / "edgewise";
  }
  if (const auto home = environment("HOME")) {
    return std::filesystem::path(*home) / ".cache" / "edgewise";
  }
  throw ConfigError("no folder for data: none given, and neither EDGEWISE_DATA nor HOME is set",
                    "name one with --data or EDGEWISE_DATA");
}

DatasetState inspect(const CatalogueEntry& entry, const std::filesystem::path& data_root) {
  DatasetState state;
  state.folder = data_root / entry.folder;
  std::size_t needed = 0;
  for (const CatalogueFile& file : entry.files) {
    const auto found = detail::locate(state.folder, file.path);
    needed += file.needed ? 1 : 0;
    if (found) {
      state.bytes += sizeOf(*found);
    } else if (file.needed) {
      state.missing_raw.push_back(file.path);
    }
  }
  for (const std::string& path : entry.csv_files) {
    const auto found = detail::locate(state.folder, path);
    if (found) {
      state.bytes += sizeOf(*found);
    } else {
      state.missing_csv.push_back(path);
    }
  }
  state.raw = presenceOf(state.missing_raw.size(), needed);
  state.csv = presenceOf(state.missing_csv.size(), entry.csv_files.size());
  return state;
}

std::vector<std::string> countDifferences(const ExpectedCounts& expected, const Dataset& dataset) {
  const OfficialSplit none;
  const OfficialSplit& split = dataset.official ? *dataset.official : none;
  const BipartiteShape sides = dataset.bipartite.value_or(BipartiteShape{});
  struct Count {
    std::string_view what;
    const std::optional<std::size_t>& expected;
    std::size_t found;
  };
  const std::array<Count, 11> counts = {{
      {"nodes", expected.nodes, dataset.node_count},
      {"edges", expected.edges, dataset.edges.size()},
      {"features", expected.features, dataset.features.columns()},
      {"nonzero feature values", expected.nonzeros, dataset.features.nonzeroCount()},
      {"users", expected.users, sides.users},
      {"items", expected.items, sides.items},
      {"train edges", expected.train, split.train.size()},
      {"valid edges", expected.valid, split.valid.size()},
      {"test edges", expected.test, split.test.size()},
      {"valid negatives", expected.valid_negative, split.valid_negative.size()},
      {"test negatives", expected.test_negative, split.test_negative.size()},
  }};
  std::vector<std::string> lines;
  for (const Count& count : counts) {
    if (count.expected && *count.expected != count.found) {
      lines.push_back(fmt::format("{}: expected {}, found {}", count.what,
                                  groupedCount(*count.expected), groupedCount(count.found)));
    }
  }
  return lines;
}

Dataset loadDataset(const CatalogueEntry& entry, const std::filesystem::path& data_root,
                    const LoadOptions& options, ProgressSink& progress) {
  DatasetState state = inspect(entry, data_root);
  const bool twin = useTwin(state, options.prefer);
  if (twin) {
    checkTwin(entry, state);
  } else if (state.raw != Presence::kPresent) {
    completeRaw(entry, state, data_root, options, progress);
  }
  Dataset dataset =
      makeDataset(twin ? readTwin(entry, state.folder) : readRaw(entry, state.folder));
  if (options.verify_counts) {
    const std::vector<std::string> differences = countDifferences(entry.counts, dataset);
    if (!differences.empty()) {
      throw DataError(
          FilePlace{state.folder},
          fmt::format("this is not {} as published: {}", entry.name, fmt::join(differences, "; ")),
          "move the folder away and load again to fetch the published files");
    }
  }
  return dataset;
}

}  // namespace edgewise
