#include "edgewise/util/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "edgewise/util/atomic_file.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::TempFolder;

std::string slurp(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// gzip of "hello edgewise\n", made with the gzip program.
constexpr std::string_view kHelloGz(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x57\x48\x4d\x49\x4f\x2d\xcf\x2c"
    "\x4e\xe5\x02\x00\x4e\xea\x33\x90\x0f\x00\x00\x00",
    35);

TEST(ReadFile, MapsPlainFilesAndUnpacksGzip) {
  const TempFolder folder;
  EXPECT_EQ(readFile(folder.write("a.txt", "some bytes")).view(), "some bytes");
  EXPECT_EQ(readFile(folder.write("empty", "")).view(), "");
  EXPECT_EQ(readFile(folder.write("a.gz", kHelloGz)).view(), "hello edgewise\n");
  EXPECT_EQ(readFile(folder.write("named-otherwise.txt", kHelloGz)).view(), "hello edgewise\n");
}

TEST(ReadFile, ReadsSeveralGzipMembers) {
  const TempFolder folder;
  const std::string twice = std::string(kHelloGz) + std::string(kHelloGz);
  EXPECT_EQ(readFile(folder.write("two.gz", twice)).view(), "hello edgewise\nhello edgewise\n");
}

TEST(ReadFile, RefusesTruncatedAndDamagedGzip) {
  const TempFolder folder;
  for (std::size_t size = 2; size < kHelloGz.size(); ++size) {
    const auto path = folder.write("cut.gz", kHelloGz.substr(0, size));
    expectFailure<DataError>([&] { (void)readFile(path); }, "cut.gz: the compressed data");
  }
  std::string damaged(kHelloGz);
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x55);
  expectFailure<DataError>([&] { (void)readFile(folder.write("bad.gz", damaged)); }, "damaged");
}

TEST(ReadFile, SaysWhatIsWrongWithThePath) {
  const TempFolder folder;
  expectFailure<DataError>([&] { (void)readFile(folder.path() / "none.csv"); },
                           "none.csv: no such file");
  expectFailure<DataError>([&] { (void)readFile(folder.path()); }, "is a folder");
}

// Root may read everything: step down to somebody who may not for a while.
class WithoutPrivileges {
 public:
  explicit WithoutPrivileges(const std::filesystem::path& folder) : was_root_(::geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    std::filesystem::permissions(folder, std::filesystem::perms::none);
    if (was_root_ && ::seteuid(kNobody) != 0) {
      throw std::runtime_error("cannot drop privileges");
    }
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;
  WithoutPrivileges(WithoutPrivileges&&) = delete;
  WithoutPrivileges& operator=(WithoutPrivileges&&) = delete;
  ~WithoutPrivileges() {
    if (was_root_) {
      (void)!::seteuid(0);
    }
  }

 private:
  bool was_root_;
};

TEST(ReadFile, SaysWhenAFolderIsUnreadable) {
  const TempFolder folder;
  const auto path = folder.write("closed/edges.csv", "0,1\n");
  {
    const WithoutPrivileges nobody(folder.path() / "closed");
    expectFailure<DataError>([&] { (void)readFile(path); }, "edges.csv: permission denied");
    expectFailure<DataError>([&] { writeFileAtomically(path, "x"); }, "ermission denied");
  }
  std::filesystem::permissions(folder.path() / "closed", std::filesystem::perms::owner_all);
}

TEST(FindPlainOrGz, PrefersThePlainFile) {
  const TempFolder folder;
  const auto packed = folder.write("x.txt.gz", kHelloGz);
  EXPECT_EQ(findPlainOrGz(folder.path() / "x.txt"), packed);
  const auto plain = folder.write("x.txt", "x");
  EXPECT_EQ(findPlainOrGz(folder.path() / "x.txt"), plain);
  EXPECT_FALSE(findPlainOrGz(folder.path() / "y.txt"));
}

TEST(InflateRaw, RefusesSizesThatCannotBe) {
  expectFailure<DataError>([] { (void)inflateRaw("abc", 1ULL << 40, "x.npz"); }, "impossible");
  expectFailure<DataError>([] { (void)inflateRaw("", 10, "x.npz"); }, "x.npz");
}

TEST(AtomicFile, WritesWholeFilesAndMakesFolders) {
  const TempFolder folder;
  const auto target = folder.path() / "deep" / "er" / "out.json";
  writeFileAtomically(target, "first");
  writeFileAtomically(target, "second");
  EXPECT_EQ(slurp(target), "second");
}

TEST(AtomicFile, LeavesTheOldFileWhenAbandoned) {
  const TempFolder folder;
  const auto target = folder.write("out.json", "old");
  {
    AtomicFile file(target);
    file.write("half of the ne");
  }
  EXPECT_EQ(slurp(target), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, RemovesTheFoldersItMadeWhenAbandoned) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "old");
  {
    const AtomicFile file(folder.path() / "old" / "new" / "deep" / "out.json");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "old"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "old"));
}

// The size limit of a process stands in for a full disk: write() fails in the same way.
TEST(AtomicFile, LeavesNothingHalfWrittenWhenTheDiskIsFull) {
  const TempFolder folder;
  const auto target = folder.write("out.bin", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expectFailure<ResourceError>([&] { writeFileAtomically(target, std::string(1 << 20, 'x')); },
                               "out.bin: cannot write");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(slurp(target), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, WritesToDevicesAsTheyAre) {
  writeFileAtomically("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  testing::expectFailure<ResourceError>([] { writeFileAtomically("/dev/full", "much"); },
                                        "/dev/full: cannot write");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(AtomicFile, SaysWhenTheFolderCannotBeMade) {
  const TempFolder folder;
  const auto file = folder.write("file", "x");
  expectFailure<DataError>([&] { writeFileAtomically(file / "below.json", "x"); },
                           "cannot make this folder");
}

}  // namespace
}  // namespace edgewise
