// Files that appear whole or not at all: written under a temporary name beside the target, flushed
// to disk, renamed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace edgewise {

// Collects the content of one file. Without `commit` (an exception, an early return) the target
// stays untouched and the temporary file is removed. A full disk is a ResourceError, any other
// failure a DataError.
class AtomicFile {
 public:
  // Creates the target's folder when missing; without `commit` it is removed again. Pipes and
  // devices cannot be replaced: those are written to as they are.
  explicit AtomicFile(std::filesystem::path target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  // Flushes, and names the temporary file that holds all that was written: for a check of the
  // content before `commit`.
  [[nodiscard]] const std::filesystem::path& written();
  // Flushes, syncs and renames. Call once, last.
  void commit();

 private:
  void flush();
  void makeFolder(const std::filesystem::path& folder);
  void discard() noexcept;
  [[noreturn]] void fail(int reason) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  // The topmost folder that had to be made; empty when all were there.
  std::filesystem::path made_from_;
  std::string buffer_;
  int descriptor_ = -1;
};

// Writes a whole file atomically.
void writeFileAtomically(const std::filesystem::path& target, std::string_view bytes);

}  // namespace edgewise
