// Tensors in the public safetensors format, which Python's libraries read and write: eight bytes of
// header length, a JSON header with type, shape and place of each tensor, then the bytes of all of
// them without gaps. Nothing in it can run code, and reading copies nothing: a file is mapped and
// its tensors are looked at where they lie.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/util/file.h"

namespace edgewise {

// The format is little-endian, and views hand on its bytes as they stand.
static_assert(std::endian::native == std::endian::little, "safetensors assume little endian");

// The numbers a tensor may hold. Of the format's types, complex numbers and floats of less than 16
// bits are left out.
enum class TensorType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kU16,
  kI16,
  kF16,
  kBF16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64,
};

// Bytes of one value: 1, 2, 4 or 8.
[[nodiscard]] std::size_t byteWidth(TensorType type);
// The format's name for a type ("F32", "BOOL"), and back (nothing for any other text).
[[nodiscard]] std::string_view typeName(TensorType type);
[[nodiscard]] std::optional<TensorType> tensorTypeNamed(std::string_view name);

// One tensor whose bytes belong to someone else: values row by row, little-endian. No sizes at all
// is a single number; a size of 0 means no bytes.
struct TensorView {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

// A file that was checked from end to end: the bytes of every tensor are there and fill its shape,
// and the product of its sizes, those of 0 left out, fits 64 signed bits. Movable, not copyable.
class SafetensorsFile {
 public:
  // Maps the file; gzip is not unpacked. Throws DataError for a file that cannot be read or breaks
  // any rule of the format, without allocating more than its header's size calls for.
  [[nodiscard]] static SafetensorsFile read(const std::filesystem::path& path);
  // For bytes in memory already; `path` names them in errors.
  [[nodiscard]] static SafetensorsFile parse(FileBytes bytes, std::filesystem::path path);

  // In the header's order. The bytes live as long as this object. Files by other programs may place
  // them at addresses that do not suit their type, and a boolean may be any byte: copy them out
  // instead of casting the pointer.
  [[nodiscard]] std::span<const TensorView> tensors() const { return tensors_; }
  // Null when there is no such tensor.
  [[nodiscard]] const TensorView* find(std::string_view name) const;
  // Throws DataError, naming file and tensor, when there is none.
  [[nodiscard]] const TensorView& at(std::string_view name) const;
  // Free text that came along; often empty.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  SafetensorsFile(FileBytes bytes, std::filesystem::path path);

  std::filesystem::path path_;
  // Behind a pointer because the tensors look into the bytes, which must not move.
  std::unique_ptr<FileBytes> bytes_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
  // Positions in tensors_, sorted by name.
  std::vector<std::size_t> by_name_;
};

// Writes a file whose header lists the tensors in the given order; the same input gives the same
// bytes. The data starts at a multiple of 64 bytes and holds wide types before narrow ones, so that
// every tensor of a mapped file is aligned for its type, as readers that copy nothing need. The
// file may be the one that the views look into. Throws ShapeError when bytes do not fill a shape,
// and DataError for two tensors of one name, a tensor named __metadata__, text that is not UTF-8,
// or a header beyond the format's 100 MB.
void writeSafetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace edgewise
