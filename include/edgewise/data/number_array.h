// An n-dimensional array of numbers as numpy and torch files hold it, brought to one form: row by
// row, in this machine's byte order. Every binary reader hands its arrays on in this type; what the
// numbers mean is the caller's matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edgewise {

enum class NumberType : std::uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
};

// Bytes of one value: 1, 2, 4 or 8.
[[nodiscard]] std::size_t byteWidth(NumberType type);
// True for integers and booleans.
[[nodiscard]] bool isIntegral(NumberType type);
// numpy's short name ("i8", "f4", "b1") for a type, and back (nothing for any other text).
[[nodiscard]] std::string_view typeCode(NumberType type);
[[nodiscard]] std::optional<NumberType> typeFromCode(std::string_view code);

// The product of the sizes (1 for no dimensions at all), or nothing when it overflows.
[[nodiscard]] std::optional<std::size_t> elementCount(std::span<const std::size_t> shape);

// More dimensions than any array of data needs; a bound on what a file can make us keep for one.
inline constexpr std::size_t kMaxDimensions = 32;

// How the values of an array lie in its bytes.
struct NumberLayout {
  NumberType type = NumberType::kFloat32;
  std::vector<std::size_t> shape;
  // Steps between neighbours of each dimension, counted in values; empty: row by row.
  std::vector<std::size_t> strides;
  // Position of the first value, counted in values.
  std::size_t offset = 0;
  // Column by column, as Fortran does; only without strides.
  bool fortran = false;
  bool big_endian = false;
};

class NumberArray {
 public:
  // Zero values, shape (0).
  NumberArray() = default;
  // Copies the values out of `bytes`. `name` stands for the array in every later error. Throws
  // DataError, before it allocates anything, when the layout asks for more values than the bytes
  // hold or reaches outside them. Bytes that the layout does not reach are ignored.
  static NumberArray fromBytes(std::string_view bytes, const NumberLayout& layout,
                               std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] NumberType type() const { return type_; }
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  // Values in all.
  [[nodiscard]] std::size_t size() const { return bytes_.size() / byteWidth(type_); }

  // Value number `position` in row order; throws std::logic_error outside the array. An integer
  // asked of a fraction, a NaN, or a number beyond 64 signed bits is a DataError.
  [[nodiscard]] std::int64_t integerAt(std::size_t position) const;
  [[nodiscard]] double realAt(std::size_t position) const;

  // All values in row order, converted as above; a float64 too large for float32 becomes infinite.
  [[nodiscard]] std::vector<std::int64_t> integers() const;
  [[nodiscard]] std::vector<float> floats() const;

 private:
  std::string name_;
  NumberType type_ = NumberType::kFloat32;
  std::vector<std::size_t> shape_ = {0};
  std::string bytes_;
};

// "(3, 4)"
[[nodiscard]] std::string shapeText(std::span<const std::size_t> shape);

}  // namespace edgewise
