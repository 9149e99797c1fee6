// Read-only zip archives (npz files, torch files, downloaded datasets) over bytes in memory. Sizes
// and offsets in the archive are claims: each is checked against the bytes that are there, and
// members that share bytes are refused, so unpacking everything stays within what DEFLATE can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgewise {

// CRC-32 as zip and gzip use it.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes);

// True when an archive member of this name may be unpacked below a folder: relative, no "..", no
// drive letter, no backslash, no control character, not empty. A trailing "/" (a folder) is fine.
[[nodiscard]] bool isSafeRelativePath(std::string_view name);

class ZipArchive {
 public:
  // Reads the list of members. `bytes` must outlive the archive; `path` names it in errors. Throws
  // DataError for anything that is not one whole, unsplit zip archive.
  ZipArchive(std::string_view bytes, std::filesystem::path path);

  // In the order of the archive's directory.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool contains(std::string_view name) const;

  // The unpacked member, its CRC-32 checked. Throws DataError when there is no such member, or it
  // is encrypted, damaged, or packed by a method other than store and deflate.
  [[nodiscard]] std::string read(std::string_view name) const;
  // The same without a copy for a member that is merely stored; nothing for a packed one.
  [[nodiscard]] std::optional<std::string_view> stored(std::string_view name) const;

 private:
  struct Member {
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t header_offset = 0;
  };
  struct Directory;

  [[nodiscard]] Directory findDirectory() const;
  void readDirectory(const Directory& directory);
  void checkOverlaps() const;
  [[nodiscard]] const Member& find(std::string_view name) const;
  [[nodiscard]] std::string_view packedBytes(std::string_view name, const Member& member) const;
  void checkCrc(std::string_view name, const Member& member, std::string_view bytes) const;

  std::string_view bytes_;
  std::filesystem::path path_;
  std::vector<std::string> names_;
  std::map<std::string, Member, std::less<>> members_;
  // Members end where the directory starts.
  std::uint64_t data_end_ = 0;
};

}  // namespace edgewise
