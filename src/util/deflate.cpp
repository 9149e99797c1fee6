// gzip and DEFLATE through zlib. The only file that knows zlib: a build without it reads everything
// that is not compressed and says so for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "edgewise/util/error.h"
#include "edgewise/util/file.h"

#if EDGEWISE_HAS_ZLIB
#include <zlib.h>
#endif

namespace edgewise {

bool looksLikeGzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

#if EDGEWISE_HAS_ZLIB

namespace {

constexpr int kGzipWindow = 15 + 16;
constexpr int kRawWindow = -15;

// zlib's inflate over input of any size (zlib itself counts in 32 bits).
class Inflater {
 public:
  Inflater(std::string_view input, int window, const std::filesystem::path& path)
      : input_(input), path_(path) {
    if (inflateInit2(&stream_, window) != Z_OK) {
      throw ResourceError("not enough memory to unpack " + path.string());
    }
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Fills `output` as far as the member goes; returns how much was written.
  std::size_t read(char* output, std::size_t size) {
    constexpr std::size_t kLimit = std::numeric_limits<uInt>::max();
    std::size_t written = 0;
    while (written < size && !ended_) {
      const std::size_t in = std::min(kLimit, input_.size());
      const std::size_t out = std::min(kLimit, size - written);
      // zlib's interface predates const; it does not write to its input.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
      stream_.avail_in = static_cast<uInt>(in);
      stream_.next_out = reinterpret_cast<Bytef*>(output + written);
      stream_.avail_out = static_cast<uInt>(out);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      input_.remove_prefix(in - stream_.avail_in);
      written += out - stream_.avail_out;
      check(code);
      ended_ = code == Z_STREAM_END;
    }
    return written;
  }

  // Whether the current member is complete.
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::string_view rest() const { return input_; }
  // Starts on the next gzip member.
  void next() {
    inflateReset(&stream_);
    ended_ = false;
  }

 private:
  void check(int code) const {
    if (code == Z_OK || code == Z_STREAM_END) {
      return;
    }
    if (code == Z_BUF_ERROR) {
      throw DataError(FilePlace{path_}, "the compressed data ends early (truncated file)",
                      "copy or download the file again");
    }
    if (code == Z_MEM_ERROR) {
      throw ResourceError("not enough memory to unpack " + path_.string());
    }
    throw DataError(FilePlace{path_},
                    fmt::format("the compressed data is damaged ({})",
                                stream_.msg != nullptr ? stream_.msg : "unknown zlib error"),
                    "copy or download the file again");
  }

  z_stream stream_{};
  std::string_view input_;
  std::filesystem::path path_;
  bool ended_ = false;
};

}  // namespace

std::string gunzip(std::string_view bytes, const std::filesystem::path& path) {
  Inflater inflater(bytes, kGzipWindow, path);
  constexpr std::size_t kFirstGuess = 1 << 16;
  std::string output(std::max(kFirstGuess, bytes.size() * 4), '\0');
  std::size_t size = 0;
  for (;;) {
    size += inflater.read(output.data() + size, output.size() - size);
    if (inflater.ended()) {
      // Anything but a further member is padding, which gzip itself ignores too.
      if (!looksLikeGzip(inflater.rest())) {
        break;
      }
      inflater.next();
    } else {
      output.resize(output.size() * 2);
    }
  }
  output.resize(size);
  return output;
}

std::string inflateRaw(std::string_view bytes, std::size_t size,
                       const std::filesystem::path& path) {
  // DEFLATE cannot expand more than 1032 times: a header that claims more lies, and must not make
  // us allocate.
  constexpr std::size_t kMaxExpansion = 1040;
  if (size / kMaxExpansion > bytes.size()) {
    throw DataError(FilePlace{path},
                    fmt::format("claims {} bytes from {} compressed ones, which is impossible",
                                size, bytes.size()));
  }
  std::string output(size, '\0');
  Inflater inflater(bytes, kRawWindow, path);
  if (inflater.read(output.data(), size) != size) {
    throw DataError(FilePlace{path},
                    fmt::format("a compressed member holds fewer than its {} bytes", size));
  }
  char beyond = 0;
  if (!inflater.ended() && inflater.read(&beyond, 1) != 0) {
    throw DataError(FilePlace{path},
                    fmt::format("a compressed member holds more than its {} bytes", size));
  }
  return output;
}

#else

std::string gunzip(std::string_view, const std::filesystem::path& path) {
  throw DataError(FilePlace{path}, "is compressed and this build has no zlib",
                  "unpack it first, or build with zlib");
}

std::string inflateRaw(std::string_view, std::size_t, const std::filesystem::path& path) {
  throw DataError(FilePlace{path}, "is compressed and this build has no zlib",
                  "unpack it first, or build with zlib");
}

#endif

}  // namespace edgewise
