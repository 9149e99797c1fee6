#include "edgewise/data/pickle.h"

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
using testing::littleBytes;
using testing::PickleWriter;

void expectRefused(const std::string& bytes, std::string_view message) {
  expectFailure<DataError>([&] { (void)readPickle(bytes, "test.pkl"); }, message);
}

// The integer a pickle holds, or one that no test uses.
std::int64_t integerOf(const std::string& bytes) {
  const PickleDocument document = readPickle(bytes, "test.pkl");
  const auto* value = document.root().as<std::int64_t>();
  return value == nullptr ? -999 : *value;
}

std::string textOf(const std::string& bytes) {
  const PickleDocument document = readPickle(bytes, "test.pkl");
  return std::string(pickleText(document.root()));
}

TEST(ReadPickle, ReadsNumbersOfAllProtocols) {
  EXPECT_EQ(integerOf("I42\n."), 42);
  EXPECT_EQ(integerOf("L-42L\n."), -42);
  EXPECT_EQ(integerOf("K\xff."), 255);
  EXPECT_EQ(integerOf("M\x01\x02."), 513);
  EXPECT_EQ(integerOf("J\xfe\xff\xff\xff."), -2);
  EXPECT_EQ(integerOf(std::string("\x80\x02\x8a\x00.", 5)), 0);
  EXPECT_EQ(integerOf("\x80\x02\x8a\x01\xff."), -1);
  EXPECT_EQ(integerOf(std::string("\x80\x02\x8a\x02\xff\x00.", 7)), 255);
  EXPECT_EQ(integerOf(std::string("\x80\x02\x8b\x01\x00\x00\x00\x07.", 9)), 7);
  EXPECT_EQ(*readPickle("F-1.5\n.", "p").root().as<double>(), -1.5);
  EXPECT_EQ(*readPickle(std::string("G\x3f\xf8\0\0\0\0\0\0.", 10), "p").root().as<double>(), 1.5);
  EXPECT_TRUE(*readPickle("I01\n.", "p").root().as<bool>());
  EXPECT_FALSE(*readPickle("\x80\x02\x89.", "p").root().as<bool>());
  EXPECT_NE(readPickle("N.", "p").root().as<PickleNone>(), nullptr);
  EXPECT_NE(readPickle("\x80\x02\x8a\x09"
                       "123456789.",
                       "p")
                .root()
                .as<PickleBigInteger>(),
            nullptr);
}

