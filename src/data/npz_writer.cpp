#include "edgewise/data/npz_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <utility>

#include "data/npy_header.h"
#include "edgewise/data/number_array.h"
#include "edgewise/data/zip_archive.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// 1980-01-01: the same content gives the same bytes.
constexpr std::uint16_t kDate = (1 << 5) | 1;
constexpr std::uint16_t kVersion = 20;

template <std::integral T>
void put(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xFF);
  }
}

// What local header and directory have in common.
void putMember(std::string& bytes, std::uint32_t crc, std::uint32_t size, std::size_t name) {
  put(bytes, std::uint16_t{0});  // flags
  put(bytes, std::uint16_t{0});  // stored
  put(bytes, std::uint16_t{0});  // time
  put(bytes, kDate);
  put(bytes, crc);
  put(bytes, size);
  put(bytes, size);
  put(bytes, static_cast<std::uint16_t>(name));
  put(bytes, std::uint16_t{0});  // extra
}

// One character of UTF-8 from `text`, which is cut by it; a byte that begins none stands for
// itself.
char32_t takeCharacter(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                                           : 4;
  char32_t code = length == 1   ? lead
                  : length == 2 ? lead & 0x1F
                  : length == 3 ? lead & 0x0F
                                : lead & 0x07;
  bool valid = length > 0 && length <= text.size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0) == 0x80;
    code = (code << 6) | (byte(i) & 0x3F);
  }
  valid = valid && code <= 0x10FFFF;
  text.remove_prefix(valid ? length : 1);
  return valid ? code : lead;
}

std::u32string charactersOf(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    characters += takeCharacter(text);
  }
  return characters;
}

}  // namespace

NpzWriter::NpzWriter(std::filesystem::path path) : path_(std::move(path)), file_(path_) {}

void NpzWriter::add(const std::string& name, std::span<const std::size_t> shape,
                    std::span<const float> values) {
  if (elementCount(shape) != values.size()) {
    throw ShapeError(fmt::format("{} values do not fill the array {}", values.size(), name));
  }
  addMember(name, npyHeader("<f4", shape),
            {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void NpzWriter::add(const std::string& name, std::span<const std::string> texts) {
  std::vector<std::u32string> all;
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    all.push_back(charactersOf(text));
    longest = std::max(longest, all.back().size());
  }
  std::string body;
  body.reserve(all.size() * longest * 4);
  for (std::u32string& text : all) {
    text.resize(longest, U'\0');
    for (const char32_t character : text) {
      put(body, static_cast<std::uint32_t>(character));
    }
  }
  const std::size_t shape[] = {texts.size()};
  addMember(name, npyHeader(fmt::format("<U{}", longest), shape), body);
}

void NpzWriter::addMember(const std::string& name, std::string_view header, std::string_view body) {
  const std::string member = name + ".npy";
  const std::uint64_t size = header.size() + body.size();
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint64_t kRoom = 1 << 16;
  if (written_ + size + kRoom > kMost) {
    throw ResourceError(fmt::format("{}: more than 4 GiB do not fit an .npz file", path_.string()),
                        "write an .npy file instead");
  }
  // The sum goes over both parts, which are never put together otherwise.
  std::string whole(header);
  whole += body;
  const std::uint32_t crc = crc32(whole);
  std::string local("PK\x03\x04");
  put(local, kVersion);
  putMember(local, crc, static_cast<std::uint32_t>(size), member.size());
  local += member;
  directory_ += "PK\x01\x02";
  put(directory_, kVersion);
  put(directory_, kVersion);
  putMember(directory_, crc, static_cast<std::uint32_t>(size), member.size());
  put(directory_, std::uint16_t{0});  // comment
  put(directory_, std::uint16_t{0});  // disk
  put(directory_, std::uint16_t{0});  // attributes
  put(directory_, std::uint32_t{0});
  put(directory_, static_cast<std::uint32_t>(written_));
  directory_ += member;
  file_.write(local);
  file_.write(whole);
  written_ += local.size() + whole.size();
  ++members_;
}

void NpzWriter::close() {
  std::string end("PK\x05\x06");
  put(end, std::uint16_t{0});
  put(end, std::uint16_t{0});
  put(end, members_);
  put(end, members_);
  put(end, static_cast<std::uint32_t>(directory_.size()));
  put(end, static_cast<std::uint32_t>(written_));
  put(end, std::uint16_t{0});
  file_.write(directory_);
  file_.write(end);
  file_.commit();
}

}  // namespace edgewise
