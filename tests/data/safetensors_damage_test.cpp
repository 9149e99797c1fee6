// Damaged and hostile safetensors files: each must end in an error that names the file, says what
// is wrong, and what to do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "edgewise/data/safetensors.h"
#include "edgewise/util/error.h"
#include "support/byte_writers.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::littleBytes;
using testing::safetensorsBytes;

SafetensorsFile parsed(std::string bytes) {
  return SafetensorsFile::parse(FileBytes::own(std::move(bytes)), "model.safetensors");
}

void expectRefused(const std::string& bytes, std::string_view message) {
  SCOPED_TRACE(message);
  expectFailure<DataError>([&] { (void)parsed(bytes); },
                           fmt::format("model.safetensors: {}", message));
  try {
    (void)parsed(bytes);
  } catch (const DataError& error) {
    EXPECT_FALSE(error.hint().empty());
  }
}

// The header of a file whose only tensor, w, has these fields.
std::string oneTensor(std::string_view fields) { return fmt::format(R"({{"w":{{{}}}}})", fields); }

constexpr std::string_view kPair = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";

TEST(SafetensorsDamage, RefusesWhatHasNoHeader) {
  const std::string file = safetensorsBytes(oneTensor(kPair), "12345678");
  expectRefused("", "is empty, not a safetensors file");
  expectRefused(file.substr(0, 7), "ends early: 8 bytes wanted at byte 0, 7 left");
  expectRefused(file.substr(0, 8), "ends early: its header takes 54 bytes, 0 are there");
  expectRefused(file.substr(0, 20), "ends early: its header takes 54 bytes, 12 are there");
  expectRefused(littleBytes(~std::uint64_t{0}) + "{}",
                "is not a safetensors file: its first bytes claim a header of "
                "18446744073709551615 bytes, and 100000000 are the most");
  expectRefused(littleBytes(std::uint64_t{100'000'001}) + "{}", "is not a safetensors file");
  expectRefused(littleBytes(std::uint64_t{100'000'000}) + "{}", "ends early");
  expectRefused("PK\x03\x04 some zip archive", "is not a safetensors file: its first bytes");
  expectRefused(safetensorsBytes("", ""), "is not a safetensors file: its header does not begin");
  expectRefused(safetensorsBytes(" {}", ""), "is not a safetensors file: its header does not");
  expectRefused(safetensorsBytes("[]", ""), "is not a safetensors file: its header does not begin");
}

TEST(SafetensorsDamage, RefusesWhatIsNotJson) {
  const auto refused = [](const std::string& header, std::string_view message) {
    expectRefused(safetensorsBytes(header, ""), message);
  };
  refused("{", "the header is not valid JSON at its byte 2");
  refused("{} x", "the header is not valid JSON at its byte 4");
  refused("{}{}", "the header is not valid JSON at its byte 3");
  refused("{'w':1}", "the header is not valid JSON at its byte 2");
  refused("{\"w\xFF\":1}", "the header is not valid JSON");
  refused("{\"\\ud800\":1}", "the header is not valid JSON");
  refused(R"({"w":1e999})", "the header is not valid JSON");
  // A library that takes a zero byte for the end must not hide what follows.
  refused(std::string("{}\0\0", 4), "the header is not valid JSON: its byte 2 is zero");
}

TEST(SafetensorsDamage, RefusesDeepNestingAtItsFirstStep) {
  const std::string deep(1'000'000, '[');
  expectRefused(safetensorsBytes("{\"w\":" + deep, ""),
                "tensor 'w': must be an object with dtype, shape and data_offsets, not an array");
  expectRefused(safetensorsBytes(R"({"w":{"shape":[)" + deep, ""),
                "tensor 'w': a size must be a whole number from 0 to 9223372036854775807, "
                "not an array");
  std::string objects = "{";
  for (int i = 0; i < 100'000; ++i) {
    objects += "\"w\":{";
  }
  expectRefused(safetensorsBytes(objects, ""), "tensor 'w': has an unknown key 'w'");
}

TEST(SafetensorsDamage, RefusesWrongTypes) {
  const auto refused = [](std::string_view fields, std::string_view message) {
    expectRefused(safetensorsBytes(oneTensor(fields), ""), fmt::format("tensor 'w': {}", message));
  };
  expectRefused(safetensorsBytes(R"({"w":null})", ""), "tensor 'w': must be an object");
  refused(R"("dtype":4)", "dtype must be a string, not 4");
  refused(R"("dtype":{})", "dtype must be a string, not an object");
  refused(R"("dtype":"F31")", "unknown dtype 'F31'");
  refused(R"("dtype":"f32")", "unknown dtype 'f32'");
  refused(R"("shape":3)", "shape must be an array of sizes, not 3");
  refused(R"("shape":"3")", "shape must be an array of sizes, not the string '3'");
  refused(R"("shape":[true])", "a size must be a whole number from 0 to 9223372036854775807, not");
  refused(R"("shape":[-3])", "a size must be a whole number from 0 to 9223372036854775807, not -3");
  refused(R"("shape":[-0])", "a size must be a whole number from 0 to 9223372036854775807, not -0");
  refused(R"("shape":[2.0])", "a size must be a whole number from 0");
  refused(R"("shape":[9223372036854775808])", "a size must be a whole number from 0");
  refused(R"("shape":[99999999999999999999])", "a size must be a whole number from 0");
  refused(R"("data_offsets":8)", "data_offsets must be an array of two positions, not 8");
  refused(R"("data_offsets":[0,-1])", "a position must be a whole number");
  refused(R"("data_offsets":[0,8,8])", "data_offsets holds more than two positions");
  refused(R"("data_offsets":[0])", "data_offsets must hold two positions, not 1");
  refused(R"("size":4)", "has an unknown key 'size'");
}

