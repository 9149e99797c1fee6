#include "data/pickle_builders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "data/pickle_text.h"
#include "data/printable.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

struct AllowedName {
  std::string_view module;
  std::string_view name;
  PickleClass meaning;
};

using enum PickleClassId;

// Names moved between releases of Python, numpy and scipy; all spellings seen in the wild.
constexpr std::array kAllowed = {
    AllowedName{"numpy", "ndarray", {kNdarray}},
    AllowedName{"numpy", "dtype", {kDtype}},
    AllowedName{"numpy.core.multiarray", "_reconstruct", {kReconstructArray}},
    AllowedName{"numpy._core.multiarray", "_reconstruct", {kReconstructArray}},
    AllowedName{"numpy.core.multiarray", "scalar", {kScalar}},
    AllowedName{"numpy._core.multiarray", "scalar", {kScalar}},
    AllowedName{"_codecs", "encode", {kEncode}},
    AllowedName{"__builtin__", "bytes", {kBytes}},
    AllowedName{"builtins", "bytes", {kBytes}},
    AllowedName{"__builtin__", "list", {kList}},
    AllowedName{"builtins", "list", {kList}},
    AllowedName{"__builtin__", "object", {kObject}},
    AllowedName{"builtins", "object", {kObject}},
    AllowedName{"__builtin__", "dict", {kDict}},
    AllowedName{"builtins", "dict", {kDict}},
    AllowedName{"collections", "defaultdict", {kDict}},
    AllowedName{"collections", "OrderedDict", {kDict}},
    AllowedName{"copy_reg", "_reconstructor", {kReconstructObject}},
    AllowedName{"copyreg", "_reconstructor", {kReconstructObject}},
    AllowedName{"scipy.sparse.csr", "csr_matrix", {kCsrMatrix}},
    AllowedName{"scipy.sparse._csr", "csr_matrix", {kCsrMatrix}},
    AllowedName{"torch", "Size", {kSize}},
    AllowedName{"torch", "BoolStorage", {kStorage, NumberType::kBool}},
    AllowedName{"torch", "ByteStorage", {kStorage, NumberType::kUint8}},
    AllowedName{"torch", "CharStorage", {kStorage, NumberType::kInt8}},
    AllowedName{"torch", "ShortStorage", {kStorage, NumberType::kInt16}},
    AllowedName{"torch", "IntStorage", {kStorage, NumberType::kInt32}},
    AllowedName{"torch", "LongStorage", {kStorage, NumberType::kInt64}},
    AllowedName{"torch", "HalfStorage", {kStorage, NumberType::kFloat16}},
    AllowedName{"torch", "FloatStorage", {kStorage, NumberType::kFloat32}},
    AllowedName{"torch", "DoubleStorage", {kStorage, NumberType::kFloat64}},
    AllowedName{"torch._utils", "_rebuild_tensor", {kRebuildTensor}},
    AllowedName{"torch._utils", "_rebuild_tensor_v2", {kRebuildTensor}},
};

// Argument number `at`, or none where there are fewer.
const PickleValue& argument(const PickleArena& arena, const PickleSequence& arguments,
                            std::size_t at) {
  if (at >= arguments.items.size()) {
    arena.fail(fmt::format("a call has {} arguments, too few", arguments.items.size()));
  }
  return *arguments.items[at];
}

bool isClass(const PickleValue& value, PickleClassId id) {
  const auto* found = value.as<PickleClass>();
  return found != nullptr && found->id == id;
}

std::size_t sizeOf(const PickleArena& arena, const PickleValue& value) {
  const auto* size = value.as<std::int64_t>();
  if (size == nullptr || *size < 0) {
    arena.fail("a size, stride or offset is not a whole number from 0 up");
  }
  return static_cast<std::size_t>(*size);
}

std::vector<std::size_t> sizesOf(const PickleArena& arena, const PickleValue& value) {
  const auto* sequence = value.as<PickleSequence>();
  if (sequence == nullptr || sequence->items.size() > kMaxDimensions) {
    arena.fail("the shape of an array is not a short tuple");
  }
  std::vector<std::size_t> sizes;
  sizes.reserve(sequence->items.size());
  for (const PickleRef item : sequence->items) {
    sizes.push_back(sizeOf(arena, *item));
  }
  return sizes;
}

PickleValue* makeDtype(PickleArena& arena, const PickleSequence& arguments) {
  std::string_view code = pickleText(argument(arena, arguments, 0));
  PickleDtype dtype;
  if (!code.empty() && std::string_view("<>|=").find(code.front()) != std::string_view::npos) {
    dtype.big_endian = code.front() == '>';
    code.remove_prefix(1);
  }
  const std::optional<NumberType> type = typeFromCode(code);
  if (!type) {
    arena.fail(
        fmt::format("an array holds values of numpy type {}, not plain numbers", printable(code)));
  }
  dtype.type = *type;
  return arena.make(dtype);
}

