// Fetches one file from the web so that it appears whole, checked, or not at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "edgewise/util/progress.h"

namespace edgewise {

enum class ChecksumKind : std::uint8_t { kSha256, kGitBlob };

// The identity a file must have, in hex (either case). A git blob id is what `git hash-object`
// prints.
struct Checksum {
  ChecksumKind kind = ChecksumKind::kSha256;
  std::string hex;
};

// When to give up. The defaults suit large files on ordinary lines.
struct DownloadLimits {
  std::chrono::milliseconds connect_timeout{20'000};
  // A transfer below this speed for this long is given up.
  std::uint64_t slow_bytes_per_second = 1024;
  std::chrono::seconds slow_for{30};
  int max_redirects = 5;
  // Further attempts after a connection that failed or was cut, or a server that says it is busy.
  int retries = 2;
  std::chrono::milliseconds retry_pause{1'000};
};

struct DownloadRequest {
  // http or https only; a redirect never leads from https to http.
  std::string url;
  std::filesystem::path target;
  // Anything longer is cut off as soon as it is seen.
  std::optional<std::uint64_t> size;
  std::optional<Checksum> checksum;
  DownloadLimits limits;
};

// Whether this build can download at all.
[[nodiscard]] bool canDownload() noexcept;

// Downloads to a temporary name beside `target` (making its folder when missing), checks size and
// checksum, then renames. After any failure the target is as it was and the temporary file is gone.
//
// Throws DataError when the server cannot be reached, answers with an error status, redirects too
// often, is too slow or cuts the transfer, when size or checksum differ, and when this build has no
// libcurl; ResourceError for a full disk; InterruptedError on Ctrl-C. Every message names the
// address, every hint the file to put in place by hand.
void downloadFile(const DownloadRequest& request, ProgressSink& progress);

}  // namespace edgewise
