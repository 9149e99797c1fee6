// SHA-256 for what we fingerprint ourselves (datasets, splits, frozen negatives) and git's blob id
// (SHA-1 with a header), by which public repositories name the exact bytes of their files. Both
// detect damage and mix-ups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace edgewise {

namespace detail {

// The Merkle-Damgard frame that SHA-1 and SHA-256 share: 64-byte blocks, big-endian length padding.
template <class Compressor>
class ShaStream {
 public:
  void update(std::string_view bytes);
  // Lower-case hex of the digest. The stream must not be used afterwards.
  [[nodiscard]] std::string finish();

 private:
  Compressor compressor_;
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

struct Sha1Compressor {
  std::array<std::uint32_t, 5> state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  void compress(const unsigned char* block);
};

struct Sha256Compressor {
  std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  void compress(const unsigned char* block);
};

extern template class ShaStream<Sha1Compressor>;
extern template class ShaStream<Sha256Compressor>;

}  // namespace detail

using Sha1 = detail::ShaStream<detail::Sha1Compressor>;
using Sha256 = detail::ShaStream<detail::Sha256Compressor>;

[[nodiscard]] std::string sha256Hex(std::string_view bytes);

// What `git hash-object` prints for a file with these bytes.
[[nodiscard]] std::string gitBlobId(std::string_view bytes);

// SHA-256 over typed values, each field preceded by its length so that neighbours cannot run into
// one another.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view text);
  template <class T>
    requires std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>
  Fingerprint& add(std::span<const T> values) {
    return add(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
  }
  // Floating-point values by their bits.
  Fingerprint& add(std::span<const float> values);
  Fingerprint& add(std::span<const double> values);
  Fingerprint& add(std::uint64_t value);
  [[nodiscard]] std::string hex() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

}  // namespace edgewise
