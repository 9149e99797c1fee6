// Several arrays in one .npz file, as numpy.load opens it: a zip of .npy members, stored as they
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/util/atomic_file.h"

namespace edgewise {

class NpzWriter {
 public:
  // The file appears, whole, at `close`.
  explicit NpzWriter(std::filesystem::path path);

  // Float32 values, row by row. Throws ShapeError when they do not fill the shape, ResourceError
  // beyond the 4 GiB that a plain zip can hold.
  void add(const std::string& name, std::span<const std::size_t> shape,
           std::span<const float> values);
  // A one-dimensional array of text, UTF-8 here, numpy's own characters there; what is no UTF-8 is
  // taken byte by byte.
  void add(const std::string& name, std::span<const std::string> texts);
  // Call once, last.
  void close();

 private:
  void addMember(const std::string& name, std::string_view header, std::string_view body);

  std::filesystem::path path_;
  AtomicFile file_;
  std::string directory_;
  std::uint64_t written_ = 0;
  std::uint16_t members_ = 0;
};

}  // namespace edgewise