TEST(ReadPickle, ReadsStringsOfAllProtocols) {
  EXPECT_EQ(textOf("S'a\\x41\\n\\'\\101'\n."), "aA\n'A");
  EXPECT_EQ(textOf("V\\u00e9\xe9\\U0001F600\n."), "\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(textOf("U\x02hi."), "hi");
  EXPECT_EQ(textOf(std::string("T\x02\0\0\0hi.", 8)), "hi");
  EXPECT_EQ(textOf(std::string("X\x02\0\0\0hi.", 8)), "hi");
  EXPECT_EQ(textOf("\x80\x04\x8c\x02hi\x94."), "hi");
  EXPECT_EQ(textOf(std::string("\x80\x04\x8e\x02\0\0\0\0\0\0\0hi.", 14)), "hi");
  expectRefused("S'a\\xZZ'\n.", "a string is malformed");
  expectRefused("S'a\n.", "a string is malformed");
  expectRefused("V\\u12\n.", "a string is malformed");
  expectRefused("V\\UFFFFFFFF\n.", "a string is malformed");
}

TEST(ReadPickle, BuildsContainers) {
  // {'a': [1, 2], 'b': (None, True)} by way of marks, appends and the memo.
  const std::string bytes = "(dp0\nS'a'\np1\n(lp2\nI1\naI2\nasS'b'\n(NI01\ntp3\ns.";
  const PickleDocument document = readPickle(bytes, "test.pkl");
  const auto* mapping = document.root().as<PickleMapping>();
  ASSERT_NE(mapping, nullptr);
  ASSERT_EQ(mapping->items.size(), 2U);
  const auto* list = findKey(*mapping, "a")->as<PickleSequence>();
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(*list->items[1]->as<std::int64_t>(), 2);
  EXPECT_EQ(findKey(*mapping, "b")->as<PickleSequence>()->items.size(), 2U);
  EXPECT_EQ(findKey(*mapping, "c"), nullptr);
  EXPECT_EQ(document.consumed(), bytes.size());
}

TEST(ReadPickle, LetsTheLastOfEqualKeysCount) {
  const PickleDocument document = readPickle("}S'a'\nI1\nsS'a'\nI2\ns.", "p");
  EXPECT_EQ(*findKey(*document.root().as<PickleMapping>(), "a")->as<std::int64_t>(), 2);
}

TEST(ReadPickle, ReadsADefaultDictOfLists) {
  PickleWriter pickle;
  pickle.global("collections", "defaultdict").global("__builtin__", "list").op("\x85").op("R");
  pickle.integer(0).op("](").integer(5).integer(6).op("es");
  const std::string bytes = pickle.finish();
  const PickleDocument document = readPickle(bytes, "p");
  const auto* mapping = document.root().as<PickleMapping>();
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(mapping->items.at(0).second->as<PickleSequence>()->items.size(), 2U);
}

TEST(ReadPickle, ReadsNumpyArraysOfBothPythons) {
  const std::array<std::int32_t, 2> shape = {2, 2};
  for (const bool python3 : {false, true}) {
    const std::string bytes =
        PickleWriter()
            .array("i8", shape, arrayBytes<std::int64_t>({1, 200, -3, 4}), python3)
            .finish();
    const PickleDocument document = readPickle(bytes, "p");
    const NumberArray array = pickledArray(document.root(), "p");
    EXPECT_THAT(array.shape(), ElementsAre(2, 2));
    EXPECT_THAT(array.integers(), ElementsAre(1, 200, -3, 4));
  }
  const std::string fortran =
      PickleWriter().array("f4", shape, arrayBytes<float>({1, 3, 2, 4}), true, true).finish();
  const PickleDocument document = readPickle(fortran, "p");
  EXPECT_THAT(pickledArray(document.root(), "p").floats(), ElementsAre(1, 2, 3, 4));
}

TEST(ReadPickle, ReadsNumpyNumbers) {
  PickleWriter pickle;
  pickle.global("numpy.core.multiarray", "scalar");
  pickle.global("numpy", "dtype").text("i8").integer(0).integer(1).op("\x87").op("R");
  pickle.op("(").integer(3).text(">").op("NNN").integer(-1).integer(-1).integer(0).op("tb");
  pickle.bytes(std::string("\0\0\0\0\0\0\1\2", 8)).op("\x86").op("R");
  EXPECT_EQ(integerOf(pickle.finish()), 258);
}

TEST(ReadPickle, RefusesArraysThatLie) {
  const auto array_error = [](std::initializer_list<std::int32_t> shape, std::string_view message) {
    const std::vector<std::int32_t> sizes(shape);
    const std::string bytes = PickleWriter().array("i8", sizes, std::string(32, '\0')).finish();
    expectFailure<DataError>(
        [&] {
          const PickleDocument document = readPickle(bytes, "p");
          (void)pickledArray(document.root(), "p");
        },
        message);
  };
  array_error({5}, "32 bytes do not fill an array of shape (5)");
  array_error({2147483647, 2147483647, 2147483647}, "do not fill");
  array_error({-1}, "is not a whole number from 0 up");
  const PickleDocument number = readPickle("I1\n.", "p");
  expectFailure<DataError>([&] { (void)pickledArray(number.root(), "p"); }, "is not a numpy array");
}

TEST(ReadPickle, NamesForbiddenClasses) {
  expectRefused("cos\nsystem\n(S'echo hello'\ntR.", "the pickle asks for 'os.system'");
  expectRefused("cbuiltins\neval\n(S'1'\ntR.", "the pickle asks for 'builtins.eval'");
  expectRefused("\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.", "'posix.system'");
  expectRefused("(S'echo hello'\nios\nsystem\n.", "makes an instance of 'os.system'");
  expectRefused("c__builtin__\ngetattr\n.", "'__builtin__.getattr'");
  expectRefused("cnumpy\nload\n.", "'numpy.load'");
  expectRefused("cscipy.sparse.csc\ncsc_matrix\n.", "'scipy.sparse.csc.csc_matrix'");
  expectRefused(std::string("cos\x1b[31m\nx\n."), "'os?[31m.x'");
}

TEST(ReadPickle, RefusesOperationsThatRunCode) {
  expectRefused("(cnumpy\nndarray\nNo.", "operation 0x6f is unknown or not allowed");
  expectRefused("\x80\x02\x82\x01.", "operation 0x82");
  expectRefused("Pname\n.", "operation 0x50");
  expectRefused("cnumpy\nndarray\n)R.", "calls a name that is no function");
  expectRefused("cnumpy\nndarray\n)\x81.", "a class that is not a container");
  expectRefused("I1\n)R.", "a call has no function");
  expectRefused("c_codecs\nencode\n(Va\nVrot13\ntR.", "in codec 'rot13'");
  expectRefused("]N\x62.", "sets the state of something that has none");
}

TEST(ReadPickle, RefusesTruncationAtEveryByte) {
  const std::array<std::int32_t, 1> shape = {2};
  PickleWriter pickle;
  pickle.op("}").text("edge").array("i8", shape, arrayBytes<std::int64_t>({1, 200})).op("s");
  const std::string whole = pickle.finish();
  (void)readPickle(whole, "p");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_THROW((void)readPickle(part, "p"), DataError) << size;
  }
}