void setByteOrder(const PickleArena& arena, PickleDtype& dtype, const PickleValue& state) {
  const auto* fields = state.as<PickleSequence>();
  if (fields == nullptr || fields->items.size() < 5 ||
      fields->items[3]->as<PickleNone>() == nullptr) {
    arena.fail("an array type is damaged or has several fields");
  }
  dtype.big_endian = pickleText(*fields->items[1]) == ">";
}

// numpy's state: (version, shape, dtype, column order?, bytes).
void fillArray(const PickleArena& arena, PickleArray& array, const PickleValue& state) {
  const auto* fields = state.as<PickleSequence>();
  const std::size_t count = fields == nullptr ? 0 : fields->items.size();
  if (count != 4 && count != 5) {
    arena.fail("the state of an array is damaged");
  }
  const auto at = [&](std::size_t i) -> const PickleValue& {
    return *fields->items[count - 4 + i];
  };
  const auto* dtype = at(1).as<PickleDtype>();
  const auto* bytes = at(3).as<PickleText>();
  if (dtype == nullptr || bytes == nullptr) {
    arena.fail("the state of an array has no type or no bytes");
  }
  const auto* fortran = at(2).as<bool>();
  const auto* fortran_number = at(2).as<std::int64_t>();
  array.layout = NumberLayout{
      .type = dtype->type,
      .shape = sizesOf(arena, at(0)),
      .strides = {},
      .offset = 0,
      .fortran = fortran != nullptr ? *fortran : fortran_number != nullptr && *fortran_number != 0,
      .big_endian = dtype->big_endian};
  array.data = bytes->bytes;
}

PickleValue* makeScalar(PickleArena& arena, const PickleSequence& arguments) {
  const auto* dtype = argument(arena, arguments, 0).as<PickleDtype>();
  const auto* bytes = argument(arena, arguments, 1).as<PickleText>();
  if (dtype == nullptr || bytes == nullptr || bytes->bytes.size() != byteWidth(dtype->type)) {
    arena.fail("a numpy number is damaged");
  }
  NumberLayout layout;
  layout.type = dtype->type;
  layout.big_endian = dtype->big_endian;
  const NumberArray number = NumberArray::fromBytes(bytes->bytes, layout, "a numpy number");
  return isIntegral(dtype->type) ? arena.make(number.integerAt(0)) : arena.make(number.realAt(0));
}

PickleValue* encodeText(PickleArena& arena, const PickleSequence& arguments) {
  const auto* text = argument(arena, arguments, 0).as<PickleText>();
  const std::string_view codec = pickleText(argument(arena, arguments, 1));
  if (text == nullptr || (codec != "latin1" && codec != "latin-1")) {
    arena.fail(fmt::format("bytes are spelled as text in codec {}", printable(codec)));
  }
  arena.countRecoded(text->bytes.size());
  std::optional<std::string> bytes = encodeLatin1(text->bytes);
  if (!bytes) {
    arena.fail("bytes spelled as Latin-1 text hold another character");
  }
  return arena.make(PickleText{arena.keep(std::move(*bytes))});
}

// (storage, offset, shape, strides, ...)
PickleValue* makeTensor(PickleArena& arena, const PickleSequence& arguments) {
  const auto* storage = argument(arena, arguments, 0).as<std::unique_ptr<PickleStorage>>();
  if (storage == nullptr) {
    arena.fail("a tensor has no storage");
  }
  auto tensor = std::make_unique<PickleTensor>();
  tensor->storage = **storage;
  tensor->layout = NumberLayout{.type = (*storage)->type,
                                .shape = sizesOf(arena, argument(arena, arguments, 2)),
                                .strides = sizesOf(arena, argument(arena, arguments, 3)),
                                .offset = sizeOf(arena, argument(arena, arguments, 1)),
                                .fortran = false,
                                .big_endian = false};
  if (tensor->layout.shape.size() != tensor->layout.strides.size()) {
    arena.fail("a tensor has more sizes than strides, or fewer");
  }
  return arena.make(std::move(tensor));
}

}  // namespace

PickleArena::PickleArena(PickleDocument& document, std::size_t input_size,
                         std::filesystem::path path)
    : document_(document), recoding_left_(input_size), path_(std::move(path)) {}

void PickleArena::countValue() const {
  constexpr std::size_t kMostValues = 40'000'000;
  if (document_.values_.size() >= kMostValues) {
    fail(fmt::format("the pickle makes more than {} values", kMostValues));
  }
}

