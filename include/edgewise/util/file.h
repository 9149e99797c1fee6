// Whole-file reading: plain files are memory-mapped, gzip files are unpacked into memory. Errors
// name the file, the reason and what to do.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace edgewise {

// The bytes of a file, read-only, alive as long as this object. Movable, not copyable.
class FileBytes {
 public:
  // Maps the file. Throws DataError when it is missing, a folder, or unreadable. An empty file
  // gives an empty view.
  static FileBytes map(const std::filesystem::path& path);
  // Takes bytes that are in memory already.
  static FileBytes own(std::string bytes);

  FileBytes(FileBytes&&) noexcept;
  FileBytes& operator=(FileBytes&&) noexcept;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  [[nodiscard]] std::string_view view() const;

 private:
  struct Mapping;
  FileBytes();
  std::unique_ptr<Mapping> mapping_;
  std::string owned_;
};

// Reads `path`, unpacking it when its first bytes say gzip (whatever its name). A truncated or
// damaged gzip stream is a DataError.
[[nodiscard]] FileBytes readFile(const std::filesystem::path& path);

// Whether there is such a file or folder; what cannot be looked at is not.
[[nodiscard]] bool isThere(const std::filesystem::path& path);

// `path` if it exists, else `path` + ".gz" if that exists, else nothing.
[[nodiscard]] std::optional<std::filesystem::path> findPlainOrGz(const std::filesystem::path& path);

// True when the bytes start with gzip's magic number.
[[nodiscard]] bool looksLikeGzip(std::string_view bytes);

// Unpacks all members of a gzip stream. `path` names the source in errors.
[[nodiscard]] std::string gunzip(std::string_view bytes, const std::filesystem::path& path);

// Unpacks a raw DEFLATE stream (as in zip archives) that must yield exactly `size` bytes.
[[nodiscard]] std::string inflateRaw(std::string_view bytes, std::size_t size,
                                     const std::filesystem::path& path);

}  // namespace edgewise
