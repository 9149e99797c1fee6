// A cursor over bytes that nobody vouches for: every read checks what is left, so that a reader
// built on it can neither run past the end nor believe a length the file does not have.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "edgewise/util/error.h"

namespace edgewise {

static_assert(std::endian::native == std::endian::little, "binary readers assume little endian");

// Reads an integer or float stored little-endian at `data`, whatever its alignment; sizeof(T) bytes
// must be there.
template <class T>
[[nodiscard]] T loadLittle(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

class ByteReader {
 public:
  // `path` names the source in errors; `bytes` must outlive the reader.
  ByteReader(std::string_view bytes, std::filesystem::path path)
      : bytes_(bytes), path_(std::move(path)) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - position_; }
  [[nodiscard]] std::string_view all() const { return bytes_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // The next `count` bytes. Throws DataError when fewer are left.
  std::string_view take(std::size_t count) {
    if (count > left()) {
      throw DataError(
          FilePlace{path_},
          fmt::format("ends early: {} bytes wanted at byte {}, {} left", count, position_, left()),
          "copy or download the file again");
    }
    const std::string_view taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  template <class T>
    requires std::integral<T> || std::floating_point<T>
  T little() {
    const char* at = bytes_.data() + position_;
    take(sizeof(T));
    return loadLittle<T>(at);
  }

  // Up to the next line feed, which is passed over and left out.
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', position_);
    const std::string_view text =
        take((end == std::string_view::npos ? bytes_.size() + 1 : end) - position_);
    position_ += 1;
    return text;
  }

 private:
  std::string_view bytes_;
  std::filesystem::path path_;
  std::size_t position_ = 0;
};

}  // namespace edgewise
