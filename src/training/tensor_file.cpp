#include "edgewise/training/tensor_file.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "edgewise/util/error.h"

namespace edgewise {

void writeTensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                  const std::map<std::string, std::string>& text) {
  std::vector<at::Tensor> kept;
  std::vector<TensorView> views;
  for (const NamedTensor& named : tensors) {
    const at::Tensor values = named.tensor.detach().cpu().contiguous();
    const bool wide = values.scalar_type() == at::kDouble;
    invariant(wide || values.scalar_type() == at::kFloat, "only floats and doubles are stored");
    views.push_back({.name = named.name,
                     .type = wide ? TensorType::kF64 : TensorType::kF32,
                     .shape = values.sizes().vec(),
                     .bytes = {static_cast<const std::byte*>(values.data_ptr()),
                               static_cast<std::size_t>(values.nbytes())}});
    kept.push_back(values);
  }
  writeSafetensors(path, views, text);
}

TensorFile TensorFile::read(const std::filesystem::path& path) {
  return TensorFile(SafetensorsFile::read(path));
}

at::Tensor TensorFile::tensor(const std::string& name,
                              const std::vector<std::int64_t>& shape) const {
  const TensorView& view = file_.at(name);
  if (view.shape != shape) {
    throw DataError(FilePlace{file_.path()},
                    fmt::format("tensor '{}' is [{}], this model needs [{}]", name,
                                fmt::join(view.shape, ", "), fmt::join(shape, ", ")),
                    "was the file made with other options?");
  }
  if (view.type != TensorType::kF32 && view.type != TensorType::kF64) {
    throw DataError(FilePlace{file_.path()},
                    fmt::format("tensor '{}' is {}, not F32 or F64", name, typeName(view.type)),
                    "was the file made by another program?");
  }
  at::Tensor values =
      at::empty(shape, at::TensorOptions(view.type == TensorType::kF64 ? at::kDouble : at::kFloat));
  if (!view.bytes.empty()) {
    std::memcpy(values.data_ptr(), view.bytes.data(), view.bytes.size());
  }
  return values;
}

const std::string& TensorFile::text(const std::string& name) const {
  const auto found = file_.metadata().find(name);
  if (found == file_.metadata().end()) {
    throw DataError(FilePlace{file_.path()}, fmt::format("lacks the text '{}'", name),
                    "was the file made by another program?");
  }
  return found->second;
}

}  // namespace edgewise
