// What each operation code does, in groups.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "data/pickle_machine.h"
#include "data/pickle_text.h"
#include "data/printable.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::size_t kMostMarks = 10'000;
constexpr unsigned kNewestProtocol = 5;

}  // namespace

bool PickleMachine::numberOperation(unsigned char code) {
  switch (code) {
    case 'K':  // BININT1
      push(arena_.make(std::int64_t{reader_.little<std::uint8_t>()}));
      return true;
    case 'M':  // BININT2
      push(arena_.make(std::int64_t{reader_.little<std::uint16_t>()}));
      return true;
    case 'J':  // BININT
      push(arena_.make(std::int64_t{reader_.little<std::int32_t>()}));
      return true;
    case 0x8A:  // LONG1
      pushInteger(reader_.take(reader_.little<std::uint8_t>()));
      return true;
    case 0x8B:  // LONG4
      pushInteger(reader_.take(reader_.little<std::uint32_t>()));
      return true;
    case 'I':  // INT
    case 'L':  // LONG
      pushDecimal(reader_.line());
      return true;
    case 'G':  // BINFLOAT, the one number with the most significant byte first
      push(arena_.make(std::bit_cast<double>(__builtin_bswap64(reader_.little<std::uint64_t>()))));
      return true;
    case 'F': {  // FLOAT
      const std::optional<double> value = parseReal(reader_.line());
      if (!value) {
        fail("a number is malformed");
      }
      push(arena_.make(*value));
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::textOperation(unsigned char code) {
  switch (code) {
    case 'U':   // SHORT_BINSTRING
    case 'C':   // SHORT_BINBYTES
    case 0x8C:  // SHORT_BINUNICODE
      pushText(reader_.little<std::uint8_t>());
      return true;
    case 'T':  // BINSTRING
    case 'X':  // BINUNICODE
    case 'B':  // BINBYTES
      pushText(reader_.little<std::uint32_t>());
      return true;
    case 0x8D:  // BINUNICODE8
    case 0x8E:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      pushText(reader_.little<std::uint64_t>());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::longTextOperation(unsigned char code) {
  if (code != 'S' && code != 'V') {  // STRING, UNICODE
    return false;
  }
  const std::string_view line = reader_.line();
  std::optional<std::string> text = code == 'S' ? unquotePython(line) : decodeRawUnicode(line);
  if (!text) {
    fail("a string is malformed");
  }
  push(arena_.make(PickleText{arena_.keep(std::move(*text))}));
  return true;
}

bool PickleMachine::sequenceOperation(unsigned char code) {
  switch (code) {
    case ']':  // EMPTY_LIST
    case ')':  // EMPTY_TUPLE
      push(arena_.make(PickleSequence{}));
      return true;
    case 'a': {  // APPEND
      const PickleRef item = pop();
      topAs<PickleSequence>("a list").items.push_back(item);
      return true;
    }
    case 'e': {  // APPENDS
      const std::vector<PickleRef> added = popToMark();
      auto& items = topAs<PickleSequence>("a list").items;
      items.insert(items.end(), added.begin(), added.end());
      return true;
    }
    case 'l':  // LIST
    case 't':  // TUPLE
      push(arena_.make(PickleSequence{popToMark()}));
      return true;
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      pushTuple(code - 0x84U);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::mappingOperation(unsigned char code) {
  switch (code) {
    case '}':  // EMPTY_DICT
      push(arena_.make(PickleMapping{}));
      return true;
    case 'd': {  // DICT
      const std::vector<PickleRef> flat = popToMark();
      push(arena_.make(PickleMapping{}));
      addPairs(flat);
      return true;
    }
    case 's': {  // SETITEM
      const PickleRef value = pop();
      const PickleRef key = pop();
      addPairs({key, value});
      return true;
    }
    case 'u':  // SETITEMS
      addPairs(popToMark());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::memoOperation(unsigned char code) {
  switch (code) {
    case 'q':  // BINPUT
      store(reader_.little<std::uint8_t>());
      return true;
    case 'r':  // LONG_BINPUT
      store(reader_.little<std::uint32_t>());
      return true;
    case 'p':  // PUT
      store(memoIndex(reader_.line()));
      return true;
    case 0x94:  // MEMOIZE
      store(memo_.size());
      return true;
    case 'h':  // BINGET
      fetch(reader_.little<std::uint8_t>());
      return true;
    case 'j':  // LONG_BINGET
      fetch(reader_.little<std::uint32_t>());
      return true;
    case 'g':  // GET
      fetch(memoIndex(reader_.line()));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::stackOperation(unsigned char code) {
  switch (code) {
    case 'N':  // NONE
      push(none_);
      return true;
    case 0x88:  // NEWTRUE
      push(true_);
      return true;
    case 0x89:  // NEWFALSE
      push(false_);
      return true;
    case '(':  // MARK
      if (marks_.size() == kMostMarks) {
        fail("values are nested too deeply");
      }
      marks_.push_back(stack_.size());
      return true;
    case '0':  // POP
      pop();
      return true;
    case '1':  // POP_MARK
      popToMark();
      return true;
    case '2':  // DUP
      push(&top());
      return true;
    case 0x80:  // PROTO
      if (const unsigned protocol = reader_.little<std::uint8_t>(); protocol > kNewestProtocol) {
        fail(fmt::format("the pickle has protocol {}; protocols 0 to {} are read", protocol,
                         kNewestProtocol));
      }
      return true;
    case 0x95:  // FRAME, a hint for readers of streams
      reader_.take(8);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::objectOperation(unsigned char code) {
  switch (code) {
    case 'c': {  // GLOBAL
      const std::string_view module = reader_.line();
      push(arena_.make(allowedClass(module, reader_.line(), arena_)));
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleRef name = pop();
      const PickleRef module = pop();
      push(arena_.make(allowedClass(pickleText(*module), pickleText(*name), arena_)));
      return true;
    }
    case 'R':     // REDUCE
    case 0x81: {  // NEWOBJ
      const auto* arguments = pop()->as<PickleSequence>();
      const auto* callee = pop()->as<PickleClass>();
      if (arguments == nullptr || callee == nullptr) {
        fail("a call has no function or no arguments");
      }
      push(code == 'R' ? callClass(arena_, *callee, *arguments) : newObject(arena_, *callee));
      return true;
    }
    case 'b': {  // BUILD
      const PickleRef state = pop();
      setState(arena_, top(), *state);
      return true;
    }
    case 'Q': {  // BINPERSID
      const PickleRef id = pop();
      push(persistentStorage(arena_, *id));
      return true;
    }
    default:
      return false;
  }
}

void PickleMachine::refuse(unsigned char code) {
  constexpr unsigned char kInstance = 'i';
  if (code == kInstance) {
    const std::string_view module = reader_.line();
    const std::string_view name = reader_.line();
    fail(fmt::format("the pickle makes an instance of {}, which is not allowed",
                     printable(fmt::format("{}.{}", module, name))));
  }
  fail(fmt::format("operation 0x{:02x} is unknown or not allowed", code));
}

}  // namespace edgewise
