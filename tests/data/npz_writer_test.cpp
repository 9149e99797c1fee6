#include "edgewise/data/npz_writer.h"

#include <gtest/gtest.h>

#include <vector>

#include "edgewise/data/npy.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::TempFolder;

TEST(NpzWriter, WritesWhatIsReadBack) {
  const TempFolder folder;
  const auto path = folder.path() / "arrays.npz";
  const std::vector<float> values = {1, 2, 3, -4.5F, 0, 1e30F};
  const std::size_t shape[] = {2, 3};
  NpzWriter writer(path);
  writer.add("layer_1", shape, values);
  writer.add("ids", std::vector<std::string>{"ann", "b\xC3\xA4r", "\xFF"});
  EXPECT_FALSE(std::filesystem::exists(path)) << "not before it is whole";
  writer.close();
  const NpzFile file(path);
  EXPECT_EQ(file.names(), (std::vector<std::string>{"layer_1", "ids"}));
  const NpyArray array = file.read("layer_1");
  EXPECT_EQ(array.shape(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(array.floats(), values);
}

// Three characters of four bytes each, padded with zeros: numpy's <U3.
TEST(NpzWriter, WritesTextAsNumpyDoes) {
  const TempFolder folder;
  const auto path = folder.path() / "text.npz";
  NpzWriter writer(path);
  writer.add("ids", std::vector<std::string>{"abc", "\xC3\xA4"});
  writer.close();
  const FileBytes bytes = readFile(path);
  const ZipArchive archive(bytes.view(), path);
  const std::string member = archive.read("ids.npy");
  EXPECT_NE(member.find("'descr': '<U3'"), std::string::npos);
  EXPECT_NE(member.find("'shape': (2,)"), std::string::npos);
  const std::string body = member.substr(member.size() - 24);
  EXPECT_EQ(body, std::string("a\0\0\0b\0\0\0c\0\0\0\xE4\0\0\0\0\0\0\0\0\0\0\0", 24));
}

TEST(NpzWriter, TakesNoTextsAtAll) {
  const TempFolder folder;
  const auto path = folder.path() / "one.npz";
  NpzWriter writer(path);
  writer.add("none", std::vector<std::string>{});
  writer.close();
  EXPECT_TRUE(NpzFile(path).contains("none"));
}

TEST(NpzWriter, RefusesValuesThatDoNotFillTheShape) {
  const TempFolder folder;
  NpzWriter writer(folder.path() / "wrong.npz");
  const std::size_t shape[] = {2, 3};
  expectFailure<ShapeError>([&] { writer.add("x", shape, std::vector<float>(5)); },
                            "5 values do not fill the array x");
}

}  // namespace
}  // namespace edgewise
