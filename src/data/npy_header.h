// The header of an .npy file: a magic number, a length, and a Python dictionary literal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_reader.h"

namespace edgewise {

struct NpyHeader {
  // Without the byte order: "f4", "U3", ...
  std::string type_code;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// Leaves the reader at the first byte of data. Throws DataError.
[[nodiscard]] NpyHeader readNpyHeader(ByteReader& reader);

// The header of format version 1 for row order, padded as numpy does.
[[nodiscard]] std::string npyHeader(std::string_view descr, std::span<const std::size_t> shape);

}  // namespace edgewise
