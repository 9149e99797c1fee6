// How fast this machine is at the few things all our work consists of, measured with the threads
// that are set and by our own bare kernels. A step's time means little across machines; its ratio
// to what these rates allow means much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace edgewise {

struct ProductShape {
  std::size_t rows = 0;
  std::size_t inner = 0;
  std::size_t columns = 0;
};

// All take the best of several repeats within about `seconds` (and at least three): what the
// machine can do, not what its other users leave of it.

// Floating-point operations a second of a dense product of floats, [rows, inner] * [inner,
// columns].
[[nodiscard]] double productRate(const ProductShape& shape, double seconds);
// A product large enough for all threads.
[[nodiscard]] ProductShape largeProduct();

// Bytes a second of a[i] = b[i] + s * c[i] over three arrays of this many bytes each, 3 *
// array_bytes a pass. Arrays larger than `beyondCaches()` are measured as that.
[[nodiscard]] double streamRate(std::size_t array_bytes, double seconds);
// Bytes of an array that is much larger than the caches.
[[nodiscard]] std::size_t beyondCaches();

// Bytes a second of summing rows of `width` floats, picked by `picks`, from a table of `rows`: the
// bare loop of message passing. Every pick must be below `rows`; needs at least one.
[[nodiscard]] double gatherRate(std::span<const std::uint32_t> picks, std::size_t rows,
                                std::size_t width, double seconds);

// Seconds until one thread sees what another has written; 0 where there is but one thread. Every
// parallel loop pays this some times. Between cores that share a cache it is a tenth of what it is
// between others, and virtual machines move between the two without notice.
[[nodiscard]] double handoverSeconds(double seconds);

}  // namespace edgewise
