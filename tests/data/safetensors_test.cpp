#include "edgewise/data/safetensors.h"

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
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::safetensorsBytes;
using testing::TempFolder;

SafetensorsFile parsed(std::string bytes) {
  return SafetensorsFile::parse(FileBytes::own(std::move(bytes)), "model.safetensors");
}

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string fileText(const std::filesystem::path& path) {
  return std::string(FileBytes::map(path).view());
}

// A view of text that outlives it.
TensorView view(std::string name, TensorType type, std::vector<std::int64_t> shape,
                std::string_view bytes) {
  return {.name = std::move(name),
          .type = type,
          .shape = std::move(shape),
          .bytes = std::as_bytes(std::span(bytes))};
}

const std::string kPairHeader = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

// The layout of Python's writer: wide types first, the header padded to a multiple of 8 bytes.
const std::string kPythonHeader =
    R"({"__metadata__":{"format":"pt"},)"
    R"("ids":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
    R"("layer.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[16,24]},)"
    R"("none":{"dtype":"F16","shape":[0,3],"data_offsets":[24,24]},)"
    R"("flag":{"dtype":"BOOL","shape":[],"data_offsets":[24,25]}}      )";

TEST(SafetensorsFile, ReadsWhatPythonWrites) {
  ASSERT_EQ(kPythonHeader.size() % 8, 0U);
  const std::string data = arrayBytes<std::int64_t>({7, -8}) + arrayBytes<float>({1.5F, -2}) + "\1";
  const SafetensorsFile file = parsed(safetensorsBytes(kPythonHeader, data));
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("format", "pt")));
  ASSERT_EQ(file.tensors().size(), 4U);
  const TensorView& weight = file.tensors()[1];
  EXPECT_EQ(weight.name, "layer.weight");
  EXPECT_EQ(weight.type, TensorType::kF32);
  EXPECT_THAT(weight.shape, ElementsAre(1, 2));
  EXPECT_EQ(textOf(weight.bytes), arrayBytes<float>({1.5F, -2}));
  EXPECT_EQ(textOf(file.at("ids").bytes), arrayBytes<std::int64_t>({7, -8}));
  EXPECT_THAT(file.at("none").shape, ElementsAre(0, 3));
  EXPECT_THAT(file.at("none").bytes, IsEmpty());
  EXPECT_THAT(file.at("flag").shape, IsEmpty());
  EXPECT_EQ(textOf(file.at("flag").bytes), "\1");
}

TEST(SafetensorsFile, FindsTensorsByName) {
  const SafetensorsFile file =
      parsed(safetensorsBytes(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                              R"("a":{"data_offsets":[0,1],"shape":[1],"dtype":"I8"}})",
                              "xy"));
  EXPECT_EQ(file.find("a"), &file.tensors()[1]);
  EXPECT_EQ(textOf(file.at("b").bytes), "y");
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_EQ(file.find(""), nullptr);
  expectFailure<DataError>([&] { (void)file.at("c"); },
                           "model.safetensors: holds no tensor 'c'; it holds: 'a, b'");
}

TEST(SafetensorsFile, StaysValidWhenMoved) {
  SafetensorsFile first = parsed(safetensorsBytes(kPairHeader, "12345678"));
  const SafetensorsFile second = std::move(first);
  EXPECT_EQ(textOf(second.at("w").bytes), "12345678");
}

TEST(SafetensorsFile, ReadsAFileWithoutTensors) {
  EXPECT_THAT(parsed(safetensorsBytes("{}", "")).tensors(), IsEmpty());
  const SafetensorsFile file = parsed(safetensorsBytes(R"({"__metadata__":{}}  )", ""));
  EXPECT_THAT(file.metadata(), IsEmpty());
  EXPECT_EQ(file.find("__metadata__"), nullptr);
}

TEST(SafetensorsFile, TakesALengthThatLooksLikeGzip) {
  // 0x8B1F, little-endian, is gzip's magic number.
  const TempFolder folder;
  std::string header = kPairHeader;
  header.append(0x8B1F - header.size(), ' ');
  const auto path = folder.write("m.safetensors", safetensorsBytes(header, "12345678"));
  EXPECT_EQ(textOf(SafetensorsFile::read(path).at("w").bytes), "12345678");
}

TEST(SafetensorsFile, NamesAMissingFile) {
  const TempFolder folder;
  expectFailure<DataError>([&] { (void)SafetensorsFile::read(folder.path() / "no.safetensors"); },
                           "no.safetensors: no such file");
}

constexpr std::array kAllTypes = {
    TensorType::kBool, TensorType::kU8,   TensorType::kI8,  TensorType::kU16, TensorType::kI16,
    TensorType::kF16,  TensorType::kBF16, TensorType::kU32, TensorType::kI32, TensorType::kF32,
    TensorType::kU64,  TensorType::kI64,  TensorType::kF64};

TEST(TensorType, IsNamedAsTheFormatNamesIt) {
  for (const TensorType type : kAllTypes) {
    EXPECT_EQ(tensorTypeNamed(typeName(type)), type);
  }
  EXPECT_EQ(typeName(TensorType::kBF16), "BF16");
  EXPECT_EQ(byteWidth(TensorType::kBF16), 2U);
  EXPECT_EQ(typeName(TensorType::kF64), "F64");
  EXPECT_EQ(byteWidth(TensorType::kF64), 8U);
  EXPECT_EQ(tensorTypeNamed("F8_E5M2"), std::nullopt);
}

