#include "ops/cpu_rowwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "edgewise/util/parallel.h"

namespace edgewise::detail {
namespace {

// Entries that one block of a loop handles.
constexpr std::size_t kBlockEntries = 32'768;
constexpr std::size_t kMaxPieces = 64;
// A sum is a sum of runs of this many numbers: one long chain of additions in floats loses about as
// many units in the last place as it is long.
constexpr std::size_t kRun = 256;

std::size_t rowsPerBlock(std::size_t columns) {
  return std::max<std::size_t>(1, kBlockEntries / std::max<std::size_t>(1, columns));
}

// Of one exponential.
constexpr double kExponentialNanoseconds = 6;

template <class Real>
Real largestOf(const Real* x, std::size_t count) {
  Real largest = -std::numeric_limits<Real>::infinity();
  for (std::size_t k = 0; k < count; ++k) {
    largest = std::max(largest, x[k]);
  }
  return largest;
}

template <class Real>
void addRow(const Real* from, std::size_t columns, Real* to) {
#pragma omp simd
  for (std::size_t k = 0; k < columns; ++k) {
    to[k] += from[k];
  }
}

// Runs of vectors of numbers: a compiler adds up 8 or 16 chains side by side.
template <class Real>
Real sumOf(const Real* x, std::size_t count) {
  double total = 0;
  for (std::size_t first = 0; first < count; first += 16 * kRun) {
    const Real* const from = x + first;
    const std::size_t length = std::min(16 * kRun, count - first);
    Real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < length; ++k) {
      sum += from[k];
    }
    total += static_cast<double>(sum);
  }
  return static_cast<Real>(total);
}

// to += the rows [begin, end) of x, in runs.
template <class Real>
void addRows(const Real* x, std::size_t begin, std::size_t end, std::size_t columns, Real* to) {
  if (columns == 1) {
    *to += sumOf(x + begin, end - begin);
    return;
  }
  std::vector<Real> run(columns);
  for (std::size_t first = begin; first < end; first += kRun) {
    std::ranges::fill(run, Real{0});
    for (std::size_t row = first; row < std::min(end, first + kRun); ++row) {
      addRow(x + row * columns, columns, run.data());
    }
    addRow(run.data(), columns, to);
  }
}

}  // namespace

template <class Real>
void sumRowsInto(const Real* x, std::size_t rows, std::size_t columns, Real* out) {
  const std::size_t piece = std::max(rowsPerBlock(columns), (rows + kMaxPieces - 1) / kMaxPieces);
  const std::size_t pieces = std::max<std::size_t>(1, (rows + piece - 1) / piece);
  std::vector<Real> partial(pieces * columns, Real{0});
  parallelFor(
      pieces, 1,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          addRows(x, i * piece, std::min(rows, (i + 1) * piece), columns,
                  partial.data() + i * columns);
        }
      },
      0.2 * static_cast<double>(rows * columns));
  std::copy_n(partial.begin(), columns, out);
  for (std::size_t i = 1; i < pieces; ++i) {
    addRow(partial.data() + i * columns, columns, out);
  }
}

template <class Real>
void repeatRow(const Real* row, std::size_t rows, std::size_t columns, Real* out) {
  parallelFor(
      rows, rowsPerBlock(columns),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          std::copy_n(row, columns, out + i * columns);
        }
      },
      0.1 * static_cast<double>(rows * columns));
}

template <class Real>
void sumEachRow(const Real* x, std::size_t rows, std::size_t columns, Real* out) {
  parallelFor(
      rows, rowsPerBlock(columns),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          out[i] = sumOf(x + i * columns, columns);
        }
      },
      0.3 * static_cast<double>(rows * columns));
}

template <class Real>
void repeatColumn(const Real* column, std::size_t rows, std::size_t columns, Real* out) {
  parallelFor(
      rows, rowsPerBlock(columns),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          std::fill_n(out + i * columns, columns, column[i]);
        }
      },
      0.1 * static_cast<double>(rows * columns));
}

template <class Real>
void softmaxOf(const Real* x, std::size_t rows, std::size_t columns, Real* out) {
  parallelFor(
      rows, rowsPerBlock(columns),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Real* from = x + i * columns;
          Real* to = out + i * columns;
          const Real largest = largestOf(from, columns);
          for (std::size_t k = 0; k < columns; ++k) {
            to[k] = std::exp(from[k] - largest);
          }
          const Real scale = 1 / sumOf(to, columns);
          for (std::size_t k = 0; k < columns; ++k) {
            to[k] *= scale;
          }
        }
      },
      kExponentialNanoseconds * static_cast<double>(rows * columns));
}

template <class Real>
void logSumExpOf(const Real* x, std::size_t rows, std::size_t columns, Real* out) {
  parallelFor(
      rows, rowsPerBlock(columns),
      [&](std::size_t begin, std::size_t end) {
        std::vector<Real> small(columns);
        for (std::size_t i = begin; i < end; ++i) {
          const Real* from = x + i * columns;
          const Real largest = largestOf(from, columns);
          for (std::size_t k = 0; k < columns; ++k) {
            small[k] = std::exp(from[k] - largest);
          }
          out[i] = columns == 0 ? largest : largest + std::log(sumOf(small.data(), columns));
        }
      },
      kExponentialNanoseconds * static_cast<double>(rows * columns));
}

template <class Real>
void logisticOf(const Real* x, std::size_t count, Real* out) {
  parallelFor(
      count, kBlockEntries / 8,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          // Through exp of a negative number, so that nothing overflows.
          const Real small = std::exp(-std::abs(x[i]));
          out[i] = x[i] >= 0 ? 1 / (1 + small) : small / (1 + small);
        }
      },
      10 * static_cast<double>(count));
}

template <class Real>
void crossEntropyOf(const Real* logits, const Real* labels, std::size_t count, Real* out) {
  parallelFor(
      count, kBlockEntries / 8,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          out[i] = std::max(logits[i], Real{0}) - logits[i] * labels[i] +
                   std::log1p(std::exp(-std::abs(logits[i])));
        }
      },
      20 * static_cast<double>(count));
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_ROWWISE(Real)                                                    \
  template void sumRowsInto<Real>(const Real*, std::size_t, std::size_t, Real*);  \
  template void repeatRow<Real>(const Real*, std::size_t, std::size_t, Real*);    \
  template void sumEachRow<Real>(const Real*, std::size_t, std::size_t, Real*);   \
  template void repeatColumn<Real>(const Real*, std::size_t, std::size_t, Real*); \
  template void logSumExpOf<Real>(const Real*, std::size_t, std::size_t, Real*);  \
  template void softmaxOf<Real>(const Real*, std::size_t, std::size_t, Real*);    \
  template void logisticOf<Real>(const Real*, std::size_t, Real*);                \
  template void crossEntropyOf<Real>(const Real*, const Real*, std::size_t, Real*);
EDGEWISE_ROWWISE(float)
EDGEWISE_ROWWISE(double)
#undef EDGEWISE_ROWWISE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
