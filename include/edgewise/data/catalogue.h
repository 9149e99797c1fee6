// The benchmark datasets edgewise knows by name: where they come from, what they hold, what of them
// is on disk, and loading them, with a download where files are missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/download.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// Decides how the files are read and how results are measured.
enum class DatasetFamily : std::uint8_t { kPlanetoid, kOgb, kRecommendation };

// "planetoid", "ogb", "recommendation".
[[nodiscard]] std::string_view familyName(DatasetFamily family);

// One file of a dataset as it is published. On disk any file may also be packed (or unpacked) by
// gzip, with or without ".gz" in its name accordingly.
struct CatalogueFile {
  // Below the dataset's folder.
  std::string path;
  // Empty for a file that comes inside the dataset's archive.
  std::string url;
  // Of the published file; 0 and empty where not known.
  std::uint64_t size = 0;
  std::string git_blob;
  // Files that are merely nice to have are unpacked but not missed.
  bool needed = true;
};

// A zip archive that holds the dataset's files, below one folder of its own.
struct CatalogueArchive {
  std::string url;
  // What to save it as, in the dataset's folder.
  std::string file_name;
};

// What the dataset must contain once loaded; only those given are checked.
struct ExpectedCounts {
  std::optional<std::size_t> nodes = std::nullopt;
  std::optional<std::size_t> edges = std::nullopt;
  std::optional<std::size_t> features = std::nullopt;
  std::optional<std::size_t> nonzeros = std::nullopt;
  std::optional<std::size_t> users = std::nullopt;
  std::optional<std::size_t> items = std::nullopt;
  std::optional<std::size_t> train = std::nullopt;
  std::optional<std::size_t> valid = std::nullopt;
  std::optional<std::size_t> test = std::nullopt;
  std::optional<std::size_t> valid_negative = std::nullopt;
  std::optional<std::size_t> test_negative = std::nullopt;
};

struct CatalogueEntry {
  std::string name;
  std::vector<std::string> aliases;
  std::string title;
  // Below the data root.
  std::string folder;
  DatasetFamily family = DatasetFamily::kPlanetoid;
  std::string source;
  std::string license;
  // The files as published.
  std::vector<CatalogueFile> files;
  std::optional<CatalogueArchive> archive;
  // The same dataset as plain tables, below the folder; empty where there is no such twin. Twins
  // are made, not published: they are never downloaded.
  std::vector<std::string> csv_files;
  ExpectedCounts counts;
  // By which results are reported, the official one first: "auc", "hits@20", ...
  std::vector<std::string> metrics;
};

// All known datasets, in the order they are shown.
[[nodiscard]] const std::vector<CatalogueEntry>& catalogue();

// By name or alias, whatever the case. Throws ConfigError with the nearest name otherwise.
[[nodiscard]] const CatalogueEntry& findDataset(std::string_view name);

// Where datasets live: `given`, else $EDGEWISE_DATA, else $XDG_CACHE_HOME/edgewise, else
// ~/.cache/edgewise. The folder need not exist. Throws ConfigError when none of these is set.
[[nodiscard]] std::filesystem::path dataRoot(
    const std::optional<std::filesystem::path>& given = std::nullopt);

enum class Presence : std::uint8_t { kAbsent, kPartly, kPresent };

// What of a dataset is on disk. Content is not looked at.
struct DatasetState {
  std::filesystem::path folder;
  Presence raw = Presence::kAbsent;
  Presence csv = Presence::kAbsent;
  // Needed files that are not there, below the folder.
  std::vector<std::string> missing_raw;
  std::vector<std::string> missing_csv;
  // Of the known files that are there.
  std::uint64_t bytes = 0;

  [[nodiscard]] bool usable() const {
    return raw == Presence::kPresent || csv == Presence::kPresent;
  }
};

[[nodiscard]] DatasetState inspect(const CatalogueEntry& entry,
                                   const std::filesystem::path& data_root);

// Which files to read. `kAuto`: the published ones when complete, else the CSV twin.
enum class SourceForm : std::uint8_t { kAuto, kRaw, kCsv };

struct LoadOptions {
  SourceForm prefer = SourceForm::kAuto;
  bool verify_counts = true;
  // Fetch what is missing; otherwise its absence is an error.
  bool download = true;
  // The address of a copy laid out like a data root (<mirror>/cora/raw/ind.cora.x), used instead of
  // the public addresses. Empty: $EDGEWISE_MIRROR, if set.
  std::string mirror;
  DownloadLimits limits;
};

// Loads a dataset from `data_root`/`entry.folder`, downloading what is missing there when that is
// allowed. An archive that was put in the folder by hand is unpacked. Downloaded and unpacked files
// are checked against their known sizes and ids, the loaded dataset against the expected counts.
// Throws DataError naming every missing file, its place and address; or listing expected and found
// counts; or whatever the readers and the download throw.
[[nodiscard]] Dataset loadDataset(const CatalogueEntry& entry,
                                  const std::filesystem::path& data_root,
                                  const LoadOptions& options = {},
                                  ProgressSink& progress = silentProgress());

// One line for each count that differs ("edges: expected 5,278, found 5,277"); none when all agree.
[[nodiscard]] std::vector<std::string> countDifferences(const ExpectedCounts& expected,
                                                        const Dataset& dataset);

}  // namespace edgewise
