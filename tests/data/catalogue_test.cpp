#include "edgewise/data/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "edgewise/data/zip_archive.h"
#include "edgewise/util/file.h"
#include "edgewise/util/hash.h"
#include "support/byte_writers.h"
#include "support/http_server.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using testing::expectFailure;
using testing::failure;
using ::testing::HasSubstr;
using testing::HttpServer;
using ::testing::IsEmpty;
using testing::page;
using ::testing::StartsWith;
using testing::TempFolder;
using testing::zipBytes;

// Sets (or, without a value, clears) a variable until the end of the scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) {
      before_ = before;
    }
    assign(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ScopedVariable(ScopedVariable&&) = delete;
  ScopedVariable& operator=(ScopedVariable&&) = delete;
  ~ScopedVariable() { assign(before_); }

 private:
  void assign(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Catalogue, ListsTheNineDatasetsOnce) {
  std::vector<std::string> names;
  std::set<std::string> distinct;
  for (const CatalogueEntry& entry : catalogue()) {
    names.push_back(entry.name);
    distinct.insert(entry.name);
    distinct.insert(entry.aliases.begin(), entry.aliases.end());
  }
  EXPECT_THAT(names, ElementsAre("cora", "citeseer", "pubmed", "ogbl-ddi", "ogbl-collab",
                                 "ogbl-ppa", "gowalla", "yelp2018", "amazon-book"));
  std::size_t total = 0;
  for (const CatalogueEntry& entry : catalogue()) {
    total += 1 + entry.aliases.size();
  }
  EXPECT_EQ(distinct.size(), total);
}

TEST(Catalogue, SaysOfEveryEntryWhatAUserNeeds) {
  for (const CatalogueEntry& entry : catalogue()) {
    SCOPED_TRACE(entry.name);
    EXPECT_FALSE(entry.title.empty());
    EXPECT_FALSE(entry.source.empty());
    EXPECT_FALSE(entry.license.empty());
    EXPECT_FALSE(entry.metrics.empty());
    EXPECT_TRUE(isSafeRelativePath(entry.folder));
    EXPECT_FALSE(entry.files.empty());
    for (const CatalogueFile& file : entry.files) {
      EXPECT_TRUE(isSafeRelativePath(file.path)) << file.path;
      EXPECT_THAT(entry.archive ? entry.archive->url : file.url, StartsWith("https://"));
      EXPECT_TRUE(file.git_blob.empty() || file.git_blob.size() == 40) << file.path;
    }
    EXPECT_TRUE(entry.counts.nodes.has_value());
    EXPECT_EQ(entry.family == DatasetFamily::kRecommendation, entry.counts.users.has_value());
    EXPECT_FALSE(familyName(entry.family).empty());
  }
}

TEST(Catalogue, FindsByNameAliasAndAnyCase) {
  EXPECT_EQ(findDataset("cora").name, "cora");
  EXPECT_EQ(findDataset("Cora").name, "cora");
  EXPECT_EQ(findDataset("ogbl_ddi").name, "ogbl-ddi");
  EXPECT_EQ(findDataset("AMAZON-BOOK").folder, "amazon-book");
}

TEST(Catalogue, SuggestsTheNearestName) {
  try {
    (void)findDataset("citseer");
    FAIL() << "an unknown name was found";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "unknown dataset 'citseer'");
    EXPECT_EQ(error.hint(), "did you mean 'citeseer'?");
  }
  expectFailure<ConfigError>([] { (void)findDataset(""); }, "unknown dataset ''");
}

