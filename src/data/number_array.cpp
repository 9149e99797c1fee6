#include "edgewise/data/number_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/byte_reader.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

struct TypeRow {
  NumberType type;
  std::string_view code;
  std::size_t width;
};

constexpr std::array<TypeRow, 12> kTypes = {{
    {NumberType::kBool, "b1", 1},
    {NumberType::kInt8, "i1", 1},
    {NumberType::kInt16, "i2", 2},
    {NumberType::kInt32, "i4", 4},
    {NumberType::kInt64, "i8", 8},
    {NumberType::kUint8, "u1", 1},
    {NumberType::kUint16, "u2", 2},
    {NumberType::kUint32, "u4", 4},
    {NumberType::kUint64, "u8", 8},
    {NumberType::kFloat16, "f2", 2},
    {NumberType::kFloat32, "f4", 4},
    {NumberType::kFloat64, "f8", 8},
}};

const TypeRow& rowOf(NumberType type) { return kTypes[static_cast<std::size_t>(type)]; }

// IEEE half precision: 1 sign bit, 5 exponent bits, 10 fraction bits.
double halfToReal(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = 0;
  if (exponent == 0x1F) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

// The strides in values of an array stored column by column. Only for shapes whose product fits.
std::vector<std::size_t> fortranStrides(std::span<const std::size_t> shape) {
  std::vector<std::size_t> strides(shape.size());
  std::size_t step = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

// One past the furthest value a non-empty layout reaches, or nothing when that overflows.
std::optional<std::size_t> reach(std::span<const std::size_t> shape,
                                 std::span<const std::size_t> strides, std::size_t offset) {
  std::size_t last = offset;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::size_t span = 0;
    if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &span) ||
        __builtin_add_overflow(last, span, &last)) {
      return std::nullopt;
    }
  }
  std::size_t end = 0;
  return __builtin_add_overflow(last, 1, &end) ? std::nullopt : std::optional(end);
}

// Copies value by value in row order: an odometer over the dimensions, the last one fastest.
void gather(std::string_view bytes, const NumberLayout& layout,
            std::span<const std::size_t> strides, std::string& output) {
  const std::size_t width = byteWidth(layout.type);
  std::vector<std::size_t> at(layout.shape.size(), 0);
  std::size_t source = layout.offset;
  for (std::size_t target = 0; target < output.size(); target += width) {
    std::memcpy(output.data() + target, bytes.data() + source * width, width);
    for (std::size_t axis = at.size(); axis-- > 0;) {
      source += strides[axis];
      if (++at[axis] < layout.shape[axis]) {
        break;
      }
      source -= strides[axis] * layout.shape[axis];
      at[axis] = 0;
    }
  }
}

void swapBytes(std::string& bytes, std::size_t width) {
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
}

[[noreturn]] void throwTooFew(const std::string& name, const NumberLayout& layout,
                              std::size_t held) {
  throw DataError(fmt::format("{}: claims {} values of type {} but holds only {} of them", name,
                              shapeText(layout.shape), typeCode(layout.type), held),
                  "the file is truncated or its header is wrong; copy or make it again");
}

