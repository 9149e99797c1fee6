#include "edgewise/data/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "data/byte_reader.h"
#include "data/printable.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054B50;
constexpr std::uint32_t kEnd64Signature = 0x06064B50;
constexpr std::uint32_t kLocator64Signature = 0x07064B50;
constexpr std::uint32_t kMemberSignature = 0x02014B50;
constexpr std::uint32_t kLocalSignature = 0x04034B50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kLocator64Size = 20;
constexpr std::size_t kLocalSize = 30;
constexpr std::uint32_t kElsewhere = 0xFFFFFFFF;
constexpr std::uint16_t kElsewhere16 = 0xFFFF;
constexpr std::uint16_t kEncryptedFlag = 1;
constexpr std::uint16_t kStoreMethod = 0;
constexpr std::uint16_t kDeflateMethod = 8;
constexpr std::uint16_t kZip64Extra = 1;

constexpr std::array<std::uint32_t, 256> makeCrcTable() {
  constexpr std::uint32_t kPolynomial = 0xEDB88320;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    }
    table[byte] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kCrcTable = makeCrcTable();

[[noreturn]] void throwBad(const std::filesystem::path& path, const std::string& what) {
  throw DataError(FilePlace{path}, "not a usable zip archive: " + what,
                  "copy or download the file again");
}

// Replaces the fields that the 32-bit record marked as standing elsewhere, in the order the format
// fixes.
void applyZip64(std::string_view extra, std::array<std::uint64_t*, 3> fields,
                const std::filesystem::path& path) {
  const auto is_open = [](const std::uint64_t* field) { return *field == kElsewhere; };
  if (std::ranges::none_of(fields, is_open)) {
    return;
  }
  ByteReader blocks(extra, path);
  while (blocks.left() >= 4) {
    const auto kind = blocks.little<std::uint16_t>();
    const std::string_view block = blocks.take(blocks.little<std::uint16_t>());
    if (kind != kZip64Extra) {
      continue;
    }
    ByteReader values(block, path);
    for (std::uint64_t* field : fields) {
      if (is_open(field)) {
        *field = values.little<std::uint64_t>();
      }
    }
    return;
  }
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t value = 0xFFFFFFFF;
  for (const char byte : bytes) {
    value = kCrcTable[(value ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (value >> 8);
  }
  return ~value;
}

bool isSafeRelativePath(std::string_view name) {
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == ':' || c == '\x7f';
  };
  if (name.empty() || name.front() == '/' || std::ranges::any_of(name, is_bad)) {
    return false;
  }
  return std::ranges::none_of(splitText(name, '/'),
                              [](std::string_view part) { return part == ".."; });
}

// Where the list of members stands.
struct ZipArchive::Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

ZipArchive::ZipArchive(std::string_view bytes, std::filesystem::path path)
    : bytes_(bytes), path_(std::move(path)) {
  const Directory directory = findDirectory();
  data_end_ = directory.offset;
  readDirectory(directory);
  checkOverlaps();
}

ZipArchive::Directory ZipArchive::findDirectory() const {
  // The end record may be followed by a comment of at most 65,535 bytes that must fill the file.
  constexpr std::size_t kMaxComment = 0xFFFF;
  std::optional<std::size_t> found;
  for (std::size_t comment = 0;
       !found && comment <= kMaxComment && comment + kEndSize <= bytes_.size(); ++comment) {
    const char* at = bytes_.data() + bytes_.size() - kEndSize - comment;
    if (loadLittle<std::uint32_t>(at) == kEndSignature &&
        loadLittle<std::uint16_t>(at + 20) == comment) {
      found = bytes_.size() - kEndSize - comment;
    }
  }
  if (!found) {
    throwBad(path_, "it has no end record");
  }
  const char* end = bytes_.data() + *found;
  Directory directory{loadLittle<std::uint32_t>(end + 16), loadLittle<std::uint32_t>(end + 12),
                      loadLittle<std::uint16_t>(end + 10)};
  std::uint64_t limit = *found;
  const bool needs_64 = directory.offset == kElsewhere || directory.size == kElsewhere ||
                        directory.entries == kElsewhere16;
  if (needs_64 && *found >= kLocator64Size &&
      loadLittle<std::uint32_t>(end - kLocator64Size) == kLocator64Signature) {
    limit = loadLittle<std::uint64_t>(end - kLocator64Size + 8);
    if (limit > *found - kLocator64Size) {
      throwBad(path_, "its zip64 end record lies outside the file");
    }
    ByteReader record(bytes_.substr(limit, *found - limit), path_);
    if (record.little<std::uint32_t>() != kEnd64Signature) {
      throwBad(path_, "its zip64 end record is missing");
    }
    record.take(28);
    directory.entries = record.little<std::uint64_t>();
    directory.size = record.little<std::uint64_t>();
    directory.offset = record.little<std::uint64_t>();
  }
  if (directory.offset > limit || directory.size > limit - directory.offset) {
    throwBad(path_, "its directory lies outside the file");
  }
  return directory;
}

void ZipArchive::readDirectory(const Directory& directory) {
  ByteReader reader(bytes_.substr(directory.offset, directory.size), path_);
  while (reader.left() > 0) {
    ByteReader fixed(reader.take(46), path_);
    if (fixed.little<std::uint32_t>() != kMemberSignature) {
      throwBad(path_, fmt::format("directory entry {} is damaged", names_.size()));
    }
    fixed.take(4);
    Member member;
    member.flags = fixed.little<std::uint16_t>();
    member.method = fixed.little<std::uint16_t>();
    fixed.take(4);
    member.crc = fixed.little<std::uint32_t>();
    member.packed_size = fixed.little<std::uint32_t>();
    member.size = fixed.little<std::uint32_t>();
    const auto name_size = fixed.little<std::uint16_t>();
    const auto extra_size = fixed.little<std::uint16_t>();
    const auto comment_size = fixed.little<std::uint16_t>();
    fixed.take(8);
    member.header_offset = fixed.little<std::uint32_t>();
    std::string name(reader.take(name_size));
    applyZip64(reader.take(extra_size), {&member.size, &member.packed_size, &member.header_offset},
               path_);
    reader.take(comment_size);
    if (!members_.emplace(name, member).second) {
      throwBad(path_, fmt::format("it holds {} twice", printable(name)));
    }
    names_.push_back(std::move(name));
  }
  if (names_.size() != directory.entries) {
    throwBad(path_, fmt::format("its directory has {} entries, not the {} it claims", names_.size(),
                                directory.entries));
  }
}

void ZipArchive::checkOverlaps() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  for (const auto& [name, member] : members_) {
    std::uint64_t end = member.header_offset;
    if (__builtin_add_overflow(end, member.packed_size, &end) ||
        __builtin_add_overflow(end, kLocalSize + name.size(), &end) || end > data_end_) {
      throwBad(path_, fmt::format("member {} lies outside the file", printable(name)));
    }
    spans.emplace_back(member.header_offset, end);
  }
  std::ranges::sort(spans);
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) {
      throwBad(path_, fmt::format("two members overlap at byte {}", spans[i].first));
    }
  }
}