TEST(SafetensorsDamage, RefusesWrongMetadata) {
  const auto refused = [](const std::string& value, std::string_view message) {
    expectRefused(safetensorsBytes(R"({"__metadata__":)" + value + "}", ""), message);
  };
  refused("[]", "__metadata__: must be an object of strings, not an array");
  refused("null", "__metadata__: must be an object of strings, not null");
  refused(R"({"a":1})", "__metadata__ 'a': must be a string, not 1");
  refused(R"({"a":{}})", "__metadata__ 'a': must be a string, not an object");
  refused(R"({"a":"1","a":"2"})", "__metadata__ 'a': stands in the header twice");
  refused(R"({},"__metadata__":{})", "__metadata__: stands in the header twice");
}

TEST(SafetensorsDamage, RefusesNamesAndFieldsThatComeTwiceOrNever) {
  const std::string tensor = R"("w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  expectRefused(safetensorsBytes("{" + tensor + "," + tensor + "}", ""),
                "tensor 'w' stands in the header twice");
  expectRefused(safetensorsBytes(oneTensor(R"("dtype":"U8","dtype":"U8")"), ""),
                "tensor 'w': has dtype twice");
  expectRefused(safetensorsBytes(oneTensor(""), ""), "tensor 'w': lacks dtype");
  expectRefused(safetensorsBytes(oneTensor(R"("dtype":"U8","shape":[])"), "1"),
                "tensor 'w': lacks data_offsets");
  expectRefused(safetensorsBytes(oneTensor(R"("dtype":"U8","data_offsets":[0,1])"), "1"),
                "tensor 'w': lacks shape");
}

TEST(SafetensorsDamage, RefusesShapesThatDoNotFitTheOffsets) {
  const auto refused = [](std::string_view shape, std::string_view offsets,
                          std::string_view message) {
    const std::string fields =
        fmt::format(R"("dtype":"F32","shape":[{}],"data_offsets":[{}])", shape, offsets);
    expectRefused(safetensorsBytes(oneTensor(fields), "12345678"),
                  fmt::format("tensor 'w': {}", message));
  };
  refused("3", "0,8", "the shape (3) of F32 takes 12 bytes, but data_offsets span 8");
  refused("", "0,8", "the shape () of F32 takes 4 bytes, but data_offsets span 8");
  refused("2", "8,0", "data_offsets end at 0, before they begin at 8");
  refused("1000000000000", "0,8", "the shape (1000000000000) of F32 takes 4000000000000 bytes");
  refused("4294967296,4294967296", "0,0", "the shape (4294967296, 4294967296) is beyond any");
  refused("9223372036854775807", "0,8", "the shape (9223372036854775807) is beyond any memory");
  refused("0,4294967296,4294967296", "0,0", "the shape (0, 4294967296, 4294967296) is beyond");
  refused("4294967296,4294967296,0", "0,0", "the shape (4294967296, 4294967296, 0) is beyond");
  refused("1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2", "0,8",
          "has more than 32 dimensions");
}

// Two tensors of four bytes each, a at 0 and b at the given offset, over `size` bytes of data.
std::string twoTensors(std::size_t offset, std::size_t size) {
  const std::string header =
      fmt::format(R"({{"b":{{"dtype":"I32","shape":[],"data_offsets":[{},{}]}},)"
                  R"("a":{{"dtype":"I32","shape":[],"data_offsets":[0,4]}}}})",
                  offset, offset + 4);
  return safetensorsBytes(header, std::string(size, 'x'));
}

TEST(SafetensorsDamage, RefusesBytesThatAreSharedUnnamedOrMissing) {
  EXPECT_EQ(parsed(twoTensors(4, 8)).tensors().size(), 2U);
  expectRefused(twoTensors(3, 8),
                "tensor 'b': data_offsets begin at 3, but the bytes before end at 4: they overlap");
  expectRefused(twoTensors(0, 4), "tensor 'a': data_offsets begin at 0, but the bytes before end");
  expectRefused(twoTensors(6, 10),
                "tensor 'b': data_offsets begin at 6, but the bytes before end at 4: they leave a "
                "hole");
  expectRefused(twoTensors(4, 7), "ends early: its tensors take 8 bytes, 7 are there");
  expectRefused(twoTensors(4, 9), "holds 1 bytes behind its last tensor");
  expectRefused(safetensorsBytes("{}", "x"), "holds 1 bytes behind its last tensor");
  const std::string far = oneTensor(
      R"("dtype":"U8","shape":[1],"data_offsets":[18446744073709551614,18446744073709551615])");
  expectRefused(safetensorsBytes(far, "x"),
                "tensor 'w': data_offsets begin at 18446744073709551614");
}

TEST(SafetensorsDamage, RefusesEveryCut) {
  const std::string whole = twoTensors(4, 8);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW((void)parsed(whole.substr(0, size)), DataError) << size;
  }
}

}  // namespace
}  // namespace edgewise
