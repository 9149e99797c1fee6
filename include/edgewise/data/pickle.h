// Python pickles read as data. A pickle is a little program for a stack machine that may call any
// function of Python; here the machine builds plain values only. The few (module, name) pairs that
// arrays and containers need stand in an allow-list and mean our own builders; any other is an
// error that names it. Nothing is ever imported or run.
//
// Values live in an arena and point at one another freely, cycles included; the arena frees them
// together, so no nesting is too deep and nothing leaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "edgewise/data/number_array.h"

namespace edgewise {

struct PickleValue;
// Owned by the document's arena; never null.
using PickleRef = const PickleValue*;

struct PickleNone {};

// An integer beyond 64 bits: two's complement, least significant byte first.
struct PickleBigInteger {
  std::string_view bytes;
};

// Text (as UTF-8) or bytes: Python 2 does not tell them apart.
struct PickleText {
  std::string_view bytes;
};

// A list or a tuple.
struct PickleSequence {
  std::vector<PickleRef> items;
};

// A dict, defaultdict or OrderedDict in the file's order; of equal keys the last one counts.
struct PickleMapping {
  std::vector<std::pair<PickleRef, PickleRef>> items;
};

enum class PickleClassId : std::uint8_t {
  kNdarray,
  kReconstructArray,
  kDtype,
  kScalar,
  kEncode,
  kBytes,
  kList,
  kObject,
  kDict,
  kCsrMatrix,
  kReconstructObject,
  kStorage,
  kRebuildTensor,
  kSize,
};

// A name from the allow-list, not yet called.
struct PickleClass {
  PickleClassId id = PickleClassId::kObject;
  // Storages only.
  NumberType type = NumberType::kFloat32;
};

struct PickleDtype {
  NumberType type = NumberType::kFloat32;
  bool big_endian = false;
};

// A numpy array; `data` views the pickle's bytes or the arena.
struct PickleArray {
  NumberLayout layout;
  std::string_view data;
};

// A scipy csr_matrix: the dict of its fields.
struct PickleSparse {
  PickleRef fields = nullptr;
};

// A torch storage whose bytes stand outside the pickle, found by `key`.
struct PickleStorage {
  NumberType type = NumberType::kFloat32;
  std::string_view key;
  std::size_t count = 0;
};

struct PickleTensor {
  PickleStorage storage;
  NumberLayout layout;
};

struct PickleValue {
  // The large kinds stand behind pointers to keep the common ones small.
  std::variant<PickleNone, bool, std::int64_t, double, PickleBigInteger, PickleText, PickleSequence,
               PickleMapping, PickleClass, PickleDtype, PickleSparse,
               std::unique_ptr<PickleStorage>, std::unique_ptr<PickleArray>,
               std::unique_ptr<PickleTensor>>
      data;

  // The value as `Kind`, or null.
  template <class Kind>
  [[nodiscard]] const Kind* as() const {
    return std::get_if<Kind>(&data);
  }
};

// The values of one pickle. Movable: values stay where they are.
class PickleDocument {
 public:
  PickleDocument() = default;
  PickleDocument(PickleDocument&&) noexcept = default;
  PickleDocument& operator=(PickleDocument&&) noexcept = default;
  PickleDocument(const PickleDocument&) = delete;
  PickleDocument& operator=(const PickleDocument&) = delete;
  ~PickleDocument() = default;

  [[nodiscard]] const PickleValue& root() const { return *root_; }
  // Every value the pickle made, used in the end or not.
  [[nodiscard]] const std::deque<PickleValue>& values() const { return values_; }
  // Bytes up to and with the end of the pickle; others may follow it.
  [[nodiscard]] std::size_t consumed() const { return consumed_; }

 private:
  friend class PickleArena;
  friend class PickleMachine;
  std::deque<PickleValue> values_;
  std::deque<std::string> texts_;
  PickleRef root_ = nullptr;
  std::size_t consumed_ = 0;
};

// Reads the pickle at the start of `bytes` (protocols 0 to 5), which must outlive the document.
// `path` names the source in errors. Throws DataError for a name outside the allow-list, an
// operation that would run code, a truncated or damaged pickle, or one that makes more than some
// tens of millions of values.
[[nodiscard]] PickleDocument readPickle(std::string_view bytes, const std::filesystem::path& path);

// The text of a value; empty when it is none.
[[nodiscard]] std::string_view pickleText(const PickleValue& value);
// The value of a text key, or null.
[[nodiscard]] PickleRef findKey(const PickleMapping& mapping, std::string_view key);
// A numpy array as numbers. Throws DataError for any other value, or when its bytes do not fill its
// shape.
[[nodiscard]] NumberArray pickledArray(const PickleValue& value, const std::string& name);

}  // namespace edgewise