bool ZipArchive::contains(std::string_view name) const { return members_.contains(name); }

const ZipArchive::Member& ZipArchive::find(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) {
    throw DataError(FilePlace{path_}, fmt::format("the archive has no member {}", printable(name)));
  }
  const Member& member = found->second;
  if ((member.flags & kEncryptedFlag) != 0) {
    throw DataError(FilePlace{path_}, fmt::format("member {} is encrypted", printable(name)),
                    "store it without a password");
  }
  if (member.method != kStoreMethod && member.method != kDeflateMethod) {
    throw DataError(FilePlace{path_},
                    fmt::format("member {} is packed by method {}; only store (0) and deflate (8) "
                                "are read",
                                printable(name), member.method));
  }
  return member;
}

std::string_view ZipArchive::packedBytes(std::string_view name, const Member& member) const {
  ByteReader reader(bytes_.substr(0, data_end_), path_);
  reader.take(member.header_offset);
  ByteReader fixed(reader.take(kLocalSize), path_);
  const auto signature = fixed.little<std::uint32_t>();
  fixed.take(22);
  const auto name_size = fixed.little<std::uint16_t>();
  const auto extra_size = fixed.little<std::uint16_t>();
  if (signature != kLocalSignature || reader.take(name_size) != name) {
    throwBad(path_, fmt::format("the header of member {} is damaged", printable(name)));
  }
  reader.take(extra_size);
  return reader.take(member.packed_size);
}

void ZipArchive::checkCrc(std::string_view name, const Member& member,
                          std::string_view bytes) const {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  // A fuzzer cannot guess checksums; without them it gets to what lies behind.
  return;
#endif
  if (crc32(bytes) != member.crc) {
    throw DataError(FilePlace{path_},
                    fmt::format("member {} is damaged (its CRC-32 is {:08x}, not {:08x})",
                                printable(name), crc32(bytes), member.crc),
                    "copy or download the file again");
  }
}

std::optional<std::string_view> ZipArchive::stored(std::string_view name) const {
  const Member& member = find(name);
  if (member.method != kStoreMethod) {
    return std::nullopt;
  }
  if (member.size != member.packed_size) {
    throwBad(path_, fmt::format("stored member {} has {} bytes but claims {}", printable(name),
                                member.packed_size, member.size));
  }
  const std::string_view bytes = packedBytes(name, member);
  checkCrc(name, member, bytes);
  return bytes;
}

std::string ZipArchive::read(std::string_view name) const {
  if (const std::optional<std::string_view> plain = stored(name)) {
    return std::string(*plain);
  }
  const Member& member = find(name);
  std::string bytes = inflateRaw(packedBytes(name, member), member.size, path_);
  checkCrc(name, member, bytes);
  return bytes;
}

}  // namespace edgewise
