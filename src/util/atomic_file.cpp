#include "edgewise/util/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

constexpr std::size_t kBufferSize = 1 << 20;

bool isStream(const std::filesystem::path& target) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(target, failure);
  return !failure && std::filesystem::is_other(status);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  const std::filesystem::path folder = target_.parent_path();
  if (!folder.empty()) {
    makeFolder(folder);
  }
  temporary_ = folder / fmt::format(".{}.{}.tmp", target_.filename().string(),
                                    static_cast<long>(::getpid()));
  if (isStream(target_)) {
    temporary_.clear();
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      fail(errno);
    }
    return;
  }
  constexpr mode_t kMode = 0666;
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (descriptor_ < 0) {
    fail(errno);
  }
}

void AtomicFile::makeFolder(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (std::filesystem::path missing = folder;
       !missing.empty() && !std::filesystem::exists(missing, ignored);
       missing = missing.parent_path()) {
    made_from_ = missing;
  }
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure && !std::filesystem::is_directory(folder, ignored)) {
    throw DataError(FilePlace{folder},
                    fmt::format("cannot make this folder ({})", failure.message()),
                    "choose another output folder");
  }
}

// Removes the temporary file and those folders made for it that are still empty.
void AtomicFile::discard() noexcept {
  if (temporary_.empty()) {
    return;
  }
  ::unlink(temporary_.c_str());
  std::filesystem::path folder = target_.parent_path();
  std::error_code failure;
  while (!made_from_.empty() && !failure && std::filesystem::remove(folder, failure) &&
         folder != made_from_) {
    folder = folder.parent_path();
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    discard();
  }
}

void AtomicFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kBufferSize) {
    flush();
  }
}

void AtomicFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      fail(errno);
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  buffer_.clear();
}

const std::filesystem::path& AtomicFile::written() {
  flush();
  return temporary_.empty() ? target_ : temporary_;
}

void AtomicFile::commit() {
  flush();
  if (temporary_.empty()) {
    if (::close(std::exchange(descriptor_, -1)) != 0) {
      fail(errno);
    }
    return;
  }
  if (::fsync(descriptor_) != 0) {
    fail(errno);
  }
  const int closed = ::close(std::exchange(descriptor_, -1));
  const int close_reason = errno;
  if (closed != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int reason = closed != 0 ? close_reason : errno;
    ::unlink(temporary_.c_str());
    fail(reason);
  }
}

void AtomicFile::fail(int reason) const {
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) {
    throw ResourceError(
        fmt::format("{}: cannot write ({})", target_.string(), std::strerror(reason)),
        "free some disk space or choose another output folder; nothing was left half-written");
  }
  throw DataError(FilePlace{target_}, fmt::format("cannot write ({})", std::strerror(reason)),
                  "check that the folder exists and is writable");
}

void writeFileAtomically(const std::filesystem::path& target, std::string_view bytes) {
  AtomicFile file(target);
  file.write(bytes);
  file.commit();
}

}  // namespace edgewise
