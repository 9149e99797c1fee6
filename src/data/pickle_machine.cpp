#include "data/pickle_machine.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "data/printable.h"
#include "edgewise/util/text.h"

namespace edgewise {

PickleMachine::PickleMachine(std::string_view bytes, const std::filesystem::path& path)
    : reader_(bytes, path),
      arena_(document_, bytes.size(), path),
      none_(arena_.make(PickleNone{})),
      true_(arena_.make(true)),
      false_(arena_.make(false)) {}

PickleDocument PickleMachine::run() {
  constexpr unsigned char kStop = '.';
  for (;;) {
    const auto code = reader_.little<unsigned char>();
    if (code == kStop) {
      break;
    }
    if (!numberOperation(code) && !textOperation(code) && !sequenceOperation(code) &&
        !memoOperation(code) && !mappingOperation(code) && !stackOperation(code) &&
        !objectOperation(code) && !longTextOperation(code)) {
      refuse(code);
    }
  }
  document_.root_ = pop();
  document_.consumed_ = reader_.position();
  return std::move(document_);
}

void PickleMachine::fail(const std::string& what) const {
  arena_.fail(fmt::format("{} (byte {} of the pickle)", what, reader_.position()),
              "the file is damaged or not a pickle of plain data");
}

void PickleMachine::pushText(std::size_t size) {
  push(arena_.make(PickleText{reader_.take(size)}));
}

void PickleMachine::pushInteger(std::string_view little_endian) {
  if (little_endian.size() > sizeof(std::int64_t)) {
    push(arena_.make(PickleBigInteger{little_endian}));
    return;
  }
  std::uint64_t value = 0;
  const bool negative =
      !little_endian.empty() && (static_cast<unsigned char>(little_endian.back()) & 0x80) != 0;
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    const unsigned char byte = i < little_endian.size()
                                   ? static_cast<unsigned char>(little_endian[i])
                                   : static_cast<unsigned char>(negative ? 0xFF : 0);
    value |= static_cast<std::uint64_t>(byte) << (8 * i);
  }
  push(arena_.make(std::bit_cast<std::int64_t>(value)));
}

void PickleMachine::pushDecimal(std::string_view line) {
  // Protocol 0 spells booleans as the numbers 00 and 01.
  if (line == "00" || line == "01") {
    push(line == "01" ? true_ : false_);
    return;
  }
  if (line.ends_with('L')) {
    line.remove_suffix(1);
  }
  const std::optional<std::int64_t> value = parseInteger(line);
  if (!value) {
    fail(fmt::format("{} is not a 64-bit number", printable(line)));
  }
  push(arena_.make(*value));
}

void PickleMachine::pushTuple(std::size_t count) {
  std::vector<PickleRef> items(count);
  for (std::size_t i = count; i-- > 0;) {
    items[i] = pop();
  }
  push(arena_.make(PickleSequence{std::move(items)}));
}

PickleValue* PickleMachine::pop() {
  PickleValue* value = &top();
  stack_.pop_back();
  return value;
}

PickleValue& PickleMachine::top() {
  // Values below the latest mark are out of reach until the mark is taken away.
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
    fail("a value is missing on the stack");
  }
  return *stack_.back();
}

std::vector<PickleRef> PickleMachine::popToMark() {
  if (marks_.empty()) {
    fail("a mark is missing");
  }
  const std::size_t mark = marks_.back();
  std::vector<PickleRef> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
  stack_.resize(mark);
  marks_.pop_back();
  return items;
}

void PickleMachine::addPairs(const std::vector<PickleRef>& flat) {
  if (flat.size() % 2 != 0) {
    fail("a key has no value");
  }
  auto& items = topAs<PickleMapping>("a dictionary").items;
  for (std::size_t i = 0; i < flat.size(); i += 2) {
    items.emplace_back(flat[i], flat[i + 1]);
  }
}

void PickleMachine::store(std::size_t index) {
  // Writers number the memo upwards, so no honest index exceeds the bytes it took to get there.
  if (index > reader_.all().size()) {
    fail(fmt::format("memo number {} is impossible", index));
  }
  if (index >= memo_.size()) {
    memo_.resize(index + 1, nullptr);
  }
  memo_[index] = &top();
}

void PickleMachine::fetch(std::size_t index) {
  if (index >= memo_.size() || memo_[index] == nullptr) {
    fail(fmt::format("memo number {} was never stored", index));
  }
  push(memo_[index]);
}

std::size_t PickleMachine::memoIndex(std::string_view line) const {
  const std::optional<std::int64_t> index = parseInteger(line);
  if (!index || *index < 0) {
    fail(fmt::format("{} is not a memo number", printable(line)));
  }
  return static_cast<std::size_t>(*index);
}

}  // namespace edgewise
