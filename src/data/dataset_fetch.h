// Getting the published files of a known dataset into its folder: from the web, or out of an
// archive.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "edgewise/data/catalogue.h"

namespace edgewise::detail {

// The file below `folder`, plain or gzip'd, whichever way the catalogue lists it.
[[nodiscard]] std::optional<std::filesystem::path> locate(const std::filesystem::path& folder,
                                                          const std::string& path);

// The addresses to fetch when these needed files are missing, with where each goes, one line each
// ("PLACE from ADDRESS").
[[nodiscard]] std::vector<std::string> fetchList(const CatalogueEntry& entry,
                                                 const DatasetState& state,
                                                 const std::string& mirror);

// Unpacks the dataset's archive if it lies in the folder. Returns whether it did.
bool unpackArchiveAtHand(const CatalogueEntry& entry, const DatasetState& state,
                         ProgressSink& progress);

// Downloads (and unpacks) what is missing. Throws what downloadFile throws, and DataError for an
// archive that lacks a file or holds a damaged one.
void fetchMissing(const CatalogueEntry& entry, const DatasetState& state,
                  const LoadOptions& options, ProgressSink& progress);

// `options.mirror`, else $EDGEWISE_MIRROR, else empty; without a slash at the end.
[[nodiscard]] std::string mirrorOf(const LoadOptions& options);

}  // namespace edgewise::detail
