#include "edgewise/util/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace edgewise {
namespace detail {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kLengthBytes = 8;

std::uint32_t loadBigEndian(const unsigned char* bytes) {
  return (static_cast<std::uint32_t>(bytes[0]) << 24) |
         (static_cast<std::uint32_t>(bytes[1]) << 16) |
         (static_cast<std::uint32_t>(bytes[2]) << 8) | static_cast<std::uint32_t>(bytes[3]);
}

constexpr std::array<std::uint32_t, 64> kSha256Constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha1Compressor::compress(const unsigned char* block) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t t = 0; t < 16; ++t) {
    words[t] = loadBigEndian(block + 4 * t);
  }
  for (std::size_t t = 16; t < 80; ++t) {
    words[t] = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t t = 0; t < 80; ++t) {
    std::uint32_t mixed = 0;
    if (t < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5A827999;
    } else if (t < 40) {
      mixed = (b ^ c ^ d) + 0x6ED9EBA1;
    } else if (t < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC;
    } else {
      mixed = (b ^ c ^ d) + 0xCA62C1D6;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

void Sha256Compressor::compress(const unsigned char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t t = 0; t < 16; ++t) {
    words[t] = loadBigEndian(block + 4 * t);
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 =
        std::rotr(words[t - 15], 7) ^ std::rotr(words[t - 15], 18) ^ (words[t - 15] >> 3);
    const std::uint32_t s1 =
        std::rotr(words[t - 2], 17) ^ std::rotr(words[t - 2], 19) ^ (words[t - 2] >> 10);
    words[t] = words[t - 16] + s0 + words[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t first = h + sum1 + choice + kSha256Constants[t] + words[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] += added[i];
  }
}

template <class Compressor>
void ShaStream<Compressor>::update(std::string_view bytes) {
  total_ += bytes.size();
  while (!bytes.empty()) {
    if (filled_ == 0 && bytes.size() >= kBlock) {
      compressor_.compress(reinterpret_cast<const unsigned char*>(bytes.data()));
      bytes.remove_prefix(kBlock);
      continue;
    }
    const std::size_t taken = std::min(kBlock - filled_, bytes.size());
    std::memcpy(block_.data() + filled_, bytes.data(), taken);
    filled_ += taken;
    bytes.remove_prefix(taken);
    if (filled_ == kBlock) {
      compressor_.compress(block_.data());
      filled_ = 0;
    }
  }
}

template <class Compressor>
std::string ShaStream<Compressor>::finish() {
  const std::uint64_t bit_count = total_ * 8;
  update(std::string_view("\x80", 1));
  constexpr std::array<char, kBlock> kZeros{};
  const std::size_t room = kBlock - kLengthBytes;
  const std::size_t padding = filled_ <= room ? room - filled_ : room + kBlock - filled_;
  update({kZeros.data(), padding});
  std::array<char, kLengthBytes> length{};
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length[i] = static_cast<char>(bit_count >> (8 * (kLengthBytes - 1 - i)));
  }
  update({length.data(), length.size()});
  std::string hex;
  for (const std::uint32_t word : compressor_.state) {
    hex += fmt::format("{:08x}", word);
  }
  return hex;
}

template class ShaStream<Sha1Compressor>;
template class ShaStream<Sha256Compressor>;

}  // namespace detail

std::string sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::string gitBlobId(std::string_view bytes) {
  Sha1 hash;
  hash.update(fmt::format("blob {}", bytes.size()));
  hash.update(std::string_view("\0", 1));
  hash.update(bytes);
  return hash.finish();
}

Fingerprint& Fingerprint::add(std::string_view text) {
  const std::uint64_t size = text.size();
  hash_.update({reinterpret_cast<const char*>(&size), sizeof(size)});
  hash_.update(text);
  return *this;
}

Fingerprint& Fingerprint::add(std::span<const float> values) {
  return add(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
}

Fingerprint& Fingerprint::add(std::span<const double> values) {
  return add(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
}

Fingerprint& Fingerprint::add(std::uint64_t value) {
  return add(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
}

}  // namespace edgewise
