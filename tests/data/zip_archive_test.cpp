#include "edgewise/data/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "edgewise/util/error.h"
#include "support/byte_writers.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using testing::expectFailure;
using testing::littleBytes;
using testing::zipBytes;

void expectRefused(const std::string& bytes, std::string_view message) {
  expectFailure<DataError>(
      [&] {
        const ZipArchive archive(bytes, "test.zip");
        for (const std::string& name : archive.names()) {
          (void)archive.read(name);
        }
      },
      message);
}

TEST(Crc32, HasItsPublishedCheckValue) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
  EXPECT_EQ(crc32(""), 0U);
}

TEST(ZipArchive, ReadsStoredAndPackedMembers) {
  const std::string large(70000, 'x');
  const std::string bytes = zipBytes({{.name = "a.txt", .content = "stored"},
                                      {.name = "b/c", .content = large, .deflate = true},
                                      {.name = "empty", .content = ""},
                                      {.name = "nothing", .content = "", .deflate = true},
                                      {.name = "wide", .content = "64 bits", .zip64 = true}});
  const ZipArchive archive(bytes, "test.zip");
  EXPECT_THAT(archive.names(), ElementsAre("a.txt", "b/c", "empty", "nothing", "wide"));
  EXPECT_TRUE(archive.contains("b/c"));
  EXPECT_FALSE(archive.contains("b"));
  EXPECT_EQ(archive.read("a.txt"), "stored");
  EXPECT_EQ(archive.read("b/c"), large);
  EXPECT_EQ(archive.read("empty"), "");
  EXPECT_EQ(archive.read("nothing"), "");
  EXPECT_EQ(archive.read("wide"), "64 bits");
  EXPECT_EQ(archive.stored("a.txt"), "stored");
  EXPECT_FALSE(archive.stored("b/c"));
  expectFailure<DataError>([&] { (void)archive.read("z"); }, "the archive has no member 'z'");
}

TEST(ZipArchive, ReadsAnArchiveWithACommentAndAnEmptyOne) {
  std::string bytes = zipBytes({{.name = "a", .content = "x"}});
  bytes.replace(bytes.size() - 2, 2, littleBytes(std::uint16_t{5}));
  bytes += "hello";
  EXPECT_EQ(ZipArchive(bytes, "test.zip").read("a"), "x");
  const std::string empty = zipBytes({});
  EXPECT_TRUE(ZipArchive(empty, "test.zip").names().empty());
}

TEST(ZipArchive, ReadsAZip64Directory) {
  std::string bytes = zipBytes({{.name = "a", .content = "x", .zip64 = true}});
  const std::string end = bytes.substr(bytes.size() - 22);
  bytes.resize(bytes.size() - 22);
  const auto directory_size = static_cast<std::uint64_t>(46 + 1 + 28);
  const auto record_offset = static_cast<std::uint64_t>(bytes.size());
  bytes += "PK\x06\x06" + littleBytes(std::uint64_t{44}) + std::string(12, '\0') +
           littleBytes(std::uint64_t{1}) + littleBytes(std::uint64_t{1}) +
           littleBytes(directory_size) + littleBytes(record_offset - directory_size);
  bytes += "PK\x06\x07" + std::string(4, '\0') + littleBytes(record_offset) +
           littleBytes(std::uint32_t{1});
  bytes += end.substr(0, 8) + littleBytes(std::uint16_t{0xFFFF}) +
           littleBytes(std::uint16_t{0xFFFF}) + littleBytes(0xFFFFFFFFU) +
           littleBytes(0xFFFFFFFFU) + std::string(2, '\0');
  EXPECT_EQ(ZipArchive(bytes, "test.zip").read("a"), "x");
  std::string astray = bytes;
  astray.replace(astray.size() - 22 - 12, 8, littleBytes(std::uint64_t{1} << 60));
  expectRefused(astray, "its zip64 end record lies outside the file");
}

TEST(ZipArchive, RefusesDamage) {
  expectRefused("", "it has no end record");
  expectRefused(std::string(100, 'P'), "it has no end record");
  expectRefused(zipBytes({{.name = "a", .content = "x", .crc_error = 1}}), "member 'a' is damaged");
  expectRefused(zipBytes({{.name = "a", .content = "xyz", .deflate = true, .crc_error = 1}}),
                "its CRC-32 is");
  expectRefused(zipBytes({{.name = "a", .content = "x"}, {.name = "a", .content = "y"}}),
                "it holds 'a' twice");
  expectRefused(zipBytes({{.name = "a", .content = "x", .flags = 1}}), "is encrypted");
  expectRefused(zipBytes({{.name = "a", .content = "x", .method_override = 12}}),
                "is packed by method 12");
  std::string header = zipBytes({{.name = "a", .content = "x"}});
  header[30] = 'b';
  expectRefused(header, "the header of member 'a' is damaged");
}

TEST(ZipArchive, RefusesClaimsTheBytesCannotMeet) {
  expectRefused(zipBytes({{.name = "a", .content = "x", .size_error = 1}}),
                "has 1 bytes but claims 2");
  expectRefused(
      zipBytes({{.name = "a", .content = "x", .deflate = true, .size_error = 4'000'000'000U}}),
      "which is impossible");
  expectRefused(zipBytes({{.name = "a", .content = "xy", .deflate = true, .size_error = 3}}),
                "holds fewer than its 5 bytes");
  const std::string good = zipBytes({{.name = "a", .content = "x"}, {.name = "b", .content = "y"}});
  const std::size_t end = good.size() - 22;
  std::string outside = good;
  outside.replace(end + 16, 4, littleBytes(0x7FFFFFFFU));
  expectRefused(outside, "its directory lies outside the file");
  std::string count = good;
  count.replace(end + 10, 2, littleBytes(std::uint16_t{7}));
  expectRefused(count, "has 2 entries, not the 7 it claims");
  std::string size = good;
  size.replace(64 + 20, 8, littleBytes(0x70000000U) + littleBytes(0x70000000U));
  expectRefused(size, "member 'a' lies outside the file");
}

TEST(ZipArchive, RefusesMembersThatShareBytes) {
  std::string bytes = zipBytes({{.name = "a", .content = "x"}, {.name = "b", .content = "y"}});
  // The second directory entry (47 bytes before the end record) points at the first member.
  bytes.replace(bytes.size() - 22 - 47 + 42, 4, littleBytes(0U));
  expectRefused(bytes, "two members overlap at byte 0");
}

TEST(IsSafeRelativePath, RejectsWhatCouldLeaveTheFolder) {
  EXPECT_TRUE(isSafeRelativePath("ddi/raw/edge.csv.gz"));
  EXPECT_TRUE(isSafeRelativePath("ddi/"));
  EXPECT_TRUE(isSafeRelativePath("a..b/...c"));
  for (const std::string_view name :
       {"", "/etc/passwd", "..", "../a", "a/../../b", "a/..", "C:/x", "a\\..\\b", "a\nb"}) {
    EXPECT_FALSE(isSafeRelativePath(name)) << name;
  }
  EXPECT_FALSE(isSafeRelativePath(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace edgewise
