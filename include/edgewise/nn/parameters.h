// The learned numbers of a model. Parts of a model declare what they need in a layout and keep the
// ids; the numbers themselves live in one flat buffer and are handed to every call. So the same
// model can be evaluated at several points (a virtual step, a perturbation) without copying itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edgewise {

enum class ParameterId : std::uint32_t {};

// How a parameter starts.
struct Initial {
  enum class Kind : std::uint8_t { kConstant, kUniform, kNormal, kOrthogonal };
  Kind kind = Kind::kConstant;
  // The constant, the bound of uniform(-size, size), or the standard deviation.
  double size = 0;

  static Initial constant(double value) { return {Kind::kConstant, value}; }
  // Glorot's uniform: bound sqrt(6 / (in + out)).
  static Initial glorot(std::int64_t in, std::int64_t out);
  // Uniform within 1 / sqrt(in), as torch's Linear starts its weights and biases.
  static Initial fanIn(std::int64_t in);
  static Initial normal(double deviation) { return {Kind::kNormal, deviation}; }
  // A matrix whose columns, or rows where they are fewer, are orthogonal to each other and of
  // length 1.
  static Initial orthogonal() { return {Kind::kOrthogonal, 1}; }
};

class ParameterLayout {
 public:
  // Names must differ; dots group them ("encoder.0.weight").
  ParameterId add(std::string name, std::vector<std::int64_t> shape, Initial initial);

  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
    Initial initial;
    std::int64_t offset = 0;
    std::int64_t size = 0;
  };
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] std::int64_t totalSize() const;

 private:
  std::vector<Entry> entries_;
};

// Values for one layout. Move-only: copies are asked for by `clone`.
class Parameters {
 public:
  Parameters() = default;
  // Starting values; each parameter's depend on the seed and its name alone.
  static Parameters initial(const ParameterLayout& layout, std::uint64_t seed,
                            at::ScalarType type = at::kFloat, at::Device device = at::kCPU);
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;
  Parameters(Parameters&&) noexcept = default;
  Parameters& operator=(Parameters&&) noexcept = default;
  ~Parameters() = default;

  // Equal values on a device.
  [[nodiscard]] Parameters to(at::Device device) const;
  // Equal values in other memory.
  [[nodiscard]] Parameters clone() const;

  // A leaf tensor that gradients can be asked for.
  [[nodiscard]] const at::Tensor& operator[](ParameterId id) const {
    return tensors_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::span<const at::Tensor> tensors() const { return tensors_; }
  // All values one after another, [total], sharing memory and without a gradient: writing here
  // changes the parameters.
  [[nodiscard]] const at::Tensor& flat() const { return flat_; }
  [[nodiscard]] std::int64_t size() const { return flat_.defined() ? flat_.numel() : 0; }

 private:
  void cut(std::span<const std::vector<std::int64_t>> shapes);

  at::Tensor flat_;
  std::vector<at::Tensor> tensors_;
};

}  // namespace edgewise
