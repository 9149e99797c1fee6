#include "edgewise/data/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "edgewise/util/error.h"
#include "support/byte_writers.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::arrayBytes;
using ::testing::ElementsAre;
using testing::expectFailure;
using testing::gzipBytes;
using testing::legacyTorchBytes;
using testing::PickleWriter;
using testing::Storages;
using testing::TempFolder;
using testing::zipTorchBytes;

using Sizes = std::array<std::int32_t, 2>;

TorchFile open(const std::string& bytes) { return TorchFile(FileBytes::own(bytes), "test.pt"); }

// {'edge': a 2 x 2 tensor, 'turned': its transpose, 'last': its second row, 'note': a text}
std::string tensorPickle() {
  PickleWriter pickle;
  pickle.op("}(");
  pickle.text("edge").tensor("LongStorage", "7", 4, Sizes{2, 2}, Sizes{2, 1});
  pickle.text("turned").tensor("LongStorage", "7", 4, Sizes{2, 2}, Sizes{1, 2});
  pickle.text("last").tensor("LongStorage", "7", 4, Sizes{1, 2}, Sizes{2, 1}, 2);
  pickle.text("note").text("hello");
  return pickle.op("u").finish();
}

const Storages kStorages = {{"7", arrayBytes<std::int64_t>({1, 2, 3, 4})}};

TEST(TorchFile, ReadsTensorsOfBothLayouts) {
  for (const std::string& bytes :
       {legacyTorchBytes(tensorPickle(), kStorages), zipTorchBytes(tensorPickle(), kStorages)}) {
    const TorchFile file = open(bytes);
    EXPECT_THAT(file.names(), ElementsAre("edge", "last", "turned"));
    EXPECT_TRUE(file.contains("edge"));
    EXPECT_FALSE(file.contains("note"));
    EXPECT_THAT(file.read("edge").integers(), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(file.read("turned").integers(), ElementsAre(1, 3, 2, 4));
    EXPECT_THAT(file.read("last").integers(), ElementsAre(3, 4));
    EXPECT_THAT(file.read("last").shape(), ElementsAre(1, 2));
    expectFailure<DataError>([&] { (void)file.read("note"); },
                             "has no array 'note'; it has: 'edge, last, turned'");
  }
}

TEST(TorchFile, ReadsNumpyArraysInsideThePickle) {
  PickleWriter pickle;
  pickle.op("}").text("year").array("i8", std::array{2}, arrayBytes<std::int64_t>({1999, 2000}));
  const std::string content = pickle.op("s").finish();
  for (const std::string& bytes : {legacyTorchBytes(content), zipTorchBytes(content)}) {
    EXPECT_THAT(open(bytes).read("year").integers(), ElementsAre(1999, 2000));
  }
}

TEST(TorchFile, ReadsABareTensorAndGzip) {
  const std::string pickle =
      PickleWriter().tensor("FloatStorage", "0", 2, Sizes{1, 2}, Sizes{2, 1}).finish();
  const TempFolder folder;
  const auto path = folder.write(
      "x.pt.gz",
      gzipBytes(legacyTorchBytes(pickle, {{"0", arrayBytes<float>({0.5F, 2})}}, sizeof(float))));
  const TorchFile file(path);
  EXPECT_THAT(file.names(), ElementsAre(""));
  EXPECT_THAT(file.read("").floats(), ElementsAre(0.5F, 2));
}

TEST(TorchFile, RefusesWhatItCannotRead) {
  const auto refused = [](const std::string& bytes, std::string_view message) {
    expectFailure<DataError>(
        [&] {
          const TorchFile file = open(bytes);
          for (const std::string& name : file.names()) {
            (void)file.read(name);
          }
        },
        message);
  };
  refused("", "is not a file written by torch.save");
  refused("hello", "is not a file written by torch.save");
  refused(testing::zipBytes({{.name = "a", .content = "b"}}), "without data.pkl");
  refused(legacyTorchBytes("cos\nsystem\n."), "'os.system'");
  refused(zipTorchBytes("cos\nsystem\n."), "'os.system'");
  refused(zipTorchBytes(tensorPickle()), "the archive has no member 'archive/data/7'");
  refused(legacyTorchBytes(tensorPickle()), "its storage '7' is missing");
  const Storages small = {{"7", arrayBytes<std::int64_t>({1, 2, 3})}};
  refused(legacyTorchBytes(tensorPickle(), small), "claims (2, 2) values");
  refused(zipTorchBytes(tensorPickle(), small), "claims (2, 2) values");
  const Storages stray = {{"8", ""}};
  refused(legacyTorchBytes(tensorPickle(), stray), "holds a storage '8' that nothing refers to");
  const std::string whole = legacyTorchBytes(tensorPickle(), kStorages);
  refused(whole.substr(0, whole.size() - 1), "storage '7' claims 4 values, more than the file");
  // One value that a stride of zero would repeat a billion times.
  refused(
      zipTorchBytes(
          PickleWriter().tensor("LongStorage", "7", 4, Sizes{1000000000, 2}, Sizes{0, 0}).finish(),
          kStorages),
      "claims (1000000000, 2) values");
  refused(zipTorchBytes(
              PickleWriter().tensor("LongStorage", "../x", 4, Sizes{2, 2}, Sizes{2, 1}).finish(),
              kStorages),
          "has no member 'archive/data/../x'");
}

TEST(TorchFile, RefusesBigEndianFiles) {
  PickleWriter system;
  system.op("}").text("little_endian").op("\x89").op("s");
  const std::string bytes = std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.") + "I1\n." +
                            system.finish() + "}.](e.";
  expectFailure<DataError>([&] { (void)open(bytes); }, "was saved on a big-endian machine");
}

TEST(TorchFile, RefusesTruncationAtEveryByte) {
  for (const std::string& whole :
       {legacyTorchBytes(tensorPickle(), kStorages), zipTorchBytes(tensorPickle(), kStorages)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW((void)open(whole.substr(0, size)), DataError) << size;
    }
  }
}

}  // namespace
}  // namespace edgewise
