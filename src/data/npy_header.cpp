#include "data/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "data/printable.h"
#include "edgewise/data/number_array.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// Reads the one literal that numpy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (3,)}.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::filesystem::path& path)
      : rest_(text), path_(path) {}

  NpyHeader parse() {
    NpyHeader header;
    int seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        descr(header);
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
      } else if (key == "shape") {
        header.shape = shape();
      } else {
        fail(fmt::format("unknown key {}", printable(key)));
      }
      ++seen;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (seen != 3 || header.type_code.empty()) {
      fail("descr, fortran_order and shape must each stand there once");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(FilePlace{path_}, fmt::format("the npy header is damaged: {}", what));
  }

  void skipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }

  bool accept(char c) {
    skipBlanks();
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      fail(fmt::format("expected '{}' before {}", c, printable(rest_.substr(0, 20))));
    }
  }

  std::string_view quoted() {
    skipBlanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = rest_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) {
      fail(fmt::format("expected a string before {}", printable(rest_.substr(0, 20))));
    }
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    skipBlanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    fail("fortran_order is neither True nor False");
  }

  void descr(NpyHeader& header) {
    if (accept('[')) {
      throw DataError(FilePlace{path_}, "holds records of several fields, not plain numbers",
                      "store one field as a plain array");
    }
    std::string_view code = quoted();
    if (!code.empty() && std::string_view("<>|=").find(code.front()) != std::string_view::npos) {
      header.big_endian = code.front() == '>';
      code.remove_prefix(1);
    }
    header.type_code = std::string(code);
  }

  std::vector<std::size_t> shape() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      skipBlanks();
      const std::size_t digits = std::min(rest_.find_first_of(",) L"), rest_.size());
      const std::optional<std::int64_t> size = parseInteger(rest_.substr(0, digits));
      if (!size || *size < 0 || sizes.size() == kMaxDimensions) {
        fail(fmt::format("{} is not a size", printable(rest_.substr(0, digits))));
      }
      rest_.remove_prefix(digits);
      // Python 2 wrote long integers with a suffix.
      accept('L');
      sizes.push_back(static_cast<std::size_t>(*size));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view rest_;
  const std::filesystem::path& path_;
};

}  // namespace

NpyHeader readNpyHeader(ByteReader& reader) {
  if (reader.left() < kMagic.size() || reader.take(kMagic.size()) != kMagic) {
    throw DataError(FilePlace{reader.path()}, "is not an npy file (it lacks numpy's magic number)");
  }
  const auto major = reader.little<std::uint8_t>();
  reader.take(1);
  if (major < 1 || major > 3) {
    throw DataError(FilePlace{reader.path()},
                    fmt::format("has npy format version {}; versions 1 to 3 are read", major));
  }
  const std::size_t size =
      major == 1 ? reader.little<std::uint16_t>() : reader.little<std::uint32_t>();
  return HeaderParser(reader.take(size), reader.path()).parse();
}

std::string npyHeader(std::string_view descr, std::span<const std::size_t> shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 descr, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t kPreamble = 10;
  constexpr std::size_t kAlignment = 64;
  text.append((kAlignment - (kPreamble + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00'};
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace edgewise