TEST(DataRoot, PrefersWhatIsGivenThenTheEnvironmentThenTheCache) {
  const ScopedVariable home("HOME", "/home/someone");
  const ScopedVariable cache("XDG_CACHE_HOME", "/caches");
  const ScopedVariable data("EDGEWISE_DATA", "/data");
  EXPECT_EQ(dataRoot("/given"), "/given");
  EXPECT_EQ(dataRoot(), "/data");
  const ScopedVariable no_data("EDGEWISE_DATA", "");
  EXPECT_EQ(dataRoot(), "/caches/edgewise");
  const ScopedVariable no_cache("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(dataRoot(), "/home/someone/.cache/edgewise");
  const ScopedVariable no_home("HOME", std::nullopt);
  expectFailure<ConfigError>([] { (void)dataRoot(); }, "no folder for data");
}

constexpr std::string_view kTrain = "0 0 1\n1 1 2\n2 0\n";
constexpr std::string_view kTest = "0 2\n1 0\n";

// Three users, three items.
CatalogueEntry tinyEntry() {
  CatalogueEntry entry;
  entry.name = "tiny";
  entry.folder = "tiny_data";
  entry.family = DatasetFamily::kRecommendation;
  for (const auto& [name, content] : {std::pair{"train.txt", kTrain}, {"test.txt", kTest}}) {
    entry.files.push_back({.path = name,
                           .url = std::string("https://nowhere.invalid/") + name,
                           .size = content.size(),
                           .git_blob = gitBlobId(content)});
  }
  entry.counts = {.nodes = 6, .edges = 7, .users = 3, .items = 3, .train = 5, .test = 2};
  return entry;
}

TEST(Inspect, TellsWhatIsThere) {
  const TempFolder root;
  CatalogueEntry entry = tinyEntry();
  entry.csv_files = {"csv/edges.csv"};
  entry.files.emplace_back().path = "raw/more.csv.gz";
  CatalogueFile& extra = entry.files.emplace_back();
  extra.path = "mapping/names.csv.gz";
  extra.needed = false;

  DatasetState state = inspect(entry, root.path());
  EXPECT_EQ(state.folder, root.path() / "tiny_data");
  EXPECT_EQ(state.raw, Presence::kAbsent);
  EXPECT_EQ(state.csv, Presence::kAbsent);
  EXPECT_FALSE(state.usable());
  EXPECT_EQ(state.bytes, 0U);

  (void)root.write("tiny_data/train.txt.gz", "12345");
  state = inspect(entry, root.path());
  EXPECT_EQ(state.raw, Presence::kPartly);
  EXPECT_THAT(state.missing_raw, ElementsAre("test.txt", "raw/more.csv.gz"));
  EXPECT_THAT(state.missing_csv, ElementsAre("csv/edges.csv"));
  EXPECT_EQ(state.bytes, 5U);

  (void)root.write("tiny_data/test.txt", "12");
  (void)root.write("tiny_data/raw/more.csv", "1");
  state = inspect(entry, root.path());
  EXPECT_EQ(state.raw, Presence::kPresent);
  EXPECT_TRUE(state.usable());
  EXPECT_EQ(state.bytes, 8U);

  (void)root.write("tiny_data/csv/edges.csv", "1");
  EXPECT_EQ(inspect(entry, root.path()).csv, Presence::kPresent);
}

TEST(CountDifferences, ListsOnlyWhatDiffers) {
  Dataset dataset;
  dataset.node_count = 1234;
  dataset.edges.edges = {makeEdge(0, 1)};
  EXPECT_THAT(countDifferences({}, dataset), IsEmpty());
  EXPECT_THAT(countDifferences({.nodes = 1234, .edges = 1}, dataset), IsEmpty());
  EXPECT_THAT(countDifferences({.nodes = 2345, .edges = 1, .test = 7}, dataset),
              ElementsAre("nodes: expected 2,345, found 1,234", "test edges: expected 7, found 0"));
}

class LoadDataset : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!canDownload()) {
      GTEST_SKIP() << "left out: this build has no libcurl";
    }
    server_.answer("/copy/tiny_data/train.txt", page(std::string(kTrain)));
    server_.answer("/copy/tiny_data/test.txt", page(std::string(kTest)));
    options_.mirror = server_.url("/copy/");
    options_.limits.retries = 0;
  }

  [[nodiscard]] Dataset load(const CatalogueEntry& entry) const {
    return loadDataset(entry, root_.path(), options_);
  }
  // The message and the hint of the DataError that loading must end with.
  [[nodiscard]] std::string failureOf(const CatalogueEntry& entry) const {
    try {
      (void)load(entry);
    } catch (const DataError& error) {
      return std::string(error.what()) + "\n" + error.hint();
    }
    return "nothing was thrown";
  }
  [[nodiscard]] std::set<std::string> filesBelowRoot() const {
    std::set<std::string> names;
    for (const auto& item : std::filesystem::recursive_directory_iterator(root_.path())) {
      if (!item.is_directory()) {
        names.insert(std::filesystem::relative(item.path(), root_.path()).string());
      }
    }
    return names;
  }

  const ScopedVariable no_mirror_{"EDGEWISE_MIRROR", std::nullopt};
  TempFolder root_;
  HttpServer server_;
  LoadOptions options_;
};

