#include "data/dataset_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "edgewise/data/zip_archive.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/hash.h"
#include "edgewise/util/interrupt.h"

namespace edgewise::detail {
namespace {

constexpr std::string_view kPacked = ".gz";

std::string addressOf(const CatalogueEntry& entry, const std::string& public_url,
                      const std::string& path, const std::string& mirror) {
  return mirror.empty() ? public_url : fmt::format("{}/{}/{}", mirror, entry.folder, path);
}

bool isMissing(const DatasetState& state, const CatalogueFile& file) {
  return std::ranges::find(state.missing_raw, file.path) != state.missing_raw.end();
}

// The archive's member for `path`: named so, or so below the archive's own top folder.
std::optional<std::string> findMember(const ZipArchive& archive, const std::string& path) {
  for (const std::string& name : archive.names()) {
    const std::size_t slash = name.find('/');
    const bool below = slash != std::string::npos && name.substr(slash + 1) == path;
    if ((below || name == path) && isSafeRelativePath(name)) {
      return name;
    }
  }
  return std::nullopt;
}

void checkBlob(const CatalogueFile& file, std::string_view bytes,
               const std::filesystem::path& archive_path) {
  if (file.git_blob.empty()) {
    return;
  }
  const std::string found = gitBlobId(bytes);
  if (found != file.git_blob) {
    throw DataError(
        FilePlace{archive_path},
        fmt::format("{} inside has git blob id {}, expected {}", file.path, found, file.git_blob),
        "the archive may be damaged or have changed; delete it and fetch it again");
  }
}

// Only files the catalogue lists are unpacked, to the paths it lists: names in the archive never
// decide where something is written.
void unpack(const CatalogueEntry& entry, const DatasetState& state,
            const std::filesystem::path& archive_path, ProgressSink& progress) {
  const FileBytes bytes = FileBytes::map(archive_path);
  const ZipArchive archive(bytes.view(), archive_path);
  ProgressTask task(progress, "unpacking " + archive_path.filename().string(), entry.files.size());
  for (const CatalogueFile& file : entry.files) {
    throwIfInterrupted();
    const bool wanted = file.needed ? isMissing(state, file) : !locate(state.folder, file.path);
    const auto member = wanted ? findMember(archive, file.path) : std::nullopt;
    if (wanted && file.needed && !member) {
      throw DataError(FilePlace{archive_path}, fmt::format("holds no {}", file.path),
                      fmt::format("this is not the published archive of {}", entry.name));
    }
    if (member) {
      const std::string content = archive.read(*member);
      checkBlob(file, content, archive_path);
      writeFileAtomically(state.folder / file.path, content);
    }
    task.advance();
  }
}

}  // namespace

std::string mirrorOf(const LoadOptions& options) {
  std::string mirror = options.mirror;
  if (mirror.empty()) {
    const char* const set = std::getenv("EDGEWISE_MIRROR");
    mirror = set == nullptr ? "" : set;
  }
  while (mirror.ends_with('/')) {
    mirror.pop_back();
  }
  return mirror;
}

std::optional<std::filesystem::path> locate(const std::filesystem::path& folder,
                                            const std::string& path) {
  const std::string_view plain =
      path.ends_with(kPacked) ? std::string_view(path).substr(0, path.size() - kPacked.size())
                              : std::string_view(path);
  return findPlainOrGz(folder / plain);
}

std::vector<std::string> fetchList(const CatalogueEntry& entry, const DatasetState& state,
                                   const std::string& mirror) {
  std::vector<std::string> lines;
  if (entry.archive) {
    const std::string& name = entry.archive->file_name;
    lines.push_back(fmt::format("{} from {}", (state.folder / name).string(),
                                addressOf(entry, entry.archive->url, name, mirror)));
    return lines;
  }
  for (const CatalogueFile& file : entry.files) {
    if (isMissing(state, file)) {
      lines.push_back(fmt::format("{} from {}", (state.folder / file.path).string(),
                                  addressOf(entry, file.url, file.path, mirror)));
    }
  }
  return lines;
}

bool unpackArchiveAtHand(const CatalogueEntry& entry, const DatasetState& state,
                         ProgressSink& progress) {
  std::error_code ignored;
  if (!entry.archive ||
      !std::filesystem::exists(state.folder / entry.archive->file_name, ignored)) {
    return false;
  }
  unpack(entry, state, state.folder / entry.archive->file_name, progress);
  return true;
}

void fetchMissing(const CatalogueEntry& entry, const DatasetState& state,
                  const LoadOptions& options, ProgressSink& progress) {
  const std::string mirror = mirrorOf(options);
  if (entry.archive) {
    DownloadRequest request;
    request.url = addressOf(entry, entry.archive->url, entry.archive->file_name, mirror);
    request.target = state.folder / entry.archive->file_name;
    request.limits = options.limits;
    downloadFile(request, progress);
    std::error_code ignored;
    try {
      unpack(entry, state, request.target, progress);
    } catch (const DataError&) {
      // A bad archive must not stand in the way of the next attempt. (After a full disk or Ctrl-C
      // it stays, and the next run goes on from there.)
      std::filesystem::remove(request.target, ignored);
      throw;
    }
    std::filesystem::remove(request.target, ignored);
    return;
  }
  for (const CatalogueFile& file : entry.files) {
    if (!isMissing(state, file)) {
      continue;
    }
    DownloadRequest request;
    request.url = addressOf(entry, file.url, file.path, mirror);
    request.target = state.folder / file.path;
    if (file.size > 0) {
      request.size = file.size;
    }
    if (!file.git_blob.empty()) {
      request.checksum = {ChecksumKind::kGitBlob, file.git_blob};
    }
    request.limits = options.limits;
    downloadFile(request, progress);
  }
}

}  // namespace edgewise::detail
