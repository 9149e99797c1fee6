// numpy's own files: .npy (one array) and .npz (a zip of them), and node features stored in either.
// Headers are parsed by a reader of just the literals they may hold; arrays of Python objects are
// refused.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/data/number_array.h"
#include "edgewise/data/zip_archive.h"
#include "edgewise/util/file.h"

namespace edgewise {

using NpyArray = NumberArray;

// Parses a whole .npy file, format versions 1 to 3, either byte order, row or column order. `name`
// stands for the array in errors. Throws DataError for a damaged header, a type that is not a plain
// number, or a shape larger than the data, without allocating for it.
[[nodiscard]] NpyArray readNpy(std::string_view bytes, const std::string& name);

// An .npz archive; arrays are unpacked when asked for.
class NpzFile {
 public:
  explicit NpzFile(const std::filesystem::path& path);
  // For bytes in memory already.
  NpzFile(FileBytes bytes, std::filesystem::path path);

  // Names of the arrays, without ".npy", in the archive's order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool contains(std::string_view name) const;
  // Throws DataError when there is no such array, or it cannot be read.
  [[nodiscard]] NpyArray read(std::string_view name) const;
  // The text of a zero-dimensional string array (scipy's "format"); empty when it is none.
  [[nodiscard]] std::string readText(std::string_view name) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  // Behind a pointer because the archive looks into the bytes, which must not move.
  std::unique_ptr<FileBytes> bytes_;
  ZipArchive archive_;
  std::vector<std::string> names_;
};

// Features from a two-dimensional array, one row a node. Throws DataError for any other shape, and
// for a NaN or an infinity, naming its row and column.
[[nodiscard]] FeatureMatrix readFeaturesNpy(const std::filesystem::path& path);

// Features from an archive: compressed sparse rows when it holds `indptr`, `indices` and `data`
// (with `shape`; scipy.sparse.save_npz writes these, and its `format` must be csr), else the array
// named x, features or arr_0, else the only two-dimensional array there is.
[[nodiscard]] FeatureMatrix readFeaturesNpz(const std::filesystem::path& path);
[[nodiscard]] FeatureMatrix featuresFromNpz(const NpzFile& file);

// Writes float32 values, row by row, as an .npy file. Throws ShapeError when the values do not fill
// the shape.
void writeNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
              std::span<const float> values);

}  // namespace edgewise