TEST_F(LoadDataset, DownloadsOnceThenReadsFromDisk) {
  const Dataset first = load(tinyEntry());
  EXPECT_EQ(first.name, "tiny");
  EXPECT_EQ(first.edges.size(), 7U);
  EXPECT_THAT(filesBelowRoot(), ElementsAre("tiny_data/test.txt", "tiny_data/train.txt"));
  EXPECT_EQ(load(tinyEntry()).hash, first.hash);
  EXPECT_THAT(server_.requests(),
              ElementsAre("/copy/tiny_data/train.txt", "/copy/tiny_data/test.txt"));
}

TEST_F(LoadDataset, TakesTheMirrorFromTheEnvironment) {
  const ScopedVariable mirror("EDGEWISE_MIRROR", options_.mirror);
  options_.mirror.clear();
  EXPECT_EQ(load(tinyEntry()).edges.size(), 7U);
}

TEST_F(LoadDataset, FetchesOnlyWhatIsMissing) {
  (void)root_.write("tiny_data/train.txt", kTrain);
  (void)load(tinyEntry());
  EXPECT_THAT(server_.requests(), ElementsAre("/copy/tiny_data/test.txt"));
}

TEST_F(LoadDataset, NamesEveryMissingFileItsPlaceAndAddressWhenNotAllowedToDownload) {
  options_.download = false;
  options_.mirror.clear();
  const std::string text = failureOf(tinyEntry());
  const std::string folder = (root_.path() / "tiny_data").string();
  EXPECT_THAT(text, HasSubstr("tiny: train.txt, test.txt are missing in " + folder));
  EXPECT_THAT(text, HasSubstr("downloads are switched off"));
  EXPECT_THAT(text, HasSubstr(folder + "/train.txt from https://nowhere.invalid/train.txt"));
  EXPECT_THAT(text, HasSubstr(folder + "/test.txt from https://nowhere.invalid/test.txt"));
  EXPECT_THAT(filesBelowRoot(), IsEmpty());
}

TEST_F(LoadDataset, KeepsWhatCameAndNamesWhatDidNot) {
  server_.answer("/copy/tiny_data/test.txt", failure(404));
  const std::string text = failureOf(tinyEntry());
  EXPECT_THAT(text, HasSubstr("tiny: test.txt is missing in"));
  EXPECT_THAT(text, HasSubstr("could not be downloaded"));
  EXPECT_THAT(text, HasSubstr("status 404"));
  EXPECT_THAT(text, HasSubstr(server_.url("/copy/tiny_data/test.txt")));
  EXPECT_THAT(filesBelowRoot(), ElementsAre("tiny_data/train.txt"));
}

TEST_F(LoadDataset, RefusesADownloadWithAnotherContent) {
  std::string other(kTest);
  other[0] = '2';
  server_.answer("/copy/tiny_data/test.txt", page(other));
  EXPECT_THAT(failureOf(tinyEntry()), HasSubstr("wrong checksum"));
  EXPECT_THAT(filesBelowRoot(), ElementsAre("tiny_data/train.txt"));
}

