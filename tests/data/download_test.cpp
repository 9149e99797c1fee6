#include "edgewise/data/download.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "edgewise/util/file.h"
#include "edgewise/util/hash.h"
#include "edgewise/util/interrupt.h"
#include "support/http_server.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::cutPage;
using ::testing::ElementsAre;
using testing::failure;
using ::testing::HasSubstr;
using testing::HttpServer;
using ::testing::IsEmpty;
using testing::page;
using testing::redirect;
using ::testing::SizeIs;
using testing::stallingPage;
using testing::TempFolder;
using testing::unsizedPage;

// Remembers what was reported.
class Recorder final : public ProgressSink {
 public:
  void begin(std::string_view label, std::uint64_t total) override {
    labels.emplace_back(label);
    totals.push_back(total);
  }
  void update(std::uint64_t done) override { steps.push_back(done); }
  void end() override { ++ends; }

  std::vector<std::string> labels;
  std::vector<std::uint64_t> totals;
  std::vector<std::uint64_t> steps;
  int ends = 0;
};

// Asks for a stop as soon as some bytes have come.
class Stopper final : public ProgressSink {
 public:
  void begin(std::string_view, std::uint64_t) override {}
  void update(std::uint64_t) override { requestInterrupt(); }
  void end() override {}
};

class DownloadFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!canDownload()) {
      GTEST_SKIP() << "left out: this build has no libcurl";
    }
  }

  [[nodiscard]] DownloadRequest request(const std::string& path) const {
    DownloadRequest request;
    request.url = server_.url(path);
    request.target = folder_.path() / "file.txt";
    request.limits.retry_pause = std::chrono::milliseconds{1};
    return request;
  }
  [[nodiscard]] std::vector<std::string> folderContent() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  // The download must fail with this message, a hint for doing it by hand, and no trace.
  template <class Failure = DataError>
  void expectTracelessFailure(const DownloadRequest& request, std::string_view fragment) const {
    try {
      downloadFile(request, silentProgress());
      ADD_FAILURE() << "nothing was thrown; expected: " << fragment;
    } catch (const Failure& caught) {
      EXPECT_THAT(caught.what(), HasSubstr(std::string(fragment)));
      if constexpr (std::is_same_v<Failure, DataError>) {
        EXPECT_THAT(caught.what(), HasSubstr(request.url));
        EXPECT_THAT(caught.hint(), HasSubstr(request.target.string()));
      }
    }
    EXPECT_THAT(folderContent(), IsEmpty());
  }

  TempFolder folder_;
  HttpServer server_;
};

TEST_F(DownloadFile, FetchesAFileAndChecksIt) {
  server_.answer("/a", page("hello\n"));
  DownloadRequest wanted = request("/a");
  wanted.size = 6;
  // printf 'hello\n' | git hash-object --stdin
  wanted.checksum = {ChecksumKind::kGitBlob, "ce013625030ba8dba906f756967f9e9ca394464a"};
  downloadFile(wanted, silentProgress());
  EXPECT_EQ(readFile(wanted.target).view(), "hello\n");
  // printf 'hello\n' | sha256sum
  wanted.checksum = {ChecksumKind::kSha256,
                     "5891B5B522D5DF086D0FF0B110FBD9D21BB4FC7163AF34D08286A2E846F6BE03"};
  downloadFile(wanted, silentProgress());
  EXPECT_THAT(folderContent(), ElementsAre("file.txt"));
}

TEST_F(DownloadFile, MakesTheFolderAndTakesUnknownLengthAndEmptyFiles) {
  server_.answer("/a", unsizedPage("abc"));
  server_.answer("/empty", page(""));
  DownloadRequest wanted = request("/a");
  wanted.target = folder_.path() / "one" / "two" / "a";
  downloadFile(wanted, silentProgress());
  EXPECT_EQ(readFile(wanted.target).view(), "abc");
  downloadFile(request("/empty"), silentProgress());
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / "file.txt"), 0U);
}

TEST_F(DownloadFile, FollowsARedirect) {
  server_.answer("/old", redirect("/new"));
  server_.answer("/new", page("content"));
  downloadFile(request("/old"), silentProgress());
  EXPECT_EQ(readFile(folder_.path() / "file.txt").view(), "content");
  EXPECT_THAT(server_.requests(), ElementsAre("/old", "/new"));
}

TEST_F(DownloadFile, GivesUpOnARedirectThatNeverEnds) {
  server_.answer("/loop", redirect("/loop"));
  DownloadRequest wanted = request("/loop");
  wanted.limits.max_redirects = 3;
  expectTracelessFailure(wanted, "more than 3 redirects");
  EXPECT_THAT(server_.requests(), SizeIs(4));
}

TEST_F(DownloadFile, FollowsNoRedirectToALocalFile) {
  const auto secret = folder_.path().parent_path() / "secret";
  server_.answer("/a", redirect("file://" + secret.string()));
  expectTracelessFailure(request("/a"), "http and https only");
}

TEST_F(DownloadFile, RefusesOtherKindsOfAddress) {
  DownloadRequest wanted = request("/a");
  wanted.url = "file:///etc/hostname";
  expectTracelessFailure(wanted, "http and https only");
  wanted.url = "";
  expectTracelessFailure(wanted, "http and https only");
}