// Three tensors of each type: a number, no numbers, and 1 x 3 of them; names beyond ASCII.
std::vector<TensorView> tensorsOfAllTypes() {
  static const std::string bytes = "abcdefghijklmnopqrstuvwxyz";
  std::vector<TensorView> tensors;
  for (const TensorType type : kAllTypes) {
    const std::size_t width = byteWidth(type);
    const std::string name(typeName(type));
    const std::string_view source = std::string_view(bytes).substr(tensors.size() % 3);
    tensors.push_back(view(name, type, {}, source.substr(0, width)));
    tensors.push_back(view(name + " \u03b2\U0001F517\"\\\n", type, {0, 3}, ""));
    tensors.push_back(view(name + ".w", type, {1, 3}, source.substr(0, 3 * width)));
  }
  return tensors;
}

TEST(WriteSafetensors, IsReadBackAlikeInAlignedPlaces) {
  const TempFolder folder;
  const auto path = folder.path() / "sub" / "m.safetensors";
  const std::vector<TensorView> tensors = tensorsOfAllTypes();
  const std::map<std::string, std::string> metadata = {{"", ""}, {"k\u00e9y", "\"v\"\t\u4e2d"}};
  writeSafetensors(path, tensors, metadata);
  const SafetensorsFile file = SafetensorsFile::read(path);
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& back = file.tensors()[i];
    SCOPED_TRACE(back.name);
    EXPECT_EQ(back.name, tensors[i].name);
    EXPECT_EQ(back.type, tensors[i].type);
    EXPECT_EQ(back.shape, tensors[i].shape);
    EXPECT_EQ(textOf(back.bytes), textOf(tensors[i].bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(back.bytes.data()) % byteWidth(back.type), 0U);
  }
}

TEST(WriteSafetensors, WritesTheseBytes) {
  const TempFolder folder;
  const auto path = folder.path() / "m.safetensors";
  const std::array tensors = {view("mask", TensorType::kBool, {3}, "\1\1\1"),
                              view("w", TensorType::kF32, {1, 1}, "1234")};
  writeSafetensors(path, tensors, {{"format", "pt"}, {"by", "us"}});
  std::string header = R"({"__metadata__":{"by":"us","format":"pt"},)"
                       R"("mask":{"dtype":"BOOL","shape":[3],"data_offsets":[4,7]},)"
                       R"("w":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})";
  header.append(184 - header.size(), ' ');
  EXPECT_EQ(fileText(path), safetensorsBytes(header, "1234\1\1\1"));
}

TEST(WriteSafetensors, GivesTheSameBytesForTheSameInput) {
  const TempFolder folder;
  const std::map<std::string, std::string> metadata = {{"a", "1"}, {"b", "2"}};
  writeSafetensors(folder.path() / "1", tensorsOfAllTypes(), metadata);
  writeSafetensors(folder.path() / "2", tensorsOfAllTypes(), metadata);
  EXPECT_EQ(fileText(folder.path() / "1"), fileText(folder.path() / "2"));
  // Also when it is written over the file that its views look into.
  const SafetensorsFile file = SafetensorsFile::read(folder.path() / "2");
  writeSafetensors(folder.path() / "2", file.tensors(), file.metadata());
  EXPECT_EQ(fileText(folder.path() / "1"), fileText(folder.path() / "2"));
}

TEST(WriteSafetensors, WritesTensorsLargerThanItsBuffer) {
  const TempFolder folder;
  const auto path = folder.path() / "m.safetensors";
  std::string bytes(std::size_t{5} << 19, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(i % 251);
  }
  const std::array tensors = {
      view("w", TensorType::kU8, {static_cast<std::int64_t>(bytes.size())}, bytes)};
  writeSafetensors(path, tensors);
  EXPECT_EQ(textOf(SafetensorsFile::read(path).at("w").bytes), bytes);
}

TEST(WriteSafetensors, WritesNoTensorsAtAll) {
  const TempFolder folder;
  writeSafetensors(folder.path() / "m.safetensors", {});
  EXPECT_EQ(fileText(folder.path() / "m.safetensors"),
            safetensorsBytes("{}" + std::string(54, ' '), ""));
}

TEST(WriteSafetensors, RefusesWhatItCouldNotReadBack) {
  const TempFolder folder;
  const auto path = folder.path() / "m.safetensors";
  const auto write = [&](std::vector<TensorView> tensors,
                         const std::map<std::string, std::string>& metadata = {}) {
    return [=] { writeSafetensors(path, tensors, metadata); };
  };
  expectFailure<ShapeError>(write({view("w", TensorType::kF32, {2}, "1234")}),
                            "tensor 'w': 4 bytes do not fill the shape (2) of F32");
  expectFailure<ShapeError>(write({view("w", TensorType::kF32, {-1, -1}, "1234")}),
                            "tensor 'w': the shape (-1, -1) is negative, beyond any memory, or");
  expectFailure<ShapeError>(
      write({view("w", TensorType::kU8, std::vector<std::int64_t>(33, 1), "1")}),
      "of more than 32 dimensions");
  const TensorView byte = view("w", TensorType::kU8, {}, "1");
  expectFailure<DataError>(write({byte, byte}), "tensor 'w' stands in the header twice");
  expectFailure<DataError>(write({view("__metadata__", TensorType::kU8, {}, "1")}),
                           "cannot store a tensor named __metadata__");
  expectFailure<DataError>(write({view("\xFF", TensorType::kU8, {}, "1")}),
                           "cannot store '?': not UTF-8");
  expectFailure<DataError>(write({byte}, {{"key", "\xC3"}}), "cannot store '?': not UTF-8");
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace edgewise
