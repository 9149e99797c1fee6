// The catalogue against the real files, where they are at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "edgewise/data/catalogue.h"
#include "edgewise/util/file.h"
#include "edgewise/util/hash.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;

LoadOptions offline(SourceForm form) {
  LoadOptions options;
  options.prefer = form;
  options.download = false;
  return options;
}

std::string testName(const ::testing::TestParamInfo<const char*>& tested) {
  std::string name = tested.param;
  std::erase(name, '-');
  return name;
}

class KnownDataset : public ::testing::TestWithParam<const char*> {};
class TwinDataset : public ::testing::TestWithParam<const char*> {};

// loadDataset itself compares the counts.
TEST_P(KnownDataset, HasTheExpectedCounts) {
  const CatalogueEntry& entry = findDataset(GetParam());
  EDGEWISE_NEEDS_DATA(folder, entry.folder);
  const Dataset dataset = loadDataset(entry, folder.parent_path(), offline(SourceForm::kRaw));
  EXPECT_EQ(dataset.name, entry.name);
  EXPECT_EQ(dataset.hash.size(), 64U);
}

TEST_P(TwinDataset, IsTheSameFromItsPublishedFilesAndItsTables) {
  const CatalogueEntry& entry = findDataset(GetParam());
  EDGEWISE_NEEDS_DATA(folder, entry.folder);
  const Dataset raw = loadDataset(entry, folder.parent_path(), offline(SourceForm::kRaw));
  const Dataset twin = loadDataset(entry, folder.parent_path(), offline(SourceForm::kCsv));
  EXPECT_EQ(raw.hash, twin.hash);
  EXPECT_EQ(raw.labels, twin.labels);
  EXPECT_EQ(raw.node_count, twin.node_count);
}

TEST_P(KnownDataset, HasTheListedSizesAndIds) {
  const CatalogueEntry& entry = findDataset(GetParam());
  EDGEWISE_NEEDS_DATA(folder, entry.folder);
  for (const CatalogueFile& file : entry.files) {
    SCOPED_TRACE(file.path);
    const auto found = findPlainOrGz(folder / file.path);
    ASSERT_TRUE(found.has_value());
    // A file listed as .gz is meant as it stands, any other in its unpacked form.
    const FileBytes bytes =
        *found == folder / file.path ? FileBytes::map(*found) : readFile(*found);
    EXPECT_EQ(bytes.view().size(), file.size);
    EXPECT_EQ(gitBlobId(bytes.view()), file.git_blob);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownDataset,
                         ::testing::Values("cora", "citeseer", "pubmed", "ogbl-ddi", "gowalla",
                                           "yelp2018"),
                         testName);
INSTANTIATE_TEST_SUITE_P(All, TwinDataset,
                         ::testing::Values("cora", "citeseer", "pubmed", "ogbl-ddi"), testName);

TEST(IncompleteDataset, NamesTheMissingFileAndTheFolder) {
  EDGEWISE_NEEDS_DATA(folder, "amazon-book");
  const CatalogueEntry& entry = findDataset("amazon-book");
  const DatasetState state = inspect(entry, folder.parent_path());
  if (state.usable()) {
    GTEST_SKIP() << "left out: amazon-book is complete here";
  }
  EXPECT_EQ(state.raw, Presence::kPartly);
  try {
    (void)loadDataset(entry, folder.parent_path(), offline(SourceForm::kAuto));
    FAIL() << "an incomplete dataset was loaded";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("amazon-book: train.txt is missing in " + folder.string()));
    EXPECT_THAT(error.hint(), HasSubstr((folder / "train.txt").string() + " from https://"));
  }
}

}  // namespace
}  // namespace edgewise