TEST_F(DownloadFile, ReportsAMissingPageOnceWithItsAddress) {
  expectTracelessFailure(request("/nowhere"), "status 404 (no such file)");
  EXPECT_THAT(server_.requests(), SizeIs(1));
}

TEST_F(DownloadFile, TriesAgainWhenTheServerIsBusy) {
  server_.answer("/a", {failure(503), page("good")});
  downloadFile(request("/a"), silentProgress());
  EXPECT_EQ(readFile(folder_.path() / "file.txt").view(), "good");
  EXPECT_THAT(server_.requests(), SizeIs(2));
}

TEST_F(DownloadFile, TriesAgainAfterACutTransfer) {
  server_.answer("/a", {cutPage("go", 4), page("good")});
  downloadFile(request("/a"), silentProgress());
  EXPECT_EQ(readFile(folder_.path() / "file.txt").view(), "good");
}

TEST_F(DownloadFile, GivesUpOnATransferThatIsAlwaysCut) {
  server_.answer("/a", cutPage("only a part", 1000));
  expectTracelessFailure(request("/a"), "cut after 11 of 1000 bytes");
  EXPECT_THAT(server_.requests(), SizeIs(3));
}

TEST_F(DownloadFile, ReportsAServerThatIsNotThere) {
  DownloadRequest wanted = request("/a");
  auto gone = std::make_unique<HttpServer>();
  wanted.url = gone->url("/a");
  gone.reset();
  expectTracelessFailure(wanted, "cannot be reached");
}

TEST_F(DownloadFile, ReportsAWrongChecksumWithBothValues) {
  server_.answer("/a", page("tampered"));
  DownloadRequest wanted = request("/a");
  wanted.checksum = {ChecksumKind::kGitBlob, "ce013625030ba8dba906f756967f9e9ca394464a"};
  expectTracelessFailure(wanted, "git blob id is " + gitBlobId("tampered") +
                                     ", expected ce013625030ba8dba906f756967f9e9ca394464a");
  wanted.checksum = {ChecksumKind::kSha256, std::string(64, '0')};
  expectTracelessFailure(wanted, "SHA-256 is " + sha256Hex("tampered"));
  EXPECT_THAT(server_.requests(), SizeIs(2));
}

TEST_F(DownloadFile, ReportsAWrongSize) {
  server_.answer("/a", page("four"));
  server_.answer("/b", unsizedPage("four"));
  DownloadRequest wanted = request("/a");
  wanted.size = 5;
  expectTracelessFailure(wanted, "4 bytes instead of the 5 expected");
  wanted.url = server_.url("/b");
  expectTracelessFailure(wanted, "4 bytes instead of the 5 expected");
  wanted.size = 3;
  expectTracelessFailure(wanted, "more than the 3 bytes expected");
}

TEST_F(DownloadFile, LeavesAnOlderFileAloneWhenItFails) {
  (void)folder_.write("file.txt", "older");
  EXPECT_THROW(downloadFile(request("/nowhere"), silentProgress()), DataError);
  EXPECT_EQ(readFile(folder_.path() / "file.txt").view(), "older");
  EXPECT_THAT(folderContent(), ElementsAre("file.txt"));
}

TEST_F(DownloadFile, GivesUpOnASlowServer) {
  server_.answer("/a", stallingPage("a little", 1000));
  DownloadRequest wanted = request("/a");
  wanted.limits.slow_for = std::chrono::seconds{1};
  expectTracelessFailure(wanted, "too slow: below 1.0 KiB/s for 1 s, after 8 of 1000 bytes");
  EXPECT_THAT(server_.requests(), SizeIs(1));
}

TEST_F(DownloadFile, StopsWhenInterrupted) {
  server_.answer("/a", stallingPage(std::string(100'000, 'x'), 1 << 20));
  Stopper stopper;
  EXPECT_THROW(downloadFile(request("/a"), stopper), InterruptedError);
  clearInterrupt();
  EXPECT_THAT(folderContent(), IsEmpty());
}

TEST_F(DownloadFile, ReportsProgressOfALargeFile) {
  std::string body(8 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) {
    body[i] = static_cast<char>(i * 2654435761U >> 24);
  }
  server_.answer("/big", page(body));
  DownloadRequest wanted = request("/big");
  wanted.checksum = {ChecksumKind::kSha256, sha256Hex(body)};
  Recorder recorder;
  downloadFile(wanted, recorder);
  EXPECT_THAT(recorder.labels, ElementsAre("file.txt"));
  EXPECT_THAT(recorder.totals, ElementsAre(body.size()));
  ASSERT_FALSE(recorder.steps.empty());
  EXPECT_TRUE(std::ranges::is_sorted(recorder.steps));
  EXPECT_GT(recorder.steps.size(), 8U);
  EXPECT_EQ(recorder.steps.back(), body.size());
  EXPECT_EQ(recorder.ends, 1);
}

// A limit on file sizes stands in for a full disk: the write fails part of the way.
TEST_F(DownloadFile, ReportsADiskThatIsFull) {
  server_.answer("/big", page(std::string(4 << 20, 'x')));
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expectTracelessFailure<ResourceError>(request("/big"), "cannot write");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
}

}  // namespace
}  // namespace edgewise
