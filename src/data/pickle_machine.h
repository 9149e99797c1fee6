// The stack machine of pickles: reads operations, keeps the stack, the marks and the memo.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_reader.h"
#include "data/pickle_builders.h"
#include "edgewise/data/pickle.h"

namespace edgewise {

class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, const std::filesystem::path& path);
  [[nodiscard]] PickleDocument run();

 private:
  // Each handles its group of operations and says whether `code` was one of them.
  bool numberOperation(unsigned char code);
  bool textOperation(unsigned char code);
  bool longTextOperation(unsigned char code);
  bool sequenceOperation(unsigned char code);
  bool mappingOperation(unsigned char code);
  bool memoOperation(unsigned char code);
  bool stackOperation(unsigned char code);
  bool objectOperation(unsigned char code);
  [[noreturn]] void refuse(unsigned char code);

  [[noreturn]] void fail(const std::string& what) const;
  void push(PickleValue* value) { stack_.push_back(value); }
  void pushText(std::size_t size);
  void pushInteger(std::string_view little_endian);
  void pushDecimal(std::string_view line);
  void pushTuple(std::size_t count);
  PickleValue* pop();
  PickleValue& top();
  // The values above the latest mark, which goes with them.
  std::vector<PickleRef> popToMark();
  template <class Kind>
  Kind& topAs(const char* what);
  void addPairs(const std::vector<PickleRef>& flat);
  void store(std::size_t index);
  void fetch(std::size_t index);
  [[nodiscard]] std::size_t memoIndex(std::string_view line) const;

  PickleDocument document_;
  ByteReader reader_;
  PickleArena arena_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleValue*> memo_;
  PickleValue* none_;
  PickleValue* true_;
  PickleValue* false_;
};

template <class Kind>
Kind& PickleMachine::topAs(const char* what) {
  auto* kind = std::get_if<Kind>(&top().data);
  if (kind == nullptr) {
    fail(fmt::format("{} was expected", what));
  }
  return *kind;
}

}  // namespace edgewise
