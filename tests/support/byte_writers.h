// Writers of binary formats, byte by byte, so that tests can make right and wrong files alike:
// zip, gzip, npy, safetensors, pickles, torch files. Nothing is compressed: DEFLATE knows stored
// blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/data/zip_archive.h"

namespace edgewise::testing {

template <class T>
std::string littleBytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
std::string arrayBytes(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) {
    bytes += littleBytes(value);
  }
  return bytes;
}

inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string bytes;
  for (const std::string_view part : parts) {
    bytes += part;
  }
  return bytes;
}

// One raw DEFLATE stream of stored blocks.
inline std::string deflateStored(std::string_view content) {
  constexpr std::size_t kBlock = 0xFFFF;
  std::string bytes;
  do {
    const std::string_view block = content.substr(0, kBlock);
    content.remove_prefix(block.size());
    const auto size = static_cast<std::uint16_t>(block.size());
    bytes += content.empty() ? '\x01' : '\x00';
    bytes += littleBytes(size) + littleBytes(static_cast<std::uint16_t>(~size));
    bytes += block;
  } while (!content.empty());
  return bytes;
}

inline std::string gzipBytes(std::string_view content) {
  std::string bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
  return bytes + deflateStored(content) + littleBytes(crc32(content)) +
         littleBytes(static_cast<std::uint32_t>(content.size()));
}

// How a member of a zip archive departs from the plain case.
struct ZipEntry {
  std::string name;
  std::string content;
  bool deflate = false;
  bool zip64 = false;
  std::uint16_t flags = 0;
  std::uint16_t method_override = 0;
  // Added to the true values.
  std::uint32_t crc_error = 0;
  std::uint32_t size_error = 0;
};

// A whole archive of the entries.
inline std::string zipBytes(const std::vector<ZipEntry>& entries) {
  constexpr std::uint32_t kElsewhere = 0xFFFFFFFF;
  std::string bytes;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const std::string packed = entry.deflate ? deflateStored(entry.content) : entry.content;
    const auto method = static_cast<std::uint16_t>(
        entry.method_override != 0 ? entry.method_override : (entry.deflate ? 8 : 0));
    const auto offset = static_cast<std::uint32_t>(bytes.size());
    const auto size = static_cast<std::uint32_t>(entry.content.size()) + entry.size_error;
    const auto packed_size = static_cast<std::uint32_t>(packed.size());
    std::string extra;
    if (entry.zip64) {
      extra = littleBytes(std::uint16_t{1}) + littleBytes(std::uint16_t{24}) +
              littleBytes(std::uint64_t{size}) + littleBytes(std::uint64_t{packed_size}) +
              littleBytes(std::uint64_t{offset});
    }
    const auto or_elsewhere = [&](std::uint32_t value) {
      return littleBytes(entry.zip64 ? kElsewhere : value);
    };
    const std::string common = littleBytes(std::uint16_t{45}) + littleBytes(entry.flags) +
                               littleBytes(method) + std::string(4, '\0') +
                               littleBytes(crc32(entry.content) + entry.crc_error) +
                               or_elsewhere(packed_size) + or_elsewhere(size) +
                               littleBytes(static_cast<std::uint16_t>(entry.name.size()));
    bytes += joined({"PK\x03\x04", common, littleBytes(std::uint16_t{0}), entry.name, packed});
    directory += joined({"PK\x01\x02", littleBytes(std::uint16_t{45}), common,
                         littleBytes(static_cast<std::uint16_t>(extra.size())),
                         std::string(10, '\0'), or_elsewhere(offset), entry.name, extra});
  }
  const auto count = static_cast<std::uint16_t>(entries.size());
  const auto directory_offset = static_cast<std::uint32_t>(bytes.size());
  bytes += directory;
  return bytes + "PK\x05\x06" + std::string(4, '\0') + littleBytes(count) + littleBytes(count) +
         littleBytes(static_cast<std::uint32_t>(directory.size())) + littleBytes(directory_offset) +
         std::string(2, '\0');
}

// An .npy file of format version 1 with the header's parts as written.
inline std::string npyBytes(std::string_view descr, std::string_view shape, std::string_view data,
                            bool fortran = false) {
  std::string header = "{'descr': '" + std::string(descr) +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + std::string(shape) + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) +
         littleBytes(static_cast<std::uint16_t>(header.size())) + header + std::string(data);
}

// A safetensors file with the header's JSON as written.
inline std::string safetensorsBytes(std::string_view header, std::string_view data) {
  return joined({littleBytes(static_cast<std::uint64_t>(header.size())), header, data});
}

