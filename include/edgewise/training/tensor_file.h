// Tensors and text in a safetensors file.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "edgewise/data/safetensors.h"

namespace edgewise {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// Float or double tensors of any shape. The file appears whole or not at all.
void writeTensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                  const std::map<std::string, std::string>& text);

class TensorFile {
 public:
  // Throws DataError when damaged.
  static TensorFile read(const std::filesystem::path& path);

  [[nodiscard]] bool has(const std::string& name) const { return file_.find(name) != nullptr; }
  // A copy. Throws DataError when missing, of another shape, or neither float nor double.
  [[nodiscard]] at::Tensor tensor(const std::string& name,
                                  const std::vector<std::int64_t>& shape) const;
  // Throws DataError when missing.
  [[nodiscard]] const std::string& text(const std::string& name) const;

 private:
  explicit TensorFile(SafetensorsFile file) : file_(std::move(file)) {}
  SafetensorsFile file_;
};

}  // namespace edgewise