TEST_F(LoadDataset, ListsExpectedAndFoundCounts) {
  CatalogueEntry entry = tinyEntry();
  entry.counts.nodes = 7;
  entry.counts.test = 1;
  const std::string text = failureOf(entry);
  EXPECT_THAT(text, HasSubstr("not tiny as published"));
  EXPECT_THAT(text, HasSubstr("nodes: expected 7, found 6; test edges: expected 1, found 2"));
  options_.verify_counts = false;
  EXPECT_EQ(load(entry).node_count, 6U);
}

TEST_F(LoadDataset, SaysWhenThereIsNoCsvForm) {
  options_.prefer = SourceForm::kCsv;
  EXPECT_THROW((void)load(tinyEntry()), ConfigError);
  options_.mirror.clear();
  EXPECT_THROW((void)load(findDataset("cora")), DataError);
}

class LoadArchivedDataset : public LoadDataset {
 protected:
  static CatalogueEntry archivedEntry() {
    CatalogueEntry entry = tinyEntry();
    for (CatalogueFile& file : entry.files) {
      file.url.clear();
    }
    entry.archive = {.url = "https://nowhere.invalid/t.zip", .file_name = "t.zip"};
    return entry;
  }
  static std::string goodArchive() {
    return zipBytes({{.name = "t/", .content = ""},
                     {.name = "t/other.txt", .content = "not listed"},
                     {.name = "t/train.txt", .content = std::string(kTrain)},
                     {.name = "t/test.txt", .content = std::string(kTest)}});
  }
};

TEST_F(LoadArchivedDataset, UnpacksWhatIsListedAndRemovesTheArchive) {
  server_.answer("/copy/tiny_data/t.zip", page(goodArchive()));
  EXPECT_EQ(load(archivedEntry()).edges.size(), 7U);
  EXPECT_THAT(filesBelowRoot(), ElementsAre("tiny_data/test.txt", "tiny_data/train.txt"));
}

TEST_F(LoadArchivedDataset, UnpacksAnArchivePutThereByHand) {
  (void)root_.write("tiny_data/t.zip", goodArchive());
  options_.download = false;
  EXPECT_EQ(load(archivedEntry()).edges.size(), 7U);
  EXPECT_THAT(filesBelowRoot(),
              ElementsAre("tiny_data/t.zip", "tiny_data/test.txt", "tiny_data/train.txt"));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(LoadArchivedDataset, NamesTheArchiveWhenNotAllowedToDownload) {
  options_.download = false;
  options_.mirror.clear();
  EXPECT_THAT(failureOf(archivedEntry()),
              HasSubstr((root_.path() / "tiny_data" / "t.zip").string() +
                        " from https://nowhere.invalid/t.zip"));
}

TEST_F(LoadArchivedDataset, RefusesAnArchiveWithoutItsFilesAndForgetsIt) {
  server_.answer("/copy/tiny_data/t.zip",
                 page(zipBytes({{.name = "../train.txt", .content = std::string(kTrain)},
                                {.name = "../test.txt", .content = std::string(kTest)}})));
  EXPECT_THAT(failureOf(archivedEntry()), HasSubstr("holds no train.txt"));
  EXPECT_THAT(filesBelowRoot(), IsEmpty());
  server_.answer("/copy/tiny_data/t.zip", page("this is no archive"));
  EXPECT_THAT(failureOf(archivedEntry()), HasSubstr("t.zip"));
  EXPECT_THAT(filesBelowRoot(), IsEmpty());
}

TEST_F(LoadArchivedDataset, RefusesAnArchiveWithOtherContent) {
  server_.answer("/copy/tiny_data/t.zip",
                 page(zipBytes({{.name = "t/train.txt", .content = std::string(kTest)},
                                {.name = "t/test.txt", .content = std::string(kTest)}})));
  EXPECT_THAT(failureOf(archivedEntry()),
              HasSubstr("train.txt inside has git blob id " + gitBlobId(kTest) + ", expected " +
                        gitBlobId(kTrain)));
  EXPECT_THAT(filesBelowRoot(), IsEmpty());
}

}  // namespace
}  // namespace edgewise
