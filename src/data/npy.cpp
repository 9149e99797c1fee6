#include "edgewise/data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "data/byte_reader.h"
#include "data/feature_arrays.h"
#include "data/npy_header.h"
#include "data/printable.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"

namespace edgewise {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string memberName(std::string_view array) { return std::string(array) + std::string(kSuffix); }

NumberType numberType(const NpyHeader& header, const std::string& name) {
  const std::optional<NumberType> type = typeFromCode(header.type_code);
  if (!type) {
    throw DataError(fmt::format("{}: holds values of numpy type {}, not plain numbers", name,
                                printable(header.type_code)),
                    "store it as float32, float64 or an integer type of at most 64 bits");
  }
  return *type;
}

// The shape as written beside a sparse matrix.
std::pair<std::size_t, std::size_t> sparseShape(const NpzFile& file) {
  const NpyArray shape = file.read("shape");
  if (shape.size() != 2 || shape.integerAt(0) < 0 || shape.integerAt(1) < 0) {
    throw DataError(
        fmt::format("{}: a sparse matrix needs two sizes, none negative", shape.name()));
  }
  return {static_cast<std::size_t>(shape.integerAt(0)),
          static_cast<std::size_t>(shape.integerAt(1))};
}

FeatureMatrix sparseFromNpz(const NpzFile& file) {
  if (file.contains("format")) {
    const std::string format = file.readText("format");
    if (format != "csr") {
      throw DataError(FilePlace{file.path()},
                      fmt::format("holds a sparse matrix in format {}", printable(format)),
                      "save it by rows instead: scipy.sparse.save_npz(file, matrix.tocsr())");
    }
  }
  const auto [rows, columns] = sparseShape(file);
  return sparseFeatures({.offsets = file.read("indptr"),
                         .columns = file.read("indices"),
                         .values = file.read("data"),
                         .row_count = rows,
                         .column_count = columns});
}

}  // namespace

NpyArray readNpy(std::string_view bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  const NpyHeader header = readNpyHeader(reader);
  const NumberLayout layout{.type = numberType(header, name),
                            .shape = header.shape,
                            .strides = {},
                            .offset = 0,
                            .fortran = header.fortran_order,
                            .big_endian = header.big_endian};
  return NumberArray::fromBytes(reader.take(reader.left()), layout, name);
}

NpzFile::NpzFile(const std::filesystem::path& path) : NpzFile(readFile(path), path) {}

NpzFile::NpzFile(FileBytes bytes, std::filesystem::path path)
    : path_(std::move(path)),
      bytes_(std::make_unique<FileBytes>(std::move(bytes))),
      archive_(bytes_->view(), path_) {
  for (const std::string& member : archive_.names()) {
    if (member.ends_with(kSuffix)) {
      names_.push_back(member.substr(0, member.size() - kSuffix.size()));
    }
  }
}

bool NpzFile::contains(std::string_view name) const { return archive_.contains(memberName(name)); }

NpyArray NpzFile::read(std::string_view name) const {
  if (!contains(name)) {
    throw DataError(FilePlace{path_},
                    fmt::format("the archive has no array {}; it has: {}", printable(name),
                                printable(fmt::format("{}", fmt::join(names_, ", ")))));
  }
  const std::string member = memberName(name);
  const std::string label = fmt::format("{}[{}]", path_.string(), name);
  if (const std::optional<std::string_view> plain = archive_.stored(member)) {
    return readNpy(*plain, label);
  }
  return readNpy(archive_.read(member), label);
}

std::string NpzFile::readText(std::string_view name) const {
  const std::string bytes = archive_.read(memberName(name));
  ByteReader reader(bytes, path_);
  const NpyHeader header = readNpyHeader(reader);
  const std::string_view raw = reader.take(reader.left());
  const bool is_wide = header.type_code.starts_with('U');
  if (!header.shape.empty() || header.big_endian ||
      !(is_wide || header.type_code.starts_with('S'))) {
    return {};
  }
  // Wide strings hold four bytes a character; format names are ASCII, so the first byte tells.
  std::string text;
  for (std::size_t at = 0; at < raw.size() && raw[at] != '\0'; at += is_wide ? 4 : 1) {
    text += raw[at];
  }
  return text;
}

FeatureMatrix readFeaturesNpy(const std::filesystem::path& path) {
  const FileBytes bytes = readFile(path);
  return denseFeatures(readNpy(bytes.view(), path.string()));
}

FeatureMatrix readFeaturesNpz(const std::filesystem::path& path) {
  return featuresFromNpz(NpzFile(path));
}

FeatureMatrix featuresFromNpz(const NpzFile& file) {
  if (file.contains("format") ||
      (file.contains("indptr") && file.contains("indices") && file.contains("data"))) {
    return sparseFromNpz(file);
  }
  for (const std::string_view name : {"x", "features", "arr_0"}) {
    if (file.contains(name)) {
      return denseFeatures(file.read(name));
    }
  }
  std::optional<NpyArray> only;
  for (const std::string& name : file.names()) {
    NpyArray array = file.read(name);
    if (array.shape().size() != 2) {
      continue;
    }
    if (only) {
      throw DataError(FilePlace{file.path()},
                      fmt::format("both {} and {} could be the features", printable(only->name()),
                                  printable(array.name())),
                      "name the array of features x");
    }
    only = std::move(array);
  }
  if (!only) {
    throw DataError(FilePlace{file.path()}, "holds no two-dimensional array of features",
                    "store them as x (nodes x columns), or as indptr, indices, data and shape");
  }
  return denseFeatures(*only);
}

void writeNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
              std::span<const float> values) {
  if (elementCount(shape) != values.size()) {
    throw ShapeError(
        fmt::format("{} values do not fill the shape {}", values.size(), shapeText(shape)));
  }
  AtomicFile file(path);
  file.write(npyHeader("<f4", shape));
  file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  file.commit();
}

}  // namespace edgewise
