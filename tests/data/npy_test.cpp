#include "edgewise/data/npy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "edgewise/util/error.h"
#include "support/byte_writers.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::arrayBytes;
using ::testing::ElementsAre;
using testing::expectFailure;
using testing::littleBytes;
using testing::npyBytes;
using testing::TempFolder;
using testing::zipBytes;
using testing::ZipEntry;

// An npz whose members are all packed.
std::string npz(std::initializer_list<std::pair<const char*, std::string>> arrays) {
  std::vector<ZipEntry> entries;
  for (const auto& [name, content] : arrays) {
    entries.push_back({.name = std::string(name) + ".npy", .content = content, .deflate = true});
  }
  return zipBytes(entries);
}

FeatureMatrix featuresOf(const std::string& bytes) {
  return featuresFromNpz(NpzFile(FileBytes::own(bytes), "test.npz"));
}

// Rows {0: 1.5 at column 2}, {}, {1 at 0, 2 at 1}.
std::string sparseNpz(const std::string& indptr, const std::string& shape,
                      const std::string& values = arrayBytes<float>({1.5F, 1, 2})) {
  return npz({{"indptr", indptr},
              {"indices", npyBytes("<i4", "(3,)", arrayBytes<std::int32_t>({2, 0, 1}))},
              {"data", npyBytes("<f4", "(3,)", values)},
              {"shape", shape}});
}

const std::string kIndptr = npyBytes("<i4", "(4,)", arrayBytes<std::int32_t>({0, 1, 1, 3}));
const std::string kShape = npyBytes("<i8", "(2,)", arrayBytes<std::int64_t>({3, 4}));

