// What stands behind the names a pickle may use: the allow-list, and for each name a builder of
// ours that makes plain values from its arguments.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "edgewise/data/pickle.h"

namespace edgewise {

// Makes values and keeps what they view. Limits how much a pickle can make us hold.
class PickleArena {
 public:
  PickleArena(PickleDocument& document, std::size_t input_size, std::filesystem::path path);

  // Throws DataError beyond the limit on values.
  template <class Kind>
  PickleValue* make(Kind&& kind) {
    countValue();
    return &document_.values_.emplace_back(PickleValue{std::forward<Kind>(kind)});
  }
  // Keeps a text that the input does not hold in this form.
  [[nodiscard]] std::string_view keep(std::string text);
  // Counts bytes that were recoded: a pickle needs that once for each of its own bytes at most, but
  // could ask for it again and again.
  void countRecoded(std::size_t bytes);
  [[noreturn]] void fail(const std::string& what, std::string hint = {}) const;

 private:
  void countValue() const;

  PickleDocument& document_;
  std::size_t recoding_left_;
  std::filesystem::path path_;
};

// The entry of the allow-list; throws DataError naming any other class or function.
[[nodiscard]] PickleClass allowedClass(std::string_view module, std::string_view name,
                                       const PickleArena& arena);

// callable(*arguments) and cls.__new__(cls, *arguments).
[[nodiscard]] PickleValue* callClass(PickleArena& arena, const PickleClass& callee,
                                     const PickleSequence& arguments);
[[nodiscard]] PickleValue* newObject(PickleArena& arena, const PickleClass& callee);
// object.__setstate__(state): numpy dtypes and arrays, scipy matrices; dicts ignore theirs.
void setState(PickleArena& arena, PickleValue& object, const PickleValue& state);
// What torch's persistent ids name: ('storage', class, key, location, count).
[[nodiscard]] PickleValue* persistentStorage(PickleArena& arena, const PickleValue& id);

}  // namespace edgewise
