// Writes the stored corpus: small files, right and nearly right, from which the fuzzers start.
// Usage: make_corpus FOLDER
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "support/byte_writers.h"

namespace {

using namespace std::string_view_literals;
using edgewise::testing::arrayBytes;
using edgewise::testing::deflateStored;
using edgewise::testing::gzipBytes;
using edgewise::testing::legacyTorchBytes;
using edgewise::testing::npyBytes;
using edgewise::testing::PickleWriter;
using edgewise::testing::safetensorsBytes;
using edgewise::testing::Storages;
using edgewise::testing::zipBytes;
using edgewise::testing::ZipEntry;
using edgewise::testing::zipTorchBytes;

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void put(const char* target, const char* name, std::string_view bytes) const {
    std::filesystem::create_directories(folder_ / target);
    std::ofstream(folder_ / target / name, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path folder_;
};

void putArchives(const Corpus& corpus) {
  corpus.put("zip", "plain", zipBytes({{.name = "a", .content = "stored"}}));
  corpus.put("zip", "packed",
             zipBytes({{.name = "a", .content = "one", .deflate = true},
                       {.name = "b/../c", .content = "two", .zip64 = true}}));
  corpus.put("zip", "wrong_crc", zipBytes({{.name = "a", .content = "x", .crc_error = 1}}));
  corpus.put("zip", "empty", zipBytes({}));
  corpus.put("gzip", "member", "g  " + gzipBytes("hello hello"));
  corpus.put("gzip", "two_members", "g  " + gzipBytes("a") + gzipBytes("b"));
  corpus.put("gzip", "raw", std::string("r\x05\x00", 3) + deflateStored("hello"));
}

void putArrays(const Corpus& corpus) {
  const std::string matrix = npyBytes("<f4", "(2, 2)", arrayBytes<float>({1, 2, 3, 4}));
  corpus.put("npy", "matrix", matrix);
  corpus.put("npy", "columns", npyBytes(">i4", "(2, 1)", arrayBytes<std::int32_t>({1, 2}), true));
  corpus.put("npy", "half", npyBytes("<f2", "(1L,)", arrayBytes<std::uint16_t>({0x3C00})));
  corpus.put("npy", "too_large", npyBytes("<f8", "(99999999, 99999999)", "12345678"));
  corpus.put("npz", "dense", zipBytes({{.name = "x.npy", .content = matrix, .deflate = true}}));
  std::vector<ZipEntry> sparse = {
      {.name = "indptr.npy",
       .content = npyBytes("<i4", "(3,)", arrayBytes<std::int32_t>({0, 1, 2}))},
      {.name = "indices.npy", .content = npyBytes("<i4", "(2,)", arrayBytes<std::int32_t>({1, 0}))},
      {.name = "data.npy", .content = npyBytes("<f4", "(2,)", arrayBytes<float>({1, 2}))},
      {.name = "shape.npy", .content = npyBytes("<i8", "(2,)", arrayBytes<std::int64_t>({2, 2}))}};
  corpus.put("npz", "sparse", zipBytes(sparse));
  sparse.push_back({.name = "format.npy", .content = npyBytes("|S3", "()", "csr")});
  corpus.put("npz", "scipy", zipBytes(sparse));
}

void putPickles(const Corpus& corpus) {
  const std::array<std::int32_t, 2> shape = {1, 2};
  const std::array<std::int32_t, 2> strides = {2, 1};
  const std::string values = arrayBytes<std::int64_t>({1, 200});
  corpus.put("pickle", "array", PickleWriter().array("i8", shape, values).finish());
  corpus.put("pickle", "array_python2", PickleWriter().array("i8", shape, values, false).finish());
  corpus.put("pickle", "protocol0",
             "(dp0\nS'a\\x41'\np1\n(lp2\nI1\naL2L\naF1.5\nasV\\u00e9\nI01\ns.");
  corpus.put("pickle", "protocol4",
             "\x80\x04\x95\x09\0\0\0\0\0\0\0\x8c\x01x\x94]\x94(K\x01M\x02\x03"
             "e\x86\x94."sv);
  corpus.put("pickle", "forbidden", "cos\nsystem\n(S'true'\ntR.");
  corpus.put("pickle", "cycle", "]p0\ng0\na.");
  PickleWriter lists;
  lists.global("collections", "defaultdict").global("__builtin__", "list").op("\x85").op("R(");
  corpus.put("pickle", "lists", lists.integer(0).op("](").integer(5).op("eu").finish());
  PickleWriter sparse;
  sparse.global("scipy.sparse.csr", "csr_matrix").op(")\x81}(").bytes("data");
  sparse.array("f4", shape, arrayBytes<float>({1, 2}), false).op("ub");
  corpus.put("pickle", "sparse", sparse.finish());
  PickleWriter tensor;
  tensor.op("}").text("edge").tensor("LongStorage", "0", 2, shape, strides).op("s");
  corpus.put("pickle", "tensor", tensor.finish());
  PickleWriter dictionary;
  dictionary.op("}").text("edge").array("i8", shape, values).op("s");
  const Storages storages = {{"0", values}};
  corpus.put("torch_file", "legacy", legacyTorchBytes(tensor.finish(), storages));
  corpus.put("torch_file", "zip", zipTorchBytes(tensor.finish(), storages));
  corpus.put("torch_file", "legacy_numpy", legacyTorchBytes(dictionary.finish()));
  corpus.put("torch_file", "zip_numpy", zipTorchBytes(dictionary.finish()));
}

void putTensors(const Corpus& corpus) {
  const std::string matrix = R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]})";
  const std::string none = R"("\u00e9":{"dtype":"BF16","shape":[0,3],"data_offsets":[8,8]})";
  const std::string number = R"("n":{"dtype":"BOOL","shape":[],"data_offsets":[8,9]})";
  const std::string metadata = R"("__metadata__":{"format":"pt","a":"\"\n"})";
  const auto put = [&](const char* name, std::string_view header, std::string_view data) {
    corpus.put("safetensors", name, safetensorsBytes(header, data));
  };
  put("empty", "{}", "");
  put("matrix", "{" + matrix + "}   ", "12345678");
  put("mixed", "{" + metadata + "," + number + "," + none + "," + matrix + "}", "12345678\1");
  put("twice", "{" + matrix + "," + matrix + "}", "12345678");
  put("cut", "{" + matrix + "}", "1234");
  put("hole", R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "12");
  put("too_large", R"({"w":{"dtype":"I64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
      "");
  put("deep", R"({"w":{"shape":[[[[[[[[)", "");
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    return 2;
  }
  const Corpus corpus(arguments[1]);
  putArchives(corpus);
  putArrays(corpus);
  putPickles(corpus);
  putTensors(corpus);
  return 0;
}