TEST(ReadPickle, RefusesBrokenStacks) {
  expectRefused(".", "a value is missing on the stack");
  expectRefused("t.", "a mark is missing");
  expectRefused("(.", "a value is missing");
  expectRefused("N(a.", "a value is missing");
  expectRefused("NNa.", "a list was expected");
  expectRefused("}(Nu.", "a key has no value");
  expectRefused("h\x07.", "memo number 7 was never stored");
  expectRefused("Nr\xff\xff\xff\x7f.", "is impossible");
  expectRefused("Np-1\n.", "is not a memo number");
  expectRefused("\x80\x09.", "the pickle has protocol 9");
  expectRefused(
      "X\xff\xff\xff\x7f"
      "ab.",
      "ends early");
  expectRefused(std::string(20000, '('), "nested too deeply");
}

TEST(ReadPickle, SurvivesCyclesAndDeepNesting) {
  // A list that holds itself.
  const PickleDocument cycle = readPickle("]p0\ng0\na.", "p");
  EXPECT_EQ(cycle.root().as<PickleSequence>()->items.front(), &cycle.root());
  const std::string deep = std::string(200000, ']') + std::string(199999, 'a') + ".";
  EXPECT_EQ(readPickle(deep, "p").root().as<PickleSequence>()->items.size(), 1U);
}

TEST(ReadPickle, DoesNotRecodeTheSameTextWithoutEnd) {
  PickleWriter pickle;
  pickle.text(std::string(1000, 'a')).op("q\x01").text("latin1").op("\x86").op("q\x02").op("0");
  for (int i = 0; i < 100; ++i) {
    pickle.global("_codecs", "encode").op("h\x02").op("R0");
  }
  expectRefused(pickle.op("N").finish(), "recodes the same text again and again");
}

TEST(ReadPickle, StaysPutWhenMoved) {
  PickleDocument first = readPickle("](I1\nI2\ne.", "p");
  const PickleDocument second = std::move(first);
  EXPECT_EQ(*second.root().as<PickleSequence>()->items[1]->as<std::int64_t>(), 2);
}

}  // namespace
}  // namespace edgewise