std::string_view PickleArena::keep(std::string text) {
  return document_.texts_.emplace_back(std::move(text));
}

void PickleArena::countRecoded(std::size_t bytes) {
  if (bytes > recoding_left_) {
    fail("the pickle recodes the same text again and again");
  }
  recoding_left_ -= bytes;
}

void PickleArena::fail(const std::string& what, std::string hint) const {
  throw DataError(FilePlace{path_}, what, std::move(hint));
}

PickleClass allowedClass(std::string_view module, std::string_view name, const PickleArena& arena) {
  const auto* found = std::ranges::find_if(kAllowed, [&](const AllowedName& allowed) {
    return allowed.module == module && allowed.name == name;
  });
  if (found == kAllowed.end()) {
    arena.fail(fmt::format("the pickle asks for {}, which is not allowed",
                           printable(fmt::format("{}.{}", module, name))),
               "only plain values, numpy arrays, scipy csr matrices and torch tensors are read; "
               "nothing in a pickle is ever run");
  }
  return found->meaning;
}

PickleValue* callClass(PickleArena& arena, const PickleClass& callee,
                       const PickleSequence& arguments) {
  switch (callee.id) {
    case kReconstructArray:
      if (!isClass(argument(arena, arguments, 0), kNdarray)) {
        arena.fail("an array is of a class other than numpy's own");
      }
      return arena.make(std::make_unique<PickleArray>());
    case kDtype:
      return makeDtype(arena, arguments);
    case kScalar:
      return makeScalar(arena, arguments);
    case kEncode:
      return encodeText(arena, arguments);
    case kBytes:
      return arena.make(PickleText{arguments.items.empty() ? std::string_view()
                                                           : pickleText(*arguments.items.front())});
    case kDict:
      if (!arguments.items.empty() && !isClass(*arguments.items.front(), kList)) {
        arena.fail("a dictionary is made from something other than nothing or list");
      }
      return arena.make(PickleMapping{});
    case kReconstructObject: {
      const auto* made = argument(arena, arguments, 0).as<PickleClass>();
      if (made == nullptr) {
        arena.fail("an object has no class");
      }
      return newObject(arena, *made);
    }
    case kRebuildTensor:
      return makeTensor(arena, arguments);
    case kSize: {
      const auto* sizes = argument(arena, arguments, 0).as<PickleSequence>();
      return arena.make(sizes == nullptr || sizes->items.size() > kMaxDimensions ? PickleSequence{}
                                                                                 : *sizes);
    }
    default:
      arena.fail("the pickle calls a name that is no function");
  }
}

PickleValue* newObject(PickleArena& arena, const PickleClass& callee) {
  switch (callee.id) {
    case kCsrMatrix:
      return arena.make(PickleSparse{});
    case kDict:
      return arena.make(PickleMapping{});
    default:
      arena.fail("the pickle makes an object of a class that is not a container");
  }
}

void setState(PickleArena& arena, PickleValue& object, const PickleValue& state) {
  if (auto* dtype = std::get_if<PickleDtype>(&object.data)) {
    setByteOrder(arena, *dtype, state);
  } else if (auto* array = std::get_if<std::unique_ptr<PickleArray>>(&object.data)) {
    fillArray(arena, **array, state);
  } else if (auto* sparse = std::get_if<PickleSparse>(&object.data)) {
    if (state.as<PickleMapping>() == nullptr) {
      arena.fail("the state of a sparse matrix is not a dictionary");
    }
    sparse->fields = &state;
  } else if (object.as<PickleMapping>() == nullptr) {
    arena.fail("the pickle sets the state of something that has none");
  }
}

PickleValue* persistentStorage(PickleArena& arena, const PickleValue& id) {
  const auto* parts = id.as<PickleSequence>();
  const std::size_t count = parts == nullptr ? 0 : parts->items.size();
  if (count < 5 || pickleText(*parts->items[0]) != "storage") {
    arena.fail("a persistent id is not that of a torch storage");
  }
  const auto* type = parts->items[1]->as<PickleClass>();
  if (type == nullptr || type->id != kStorage) {
    arena.fail("a torch storage has no element type");
  }
  if (count > 5 && parts->items[5]->as<PickleNone>() == nullptr) {
    arena.fail("a torch storage is a view of another", "save a clone of the tensor");
  }
  return arena.make(
      std::make_unique<PickleStorage>(PickleStorage{.type = type->type,
                                                    .key = pickleText(*parts->items[2]),
                                                    .count = sizeOf(arena, *parts->items[4])}));
}

}  // namespace edgewise
