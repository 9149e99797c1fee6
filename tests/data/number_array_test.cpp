#include "edgewise/data/number_array.h"

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

NumberLayout layoutOf(NumberType type, std::vector<std::size_t> shape,
                      std::vector<std::size_t> strides = {}, std::size_t offset = 0) {
  NumberLayout layout;
  layout.type = type;
  layout.shape = std::move(shape);
  layout.strides = std::move(strides);
  layout.offset = offset;
  return layout;
}

TEST(NumberArray, ConvertsEveryType) {
  const auto integers = [](NumberType type, const std::string& bytes) {
    return NumberArray::fromBytes(bytes, layoutOf(type, {2}), "a").integers();
  };
  EXPECT_THAT(integers(NumberType::kBool, arrayBytes<std::uint8_t>({0, 7})), ElementsAre(0, 1));
  EXPECT_THAT(integers(NumberType::kInt8, arrayBytes<std::int8_t>({-1, 7})), ElementsAre(-1, 7));
  EXPECT_THAT(integers(NumberType::kInt16, arrayBytes<std::int16_t>({-2, 7})), ElementsAre(-2, 7));
  EXPECT_THAT(integers(NumberType::kInt32, arrayBytes<std::int32_t>({-3, 7})), ElementsAre(-3, 7));
  EXPECT_THAT(integers(NumberType::kInt64, arrayBytes<std::int64_t>({-4, 7})), ElementsAre(-4, 7));
  EXPECT_THAT(integers(NumberType::kUint8, arrayBytes<std::uint8_t>({255, 7})),
              ElementsAre(255, 7));
  EXPECT_THAT(integers(NumberType::kUint16, arrayBytes<std::uint16_t>({65535, 7})),
              ElementsAre(65535, 7));
  EXPECT_THAT(integers(NumberType::kUint32, arrayBytes<std::uint32_t>({4294967295U, 7})),
              ElementsAre(4294967295, 7));
  EXPECT_THAT(integers(NumberType::kUint64, arrayBytes<std::uint64_t>({5, 7})), ElementsAre(5, 7));
  EXPECT_THAT(integers(NumberType::kFloat32, arrayBytes<float>({-5, 7})), ElementsAre(-5, 7));
  EXPECT_THAT(integers(NumberType::kFloat64, arrayBytes<double>({-6, 7})), ElementsAre(-6, 7));
}

TEST(NumberArray, ReadsHalfPrecision) {
  // 1, -2, the smallest subnormal, the largest finite value, infinity.
  const std::string bytes = arrayBytes<std::uint16_t>({0x3C00, 0xC000, 0x0001, 0x7BFF, 0x7C00});
  const NumberArray array =
      NumberArray::fromBytes(bytes, layoutOf(NumberType::kFloat16, {5}), "half");
  EXPECT_EQ(array.realAt(0), 1.0);
  EXPECT_EQ(array.realAt(1), -2.0);
  EXPECT_EQ(array.realAt(2), std::ldexp(1.0, -24));
  EXPECT_EQ(array.realAt(3), 65504.0);
  EXPECT_TRUE(std::isinf(array.realAt(4)));
}

TEST(NumberArray, FollowsStridesAndOffset) {
  const std::string bytes = arrayBytes<std::int32_t>({9, 0, 1, 2, 3, 4, 5});
  // The transpose of the 3 x 2 matrix that starts at the second value.
  const NumberArray array =
      NumberArray::fromBytes(bytes, layoutOf(NumberType::kInt32, {2, 3}, {1, 2}, 1), "t");
  EXPECT_THAT(array.integers(), ElementsAre(0, 2, 4, 1, 3, 5));
  const NumberArray plain =
      NumberArray::fromBytes(bytes, layoutOf(NumberType::kInt32, {2, 2}, {}, 3), "p");
  EXPECT_THAT(plain.integers(), ElementsAre(2, 3, 4, 5));
}

TEST(NumberArray, ReadsColumnOrderAndBigEndian) {
  NumberLayout layout = layoutOf(NumberType::kUint16, {2, 3});
  layout.fortran = true;
  layout.big_endian = true;
  const std::string bytes("\0\1\0\4\0\2\0\5\0\3\0\6", 12);
  EXPECT_THAT(NumberArray::fromBytes(bytes, layout, "f").integers(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(NumberArray, HoldsNothingAndSingleNumbers) {
  EXPECT_EQ(NumberArray().size(), 0U);
  const NumberArray scalar = NumberArray::fromBytes(arrayBytes<std::int64_t>({42}),
                                                    layoutOf(NumberType::kInt64, {}), "scalar");
  EXPECT_EQ(scalar.integerAt(0), 42);
  const NumberArray none = NumberArray::fromBytes(
      "", layoutOf(NumberType::kInt64, {std::size_t{1} << 63, 4, 0}), "none");
  EXPECT_EQ(none.size(), 0U);
}

TEST(NumberArray, RefusesLayoutsThatReachOutside) {
  const std::string bytes = arrayBytes<std::int32_t>({0, 1, 2, 3});
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  const std::vector<NumberLayout> wrong = {
      layoutOf(NumberType::kInt32, {5}),
      layoutOf(NumberType::kInt64, {3}),
      layoutOf(NumberType::kInt32, {std::size_t{1} << 33, std::size_t{1} << 33}),
      layoutOf(NumberType::kInt32, {2}, {4}),
      layoutOf(NumberType::kInt32, {2}, {kHuge}),
      layoutOf(NumberType::kInt32, {1}, {1}, 4),
      layoutOf(NumberType::kInt32, {2}, {1}, kHuge),
      // A stride of zero repeats one value as often as it likes.
      layoutOf(NumberType::kInt32, {std::size_t{1} << 40}, {0}),
      layoutOf(NumberType::kInt32, {2, 2}, {1}),
      layoutOf(NumberType::kInt32, std::vector<std::size_t>(kMaxDimensions + 1, 1)),
  };
  for (const NumberLayout& layout : wrong) {
    SCOPED_TRACE(shapeText(layout.shape));
    expectFailure<DataError>([&] { (void)NumberArray::fromBytes(bytes, layout, "file"); },
                             "file: claims ");
  }
}

TEST(NumberArray, RefusesFractionsAsIntegers) {
  const std::string bytes = arrayBytes<double>({1.5, std::nan(""), 1e300});
  const NumberArray array =
      NumberArray::fromBytes(bytes, layoutOf(NumberType::kFloat64, {3}), "file");
  expectFailure<DataError>([&] { (void)array.integerAt(0); },
                           "file: value 1.5 at position 0 is not a whole number");
  expectFailure<DataError>([&] { (void)array.integerAt(1); }, "nan at position 1");
  expectFailure<DataError>([&] { (void)array.integerAt(2); }, "is not a whole number");
  const NumberArray large =
      NumberArray::fromBytes(arrayBytes<std::uint64_t>({std::uint64_t{1} << 63}),
                             layoutOf(NumberType::kUint64, {1}), "file");
  expectFailure<DataError>([&] { (void)large.integers(); }, "is too large");
}

TEST(TypeCodes, GoBothWays) {
  for (const std::string_view code :
       {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}) {
    EXPECT_EQ(typeCode(typeFromCode(code).value()), code);
  }
  EXPECT_FALSE(typeFromCode("O8"));
  EXPECT_FALSE(typeFromCode("c16"));
}

}  // namespace
}  // namespace edgewise