std::int64_t wholeNumber(double value, const std::string& name, std::size_t position) {
  // Beyond 2^53 a double no longer tells neighbours apart, so it cannot be an id or a count.
  constexpr double kLimit = 9007199254740992.0;
  if (!(std::abs(value) <= kLimit) || value != std::trunc(value)) {
    throw DataError(
        fmt::format("{}: value {} at position {} is not a whole number", name, value, position));
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::size_t byteWidth(NumberType type) { return rowOf(type).width; }
bool isIntegral(NumberType type) { return type < NumberType::kFloat16; }
std::string_view typeCode(NumberType type) { return rowOf(type).code; }

std::optional<NumberType> typeFromCode(std::string_view code) {
  const auto* found = std::ranges::find(kTypes, code, &TypeRow::code);
  return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

std::optional<std::size_t> elementCount(std::span<const std::size_t> shape) {
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) {
    return 0;
  }
  std::size_t count = 1;
  for (const std::size_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::string shapeText(std::span<const std::size_t> shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

NumberArray NumberArray::fromBytes(std::string_view bytes, const NumberLayout& layout,
                                   std::string name) {
  const std::size_t width = byteWidth(layout.type);
  const std::size_t held = bytes.size() / width;
  const std::optional<std::size_t> count = elementCount(layout.shape);
  // Asking for more values than there are also covers strides of zero, which would repeat one
  // value without end.
  if (!count || *count > held || layout.shape.size() > kMaxDimensions) {
    throwTooFew(name, layout, held);
  }
  const bool strided = layout.fortran || !layout.strides.empty() || layout.offset != 0;
  NumberArray array;
  array.type_ = layout.type;
  array.shape_ = layout.shape;
  if (*count > 0 && !strided) {
    array.bytes_.assign(bytes.substr(0, *count * width));
  } else if (*count > 0) {
    std::vector<std::size_t> strides = layout.strides;
    if (strides.empty()) {
      std::vector<std::size_t> flipped(layout.shape.rbegin(), layout.shape.rend());
      strides = fortranStrides(layout.fortran ? layout.shape : flipped);
      if (!layout.fortran) {
        std::ranges::reverse(strides);
      }
    }
    if (strides.size() != layout.shape.size() ||
        reach(layout.shape, strides, layout.offset).value_or(held + 1) > held) {
      throwTooFew(name, layout, held);
    }
    array.bytes_.resize(*count * width);
    gather(bytes, layout, strides, array.bytes_);
  }
  if (layout.big_endian) {
    swapBytes(array.bytes_, width);
  }
  array.name_ = std::move(name);
  return array;
}

std::int64_t NumberArray::integerAt(std::size_t position) const {
  invariant(position < size(), "NumberArray::integerAt outside the array");
  const char* at = bytes_.data() + position * byteWidth(type_);
  switch (type_) {
    case NumberType::kBool:
      return *at != 0 ? 1 : 0;
    case NumberType::kInt8:
      return loadLittle<std::int8_t>(at);
    case NumberType::kInt16:
      return loadLittle<std::int16_t>(at);
    case NumberType::kInt32:
      return loadLittle<std::int32_t>(at);
    case NumberType::kInt64:
      return loadLittle<std::int64_t>(at);
    case NumberType::kUint8:
      return loadLittle<std::uint8_t>(at);
    case NumberType::kUint16:
      return loadLittle<std::uint16_t>(at);
    case NumberType::kUint32:
      return loadLittle<std::uint32_t>(at);
    case NumberType::kUint64: {
      const auto value = loadLittle<std::uint64_t>(at);
      if (!std::in_range<std::int64_t>(value)) {
        throw DataError(
            fmt::format("{}: value {} at position {} is too large", name_, value, position));
      }
      return static_cast<std::int64_t>(value);
    }
    default:
      return wholeNumber(realAt(position), name_, position);
  }
}

double NumberArray::realAt(std::size_t position) const {
  invariant(position < size(), "NumberArray::realAt outside the array");
  const char* at = bytes_.data() + position * byteWidth(type_);
  switch (type_) {
    case NumberType::kFloat16:
      return halfToReal(loadLittle<std::uint16_t>(at));
    case NumberType::kFloat32:
      return loadLittle<float>(at);
    case NumberType::kFloat64:
      return loadLittle<double>(at);
    case NumberType::kUint64:
      return static_cast<double>(loadLittle<std::uint64_t>(at));
    default:
      return static_cast<double>(integerAt(position));
  }
}

std::vector<std::int64_t> NumberArray::integers() const {
  std::vector<std::int64_t> values(size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = integerAt(i);
  }
  return values;
}

std::vector<float> NumberArray::floats() const {
  std::vector<float> values(size());
  if (type_ == NumberType::kFloat32 && !values.empty()) {
    std::memcpy(values.data(), bytes_.data(), bytes_.size());
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(realAt(i));
  }
  return values;
}

}  // namespace edgewise
