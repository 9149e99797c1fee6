#include "edgewise/data/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "edgewise/data/npy.h"
#include "edgewise/util/error.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::edgewise::testing::expectFailure;
using ::edgewise::testing::TempFolder;
using ::testing::ElementsAre;

TEST(Features, KnowsTheFormByTheName) {
  const TempFolder folder;
  EXPECT_THAT(readFeatures(folder.write("x.csv", "1,2\n3,4\n")).values(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(readFeatures(folder.write("x.TSV", "1\t2\n3\t4\n")).values(),
              ElementsAre(1, 2, 3, 4));
  for (const std::string_view name : {"x.svm", "x.svmlight", "x.libsvm", "x.SVM"}) {
    const FeatureMatrix matrix = readFeatures(folder.write(name, "1 2:5\n"));
    EXPECT_TRUE(matrix.isSparse()) << name;
    EXPECT_EQ(matrix.columns(), 2U);
  }
}

TEST(Features, KnowsTextWithoutATellingNameByItsFirstRow) {
  const TempFolder folder;
  EXPECT_FALSE(readFeatures(folder.write("x.txt", "# c\n1 2\n3 4\n")).isSparse());
  EXPECT_TRUE(readFeatures(folder.write("x.txt", "# c\n1 2:5 3:6 # d\n0 1:1\n")).isSparse());
  EXPECT_TRUE(readFeatures(folder.write("x", "2:5 3:6\n")).isSparse());
}

TEST(Features, KnowsNumpyFilesWhateverTheirName) {
  const TempFolder folder;
  const std::array<std::size_t, 2> shape = {1, 2};
  const std::array<float, 2> values = {5, 6};
  for (const std::string_view name : {"x.npy", "x.csv"}) {
    writeNpy(folder.path() / name, shape, values);
    EXPECT_THAT(readFeatures(folder.path() / name).values(), ElementsAre(5, 6)) << name;
  }
}

TEST(Features, PassesOptionsToTheTextReaders) {
  const TempFolder folder;
  const IdMap ids = IdMap::labels({"a", "b"});
  EXPECT_THAT(readFeatures(folder.write("x.csv", "b,2\na,1\n"), {.ids = &ids}).values(),
              ElementsAre(1, 2));
  EXPECT_EQ(readFeatures(folder.write("x.svm", "1 1:1\n"), {.column_count = 7}).columns(), 7U);
}

TEST(Features, RefusesWhatCannotBeRead) {
  const TempFolder folder;
  expectFailure<DataError>([&] { (void)readFeatures(folder.path() / "x.csv"); }, "no such file");
  expectFailure<DataError>([&] { (void)readFeatures(folder.path()); }, "is a folder");
  expectFailure<DataError>([&] { (void)readFeatures(folder.write("x.txt", "")); }, "empty");
  EXPECT_THROW((void)readFeatures(folder.write("x.npy", "1,2\n")), DataError);
  EXPECT_THROW((void)readFeatures(folder.write("x.npz", "1,2\n")), DataError);
}

TEST(Features, ReadsCora) {
  EDGEWISE_NEEDS_DATA(folder, "cora");
  const FeatureMatrix matrix = readFeatures(folder / "features.npz");
  EXPECT_EQ(matrix.rows(), 2708U);
  EXPECT_EQ(matrix.columns(), 1433U);
  EXPECT_EQ(matrix.nonzeroCount(), 49216U);
}

}  // namespace
}  // namespace edgewise
