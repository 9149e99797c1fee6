#include "edgewise/data/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "data/byte_reader.h"
#include "data/printable.h"
#include "data/safetensors_header.h"
#include "edgewise/data/number_array.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

struct TypeRow {
  TensorType type;
  std::string_view name;
  std::size_t width;
};

constexpr std::array<TypeRow, 13> kTypes = {{
    {TensorType::kBool, "BOOL", 1},
    {TensorType::kU8, "U8", 1},
    {TensorType::kI8, "I8", 1},
    {TensorType::kU16, "U16", 2},
    {TensorType::kI16, "I16", 2},
    {TensorType::kF16, "F16", 2},
    {TensorType::kBF16, "BF16", 2},
    {TensorType::kU32, "U32", 4},
    {TensorType::kI32, "I32", 4},
    {TensorType::kF32, "F32", 4},
    {TensorType::kU64, "U64", 8},
    {TensorType::kI64, "I64", 8},
    {TensorType::kF64, "F64", 8},
}};

const TypeRow& rowOf(TensorType type) { return kTypes[static_cast<std::size_t>(type)]; }

constexpr std::string_view kCopyAgain = "copy or download the file again";

// The header's text; leaves the reader at the first byte of data.
std::string_view takeHeader(ByteReader& reader) {
  const auto fail = [&](const std::string& what, std::string_view hint) {
    throw DataError(FilePlace{reader.path()}, what, std::string(hint));
  };
  if (reader.left() == 0) {
    fail("is empty, not a safetensors file", kCopyAgain);
  }
  const auto size = reader.little<std::uint64_t>();
  if (size > kMaxSafetensorsHeader) {
    fail(fmt::format("is not a safetensors file: its first bytes claim a header of {} bytes, and "
                     "{} are the most",
                     size, kMaxSafetensorsHeader),
         "check the path; other formats must be converted first");
  }
  if (size > reader.left()) {
    fail(fmt::format("ends early: its header takes {} bytes, {} are there", size, reader.left()),
         kCopyAgain);
  }
  const std::string_view text = reader.take(size);
  if (!text.starts_with('{')) {
    fail("is not a safetensors file: its header does not begin with '{'",
         "check the path; other formats must be converted first");
  }
  return text;
}

// The tensors must follow one another without gaps and fill the data: bytes that two of them share,
// or none of them names, have no business in a file that was written whole.
void checkLayout(std::span<const TensorEntry> tensors, std::size_t data_size,
                 const std::filesystem::path& path) {
  std::vector<const TensorEntry*> order(tensors.size());
  std::ranges::transform(tensors, order.begin(), [](const auto& tensor) { return &tensor; });
  // An empty tensor may begin where the next one does; of two alike the header's later one is
  // named.
  std::ranges::sort(order, {}, [](const TensorEntry* tensor) {
    return std::tuple(tensor->begin, tensor->end, tensor);
  });
  std::uint64_t at = 0;
  for (const TensorEntry* tensor : order) {
    if (tensor->begin != at) {
      throw DataError(FilePlace{path},
                      fmt::format("tensor {}: data_offsets begin at {}, but the bytes before end "
                                  "at {}: they {}",
                                  printable(tensor->name), tensor->begin, at,
                                  tensor->begin < at ? "overlap" : "leave a hole"),
                      "write the file anew with a safetensors library");
    }
    at = tensor->end;
  }
  if (at > data_size) {
    throw DataError(
        FilePlace{path},
        fmt::format("ends early: its tensors take {} bytes, {} are there", at, data_size),
        std::string(kCopyAgain));
  }
  if (at < data_size) {
    throw DataError(FilePlace{path},
                    fmt::format("holds {} bytes behind its last tensor", data_size - at),
                    "the file was not written whole or something was appended; copy it again");
  }
}