// Assembles pickles operation by operation.
class PickleWriter {
 public:
  // Protocol 2, which the datasets at hand use.
  PickleWriter() : bytes_("\x80\x02") {}

  PickleWriter& op(std::string_view code) {
    bytes_ += code;
    return *this;
  }
  PickleWriter& global(std::string_view module, std::string_view name) {
    op("c").op(module).op("\n").op(name);
    bytes_ += '\n';
    return *this;
  }
  PickleWriter& text(std::string_view value) {
    return op("X").op(littleBytes(static_cast<std::uint32_t>(value.size()))).op(value);
  }
  // Python 2's str.
  PickleWriter& bytes(std::string_view value) {
    return op("T").op(littleBytes(static_cast<std::uint32_t>(value.size()))).op(value);
  }
  PickleWriter& integer(std::int32_t value) { return op("J").op(littleBytes(value)); }
  PickleWriter& integers(std::span<const std::int32_t> values) {
    op("(");
    for (const std::int32_t value : values) {
      integer(value);
    }
    return op("t");
  }
  // A numpy array as Python 3 stores it in protocol 2 (bytes as Latin-1 text), or Python 2 does.
  PickleWriter& array(std::string_view type, std::span<const std::int32_t> shape,
                      std::string_view data, bool python3 = true, bool fortran = false);
  // A torch tensor over storage `key`.
  PickleWriter& tensor(std::string_view storage_class, std::string_view key, std::int32_t count,
                       std::span<const std::int32_t> shape, std::span<const std::int32_t> strides,
                       std::int32_t offset = 0);
  [[nodiscard]] std::string finish() const { return bytes_ + "."; }

 private:
  std::string bytes_;
};

inline PickleWriter& PickleWriter::array(std::string_view type, std::span<const std::int32_t> shape,
                                         std::string_view data, bool python3, bool fortran) {
  global("numpy.core.multiarray", "_reconstruct").global("numpy", "ndarray");
  integer(0).op("\x85").bytes("b").op("\x87").op("R");
  op("(").integer(1).integers(shape);
  global("numpy", "dtype").text(type).integer(0).integer(1).op("\x87").op("R");
  op("(").integer(3).text("<").op("NNN").integer(-1).integer(-1).integer(0).op("tb");
  op(fortran ? "\x88" : "\x89");
  if (!python3) {
    return bytes(data).op("tb");
  }
  std::string utf8;
  for (const char c : data) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xC0 | (byte >> 6));
      utf8 += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return global("_codecs", "encode").text(utf8).text("latin1").op("\x86").op("R").op("tb");
}

inline PickleWriter& PickleWriter::tensor(std::string_view storage_class, std::string_view key,
                                          std::int32_t count, std::span<const std::int32_t> shape,
                                          std::span<const std::int32_t> strides,
                                          std::int32_t offset) {
  global("torch._utils", "_rebuild_tensor_v2").op("((").text("storage");
  global("torch", storage_class).text(key).text("cpu").integer(count).op("tQ");
  integer(offset).integers(shape).integers(strides).op("\x89");
  return global("collections", "OrderedDict").op(")R").op("tR");
}

using Storages = std::vector<std::pair<std::string, std::string>>;

// A torch file of the older layout. Storages are (key, bytes), `width` bytes a value.
inline std::string legacyTorchBytes(std::string_view pickle, const Storages& storages = {},
                                    std::size_t width = 8) {
  PickleWriter system;
  system.op("}").text("little_endian").op("\x88").op("s");
  PickleWriter keys;
  keys.op("](");
  for (const auto& [key, content] : storages) {
    keys.text(key);
  }
  keys.op("e");
  std::string bytes("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.");
  bytes += PickleWriter().integer(1001).finish() + system.finish() + std::string(pickle);
  bytes += keys.finish();
  for (const auto& [key, content] : storages) {
    bytes += littleBytes(static_cast<std::uint64_t>(content.size() / width)) + content;
  }
  return bytes;
}

// A torch file of the zip layout.
inline std::string zipTorchBytes(std::string_view pickle, const Storages& storages = {}) {
  std::vector<ZipEntry> entries;
  entries.push_back({.name = "archive/data.pkl", .content = std::string(pickle)});
  entries.push_back({.name = "archive/byteorder", .content = "little"});
  for (const auto& [key, content] : storages) {
    entries.push_back({.name = "archive/data/" + key, .content = content});
  }
  entries.push_back({.name = "archive/version", .content = "3\n"});
  return zipBytes(entries);
}

}  // namespace edgewise::testing