TEST(ReadNpy, ReadsAMatrix) {
  const NpyArray array =
      readNpy(npyBytes("<f4", "(2, 3)", arrayBytes<float>({1, 2, 3, 4, 5, 6})), "m");
  EXPECT_EQ(array.type(), NumberType::kFloat32);
  EXPECT_THAT(array.shape(), ElementsAre(2, 3));
  EXPECT_THAT(array.floats(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ReadNpy, ReadsColumnOrderAndBigEndian) {
  const NpyArray columns =
      readNpy(npyBytes("<i2", "(2, 2)", arrayBytes<std::int16_t>({1, 3, 2, 4}), true), "m");
  EXPECT_THAT(columns.integers(), ElementsAre(1, 2, 3, 4));
  const NpyArray big = readNpy(npyBytes(">i4", "(1L,)", std::string("\0\0\1\2", 4)), "m");
  EXPECT_THAT(big.integers(), ElementsAre(258));
}

TEST(ReadNpy, ReadsLaterVersionsAndOtherSpellings) {
  const std::string header = "{\"shape\": (), 'fortran_order':False,'descr':'|b1'}";
  for (const char version : {'\x02', '\x03'}) {
    const std::string bytes = std::string("\x93NUMPY") + version + '\0' +
                              littleBytes(static_cast<std::uint32_t>(header.size())) + header +
                              "\x01";
    EXPECT_THAT(readNpy(bytes, "b").integers(), ElementsAre(1));
  }
}

TEST(ReadNpy, RefusesALyingHeader) {
  const std::string four = arrayBytes<float>({1, 2, 3, 4});
  const auto refused = [&](std::string_view descr, std::string_view shape,
                           std::string_view message) {
    SCOPED_TRACE(shape);
    expectFailure<DataError>([&] { (void)readNpy(npyBytes(descr, shape, four), "file"); }, message);
  };
  refused("<f4", "(5,)", "file: claims (5) values of type f4 but holds only 4 of them");
  refused("<f4", "(1000000000, 1000000000)", "claims");
  refused("<f4", "(4611686018427387904, 4)", "claims");
  refused("<f4", "(9223372036854775807, 9223372036854775807, 2)", "claims");
  refused("<f4", "(99999999999999999999,)", "is not a size");
  refused("<f4", "(-4,)", "'-4' is not a size");
  refused("<f4", "(4", "is not a size");
  refused("<f4", "4", "expected '('");
  refused("<f4", "(x,)", "'x' is not a size");
}

TEST(ReadNpy, RefusesWhatIsNoPlainNumber) {
  const auto refused = [](const std::string& bytes, std::string_view message) {
    expectFailure<DataError>([&] { (void)readNpy(bytes, "file"); }, message);
  };
  refused(npyBytes("|O", "(1,)", "12345678"), "holds values of numpy type 'O'");
  refused(npyBytes("<c16", "(1,)", std::string(16, '\0')), "numpy type 'c16'");
  refused("", "is not an npy file");
  refused("\x93NUMPX\x01", "is not an npy file");
  refused(std::string("\x93NUMPY\x04\x00\x00\x00", 10), "has npy format version 4");
  refused(std::string("\x93NUMPY\x01\x00\xff\x00{", 11), "ends early");
  const auto header = [](const std::string& text) {
    return std::string("\x93NUMPY\x01\x00", 8) +
           littleBytes(static_cast<std::uint16_t>(text.size())) + text;
  };
  refused(header("{}"), "must each stand there once");
  refused(header("{'descr': [('a', '<f4')], 'shape': (), 'fortran_order': False}"),
          "holds records of several fields");
  refused(header("{'descr': '<f4', 'shape': (), 'fortran_order': 1}"), "neither True nor False");
  refused(header("{'descr': '<f4', 'shape': (), 'extra': 1}"), "unknown key 'extra'");
}

TEST(WriteNpy, IsReadBackAlike) {
  const TempFolder folder;
  const std::array<std::size_t, 2> shape = {2, 2};
  const std::array<float, 4> values = {1, -2.5F, 0, 1e-20F};
  writeNpy(folder.path() / "a.npy", shape, values);
  const FeatureMatrix features = readFeaturesNpy(folder.path() / "a.npy");
  EXPECT_EQ(features.rows(), 2U);
  EXPECT_THAT(features.values(), ElementsAre(1, -2.5F, 0, 1e-20F));
  expectFailure<ShapeError>(
      [&] { writeNpy(folder.path() / "b.npy", shape, std::span(values).first(3)); },
      "3 values do not fill the shape (2, 2)");
}

TEST(ReadFeaturesNpy, NamesRowAndColumnOfABadValue) {
  const TempFolder folder;
  const auto refused = [&](const std::string& bytes, std::string_view message) {
    const auto path = folder.write("x.npy", bytes);
    expectFailure<DataError>([&] { (void)readFeaturesNpy(path); }, message);
  };
  refused(npyBytes("<f4", "(2, 2)", arrayBytes<float>({1, 2, 3, std::nanf("")})),
          "the value at row 1, column 1 is nan");
  refused(npyBytes("<f8", "(2, 2)", arrayBytes<double>({1, HUGE_VAL, 3, 4})),
          "the value at row 0, column 1 is inf");
  refused(npyBytes("<f8", "(1, 1)", arrayBytes<double>({1e300})), "row 0, column 0 is inf");
  refused(npyBytes("<f4", "(2,)", arrayBytes<float>({1, 2})), "need two dimensions");
  refused(npyBytes("<f4", "(9000000000, 0)", ""), "has no columns");
}

TEST(ReadFeaturesNpz, ReadsDenseArraysByNameOrAlone) {
  const std::string matrix = npyBytes("<f8", "(1, 2)", arrayBytes<double>({1, 2}));
  const std::string other = npyBytes("<f8", "(1, 2)", arrayBytes<double>({8, 9}));
  const std::string vector = npyBytes("<i8", "(1,)", arrayBytes<std::int64_t>({7}));
  for (const char* name : {"x", "features", "arr_0"}) {
    EXPECT_THAT(featuresOf(npz({{"other", other}, {name, matrix}})).values(), ElementsAre(1, 2));
  }
  EXPECT_THAT(featuresOf(npz({{"y", vector}, {"mine", matrix}})).values(), ElementsAre(1, 2));
  expectFailure<DataError>([&] { (void)featuresOf(npz({{"a", matrix}, {"b", other}})); },
                           "could be the features");
  expectFailure<DataError>([&] { (void)featuresOf(npz({{"y", vector}})); },
                           "holds no two-dimensional array");
}

TEST(ReadFeaturesNpz, ReadsSparseRows) {
  const FeatureMatrix features = featuresOf(sparseNpz(kIndptr, kShape));
  EXPECT_TRUE(features.isSparse());
  EXPECT_EQ(features.rows(), 3U);
  EXPECT_EQ(features.columns(), 4U);
  EXPECT_EQ(features.nonzeroCount(), 3U);
  EXPECT_EQ(features.at(0, 2), 1.5F);
  EXPECT_EQ(features.at(1, 2), 0.0F);
  EXPECT_EQ(features.at(2, 1), 2.0F);
}

TEST(ReadFeaturesNpz, RefusesWrongSparseRows) {
  const auto refused = [](const std::string& bytes, std::string_view message) {
    expectFailure<DataError>([&] { (void)featuresOf(bytes); }, message);
  };
  const auto indptr = [](std::initializer_list<std::int32_t> values) {
    return npyBytes("<i4", fmt::format("({},)", values.size()), arrayBytes<std::int32_t>(values));
  };
  const auto shape = [](std::initializer_list<std::int64_t> values) {
    return npyBytes("<i8", "(2,)", arrayBytes<std::int64_t>(values));
  };
  refused(sparseNpz(indptr({0, 2, 1, 3}), kShape), "entry 2 is 1 after 2");
  refused(sparseNpz(indptr({1, 1, 1, 3}), kShape), "entry 0 is 1 after 0");
  refused(sparseNpz(indptr({0, 1, 1, 4}), kShape), "the last row offset is 4");
  refused(sparseNpz(indptr({0, -1, 1, 3}), kShape), "entry 1 is -1");
  refused(sparseNpz(indptr({0, 3}), kShape), "2 row offsets for 3 rows");
  refused(sparseNpz(kIndptr, shape({3, 2})), "column 2 in row 0 is outside 0..1");
  refused(sparseNpz(kIndptr, shape({3, -4})), "none negative");
  refused(sparseNpz(kIndptr, shape({std::numeric_limits<std::int64_t>::max(), 4})), "too many");
  refused(sparseNpz(kIndptr, kShape, arrayBytes<float>({1, std::nanf(""), 2})),
          "the value at row 2, column 0 is nan");
}

TEST(ReadFeaturesNpz, ChecksTheFormatThatScipyWrites) {
  const auto with_format = [](const std::string& format) {
    return npz({{"indptr", kIndptr},
                {"indices", npyBytes("<i4", "(3,)", arrayBytes<std::int32_t>({2, 0, 1}))},
                {"data", npyBytes("<f4", "(3,)", arrayBytes<float>({1, 1, 1}))},
                {"format", format},
                {"shape", kShape}});
  };
  EXPECT_EQ(featuresOf(with_format(npyBytes("|S3", "()", "csr"))).rows(), 3U);
  EXPECT_EQ(featuresOf(with_format(npyBytes("<U3", "()", std::string("c\0\0\0s\0\0\0r\0\0\0", 12))))
                .rows(),
            3U);
  expectFailure<DataError>([&] { (void)featuresOf(with_format(npyBytes("|S3", "()", "csc"))); },
                           "holds a sparse matrix in format 'csc'");
}

TEST(ReadFeaturesNpz, RefusesAWrongCrc) {
  std::string content = npyBytes("<f4", "(1, 1)", arrayBytes<float>({1}));
  const std::string bytes =
      zipBytes({{.name = "x.npy", .content = content, .deflate = true, .crc_error = 1}});
  expectFailure<DataError>([&] { (void)featuresOf(bytes); }, "member 'x.npy' is damaged");
}

TEST(NpzFile, ListsItsArrays) {
  const std::string bytes = zipBytes({{.name = "a.npy", .content = "?"},
                                      {.name = "readme.txt", .content = "?"},
                                      {.name = "b.npy", .content = "?"}});
  const NpzFile file(FileBytes::own(bytes), "test.npz");
  EXPECT_THAT(file.names(), ElementsAre("a", "b"));
  expectFailure<DataError>([&] { (void)file.read("c"); }, "has no array 'c'; it has: 'a, b'");
}

}  // namespace
}  // namespace edgewise