TensorEntry checkedEntry(const TensorView& tensor, const std::filesystem::path& path) {
  if (tensor.name == kSafetensorsMetadata) {
    throw DataError(FilePlace{path},
                    fmt::format("cannot store a tensor named {}", kSafetensorsMetadata),
                    "the format keeps this name for itself; choose another");
  }
  const std::optional<std::uint64_t> size = tensorBytes(tensor.type, tensor.shape);
  if (!size) {
    throw ShapeError(
        fmt::format("tensor {}: the shape {} is negative, beyond any memory, or of "
                    "more than {} dimensions",
                    printable(tensor.name), shapeText(tensor.shape), kMaxDimensions));
  }
  if (*size != tensor.bytes.size()) {
    throw ShapeError(fmt::format("tensor {}: {} bytes do not fill the shape {} of {}",
                                 printable(tensor.name), tensor.bytes.size(),
                                 shapeText(tensor.shape), typeName(tensor.type)));
  }
  return {.name = tensor.name, .type = tensor.type, .shape = tensor.shape};
}

// Gives every tensor its offsets; returns the order in which their bytes follow one another: wide
// types first, so that a narrow one cannot push others off their alignment.
std::vector<std::size_t> place(std::vector<TensorEntry>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return byteWidth(tensors[i].type); });
  std::uint64_t at = 0;
  for (const std::size_t i : order) {
    tensors[i].begin = at;
    at += tensorBytes(tensors[i].type, tensors[i].shape).value_or(0);
    tensors[i].end = at;
  }
  return order;
}

// In pieces: the file copies what it is handed into its buffer, and a tensor may be as large as the
// memory that is left.
void writeBytes(AtomicFile& file, std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = 1 << 20;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, kPiece);
    file.write(piece);
    rest.remove_prefix(piece.size());
  }
}

}  // namespace

std::size_t byteWidth(TensorType type) { return rowOf(type).width; }
std::string_view typeName(TensorType type) { return rowOf(type).name; }

std::optional<TensorType> tensorTypeNamed(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &TypeRow::name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

SafetensorsFile SafetensorsFile::read(const std::filesystem::path& path) {
  // Mapped, not unpacked: a header's length may begin with the bytes that stand for gzip.
  return parse(FileBytes::map(path), path);
}

SafetensorsFile SafetensorsFile::parse(FileBytes bytes, std::filesystem::path path) {
  return {std::move(bytes), std::move(path)};
}

SafetensorsFile::SafetensorsFile(FileBytes bytes, std::filesystem::path path)
    : path_(std::move(path)), bytes_(std::make_unique<FileBytes>(std::move(bytes))) {
  ByteReader reader(bytes_->view(), path_);
  SafetensorsHeader header = parseSafetensorsHeader(takeHeader(reader), path_);
  const std::string_view data = reader.take(reader.left());
  by_name_ = positionsByName(header.tensors, path_);
  checkLayout(header.tensors, data.size(), path_);
  tensors_.reserve(header.tensors.size());
  for (TensorEntry& entry : header.tensors) {
    tensors_.push_back(
        {.name = std::move(entry.name),
         .type = entry.type,
         .shape = std::move(entry.shape),
         .bytes = std::as_bytes(std::span(data)).subspan(entry.begin, entry.end - entry.begin)});
  }
  metadata_ = std::move(header.metadata);
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto name_at = [&](std::size_t position) -> std::string_view {
    return tensors_[position].name;
  };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_at);
  return found != by_name_.end() && name_at(*found) == name ? &tensors_[*found] : nullptr;
}

const TensorView& SafetensorsFile::at(std::string_view name) const {
  if (const TensorView* tensor = find(name)) {
    return *tensor;
  }
  std::vector<std::string_view> names(by_name_.size());
  std::ranges::transform(by_name_, names.begin(),
                         [&](std::size_t i) { return std::string_view(tensors_[i].name); });
  throw DataError(FilePlace{path_},
                  fmt::format("holds no tensor {}; it holds: {}", printable(name),
                              printable(fmt::format("{}", fmt::join(names, ", ")))),
                  "check that this is the file that was meant");
}

void writeSafetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  for (const TensorView& tensor : tensors) {
    header.tensors.push_back(checkedEntry(tensor, path));
  }
  (void)positionsByName(header.tensors, path);
  const std::vector<std::size_t> order = place(header.tensors);
  const std::string text = safetensorsHeaderText(header, path);
  const auto size = static_cast<std::uint64_t>(text.size());
  AtomicFile file(path);
  writeBytes(file, std::as_bytes(std::span(&size, 1)));
  file.write(text);
  for (const std::size_t i : order) {
    writeBytes(file, tensors[i].bytes);
  }
  file.commit();
}

}  // namespace edgewise
