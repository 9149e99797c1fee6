#include <cmath>

#include "ops/cuda/kernels.h"

namespace edgewise::cuda {
namespace {

// One pack of columns of one row.
template <class Real, int Width>
struct AggregatePack {
  Rows rows;
  Scales<Real> scales;
  const Real* x;
  std::size_t packs;
  Real* out;

  EDGEWISE_FN Real columnScale(std::size_t node) const {
    return scales.column == nullptr ? Real{1} : scales.column[node];
  }

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t row = i / packs;
    const std::size_t column = i % packs;
    const std::size_t width = packs * Width;
    Pack<Real, Width> sum{};
    if (scales.self) {
      sum.add(columnScale(row), packAt<Real, Width>(x + row * width, column));
    }
    const std::int64_t end = rows.offsets[row + 1];
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (std::int64_t entry = rows.offsets[row]; entry < end; ++entry) {
      if (rows.gone != nullptr && rows.gone[entry] != 0) {
        continue;
      }
      const auto from = static_cast<std::size_t>(rows.columns[entry]);
      Real scale = columnScale(from);
      if (rows.weights != nullptr) {
        scale *= static_cast<Real>(rows.weights[entry]);
      }
      sum.add(scale, packAt<Real, Width>(x + from * width, column));
    }
    const Real scale = scales.row == nullptr ? Real{1} : scales.row[row];
    Pack<Real, Width> result;
    for (int k = 0; k < Width; ++k) {
      result[k] = scale * sum[k];
    }
    packAt<Real, Width>(out + row * width, column) = result;
  }
};

// Where (row, column) stands among the entries; -1: nowhere.
EDGEWISE_FN std::int64_t findEntry(const Rows& rows, std::size_t row, std::int32_t column) {
  if (row >= rows.count) {
    return -1;
  }
  std::int64_t low = rows.offsets[row];
  std::int64_t high = rows.offsets[row + 1];
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (rows.columns[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < rows.offsets[row + 1] && rows.columns[low] == column ? low : -1;
}

struct MaskEdge {
  Rows rows;
  const std::int32_t* edges;
  bool both_ways;
  std::uint8_t* gone;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::int32_t source = edges[2 * i];
    const std::int32_t target = edges[2 * i + 1];
    const std::int64_t forth = findEntry(rows, static_cast<std::size_t>(source), target);
    if (forth >= 0) {
      gone[forth] = 1;
    }
    const std::int64_t back =
        both_ways ? findEntry(rows, static_cast<std::size_t>(target), source) : -1;
    if (back >= 0) {
      gone[back] = 1;
    }
  }
};

template <class Real>
struct ScaleRow {
  Rows rows;
  DegreeScale kind;
  Real* scale;

  EDGEWISE_FN void operator()(std::size_t row) const {
    double degree = 0;
    for (std::int64_t entry = rows.offsets[row]; entry < rows.offsets[row + 1]; ++entry) {
      if (rows.gone == nullptr || rows.gone[entry] == 0) {
        degree += rows.weights == nullptr ? 1.0 : static_cast<double>(rows.weights[entry]);
      }
    }
    double value = 0;
    if (kind == DegreeScale::kSymmetric) {
      value = 1.0 / sqrt(degree + 1.0);
    } else if (degree > 0) {
      value = kind == DegreeScale::kMean ? 1.0 / degree : 1.0 / sqrt(degree);
    }
    scale[row] = static_cast<Real>(value);
  }
};

template <class Real>
struct ScatterRow {
  Rows rows;
  std::size_t columns;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t row) const {
    for (std::int64_t entry = rows.offsets[row]; entry < rows.offsets[row + 1]; ++entry) {
      if (rows.gone == nullptr || rows.gone[entry] == 0) {
        out[row * columns + static_cast<std::size_t>(rows.columns[entry])] =
            rows.weights == nullptr ? Real{1} : static_cast<Real>(rows.weights[entry]);
      }
    }
  }
};

}  // namespace

template <class Real>
void aggregate(Stream stream, const Rows& rows, const Scales<Real>& scales, const Real* x,
               std::size_t width, Real* out) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        forEach(stream, rows.count * packs,
                AggregatePack<Real, Width>{rows, scales, x, packs, out});
      },
      x, out);
}

void maskEntries(Stream stream, const Rows& rows, const std::int32_t* edges, std::size_t count,
                 bool both_ways, std::uint8_t* gone) {
  forEach(stream, count, MaskEdge{rows, edges, both_ways, gone});
}

template <class Real>
void degreeScales(Stream stream, const Rows& rows, DegreeScale kind, Real* scale) {
  forEach(stream, rows.count, ScaleRow<Real>{rows, kind, scale}, 64);
}

template <class Real>
void scatterEntries(Stream stream, const Rows& rows, std::size_t columns, Real* out) {
  forEach(stream, rows.count, ScatterRow<Real>{rows, columns, out}, 64);
}

#define EDGEWISE_MESSAGES(Real)                                                        \
  template void aggregate<Real>(Stream, const Rows&, const Scales<Real>&, const Real*, \
                                std::size_t, Real*);                                   \
  template void degreeScales<Real>(Stream, const Rows&, DegreeScale, Real*);           \
  template void scatterEntries<Real>(Stream, const Rows&, std::size_t, Real*);
EDGEWISE_MESSAGES(float)
EDGEWISE_MESSAGES(double)
#undef EDGEWISE_MESSAGES

}  // namespace edgewise::cuda
