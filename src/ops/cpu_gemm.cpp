#include "ops/cpu_gemm.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "ops/loaded_function.h"
#include "ops/one_thread.h"

namespace edgewise::detail {
namespace {

// Rows of one piece: enough for BLAS to run at its rate, few enough to share small layers.
constexpr std::size_t kRowBlock = 256;
// A long sum with a small result is cut into at most this many pieces, added up in order.
constexpr std::size_t kMaxSumPieces = 16;
constexpr std::size_t kMinSumPiece = 512;

template <class Real>
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const Real*,
                  const Real*, const int*, const Real*, const int*, const Real*, Real*, const int*);

// Fortran's interface is the one all BLAS libraries have; it comes with libtorch.
template <class Real>
Gemm<Real>& gemm() {
  static Gemm<Real>* const found =
      loadedFunction<Gemm<Real>>(std::is_same_v<Real, float> ? "sgemm_" : "dgemm_");
  if (found == nullptr) {
    throw ResourceError("no BLAS is loaded with libtorch",
                        "on Debian: apt-get install libopenblas-openmp-dev");
  }
  return *found;
}

int blasSize(std::size_t size) {
  invariant(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
            "a matrix has more rows than BLAS can count");
  return static_cast<int>(size);
}

template <class Real>
std::size_t stepOf(const MatrixView<Real>& matrix) {
  return std::max<std::size_t>(matrix.columns, 1);
}

// out [count, b.width()] = a[first.., from..to) * b[from..to) (+ out).
template <class Real>
void callBlas(const MatrixView<Real>& a, const MatrixView<Real>& b, std::size_t first,
              std::size_t count, std::size_t from, std::size_t to, Real* out, bool accumulate) {
  const std::size_t a_start = a.transposed ? from * a.columns + first : first * a.columns + from;
  const std::size_t b_start = b.transposed ? from : from * b.columns;
  const int rows = blasSize(count);
  const int columns = blasSize(b.width());
  const int inner = blasSize(to - from);
  const int a_step = blasSize(stepOf(a));
  const int b_step = blasSize(stepOf(b));
  const Real one = 1;
  const Real keep = accumulate ? 1 : 0;
  const OneThread one_thread;
  // BLAS thinks in columns: it is handed the transposed product, which is the same memory.
  gemm<Real>()(b.transposed ? "T" : "N", a.transposed ? "T" : "N", &columns, &rows, &inner, &one,
               b.data + b_start, &b_step, a.data + a_start, &a_step, &keep, out, &columns);
}

// On one core, by its usual rate.
template <class Real>
double nanosecondsOf(const MatrixView<Real>& a, const MatrixView<Real>& b) {
  constexpr double kProductsPerNanosecond = 20;
  return static_cast<double>(a.height() * a.width()) * static_cast<double>(b.width()) /
         kProductsPerNanosecond;
}

// Rows of the result are independent of each other.
template <class Real>
void multiplyByRows(const MatrixView<Real>& a, const MatrixView<Real>& b, Real* out,
                    bool accumulate) {
  parallelFor(
      a.height(), kRowBlock,
      [&](std::size_t begin, std::size_t end) {
        multiplyRows(a, b, begin, end - begin, out + begin * b.width(), accumulate);
      },
      nanosecondsOf(a, b));
}

// Few rows in the result, a long sum for each: pieces of the sum, then their total in order.
template <class Real>
void multiplyByPieces(const MatrixView<Real>& a, const MatrixView<Real>& b, Real* out,
                      bool accumulate) {
  const std::size_t length = a.width();
  const std::size_t piece = std::max(kMinSumPiece, (length + kMaxSumPieces - 1) / kMaxSumPieces);
  const std::size_t pieces = (length + piece - 1) / piece;
  const std::size_t size = a.height() * b.width();
  std::vector<Real> partial((pieces - 1) * size);
  parallelFor(
      pieces, 1,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          Real* to = i == 0 ? out : partial.data() + (i - 1) * size;
          callBlas(a, b, 0, a.height(), i * piece, std::min(length, (i + 1) * piece), to,
                   i == 0 && accumulate);
        }
      },
      nanosecondsOf(a, b));
  for (std::size_t i = 0; i + 1 < pieces; ++i) {
    const Real* from = partial.data() + i * size;
#pragma omp simd
    for (std::size_t k = 0; k < size; ++k) {
      out[k] += from[k];
    }
  }
}

}  // namespace

template <class Real>
void multiplyRows(const MatrixView<Real>& a, const MatrixView<Real>& b, std::size_t first,
                  std::size_t count, Real* out, bool accumulate) {
  callBlas(a, b, first, count, 0, a.width(), out, accumulate);
}

template <class Real>
void multiply(const MatrixView<Real>& a, const MatrixView<Real>& b, Real* out, bool accumulate) {
  const std::size_t size = a.height() * b.width();
  if (size == 0) {
    return;
  }
  if (a.width() == 0) {
    if (!accumulate) {
      std::fill_n(out, size, Real{0});
    }
    return;
  }
  if (a.width() >= 2 * kMinSumPiece && a.height() < 2 * kRowBlock + 1) {
    multiplyByPieces(a, b, out, accumulate);
  } else {
    multiplyByRows(a, b, out, accumulate);
  }
}

template void multiply<float>(const MatrixView<float>&, const MatrixView<float>&, float*, bool);
template void multiply<double>(const MatrixView<double>&, const MatrixView<double>&, double*, bool);
template void multiplyRows<float>(const MatrixView<float>&, const MatrixView<float>&, std::size_t,
                                  std::size_t, float*, bool);
template void multiplyRows<double>(const MatrixView<double>&, const MatrixView<double>&,
                                   std::size_t, std::size_t, double*, bool);

}  // namespace edgewise::detail
