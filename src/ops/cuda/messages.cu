#include <cmath>

#include "ops/cuda/rows.h"

namespace edgewise::cuda {
namespace {

// How far a message is scaled up, by a power of two, so that its greatest number lies just below
// 2^15.
EDGEWISE_FN int messageExponent(float most) {
  constexpr int kRange = 15;
  // No further than a float's own range.
  constexpr int kMost = 120;
  int exponent = 0;
  if (most > 0 && most - most == 0) {
    frexpf(most, &exponent);
    exponent = kRange - exponent;
    exponent = exponent > kMost ? kMost : exponent < -kMost ? -kMost : exponent;
  }
  return exponent;
}

// Where messages go, with what they are to be multiplied by.
template <int Width>
struct Messages {
  std::size_t packs;
  Half* numbers;
  float* down;

  EDGEWISE_FN static float size(const Pack<float, Width>& values) {
    float most = 0;
    for (int k = 0; k < Width; ++k) {
      most = fmaxf(most, fabsf(values[k]));
    }
    return most;
  }
  EDGEWISE_FN void store(std::size_t node, std::size_t column, const Pack<float, Width>& values,
                         float most) const {
    const int exponent = messageExponent(most);
    const float up = ldexpf(1.0F, exponent);
    Pack<Half, Width> to;
    for (int k = 0; k < Width; ++k) {
      to[k] = toHalf(values[k] * up);
    }
    packAt<Half, Width>(numbers, node * packs + column) = to;
    if (column == 0) {
      down[node] = ldexpf(1.0F, -exponent);
    }
  }
};

// One row of messages out of a matrix.
template <int Width>
struct MessageRow {
  const float* x;
  const float* column_scale;
  Messages<Width> to;

  EDGEWISE_FN Pack<float, Width> at(std::size_t row, std::size_t column) const {
    const float by = column_scale == nullptr ? 1.0F : column_scale[row];
    Pack<float, Width> values = packAt<float, Width>(x, row * to.packs + column);
    for (int k = 0; k < Width; ++k) {
      values[k] *= by;
    }
    return values;
  }
  EDGEWISE_FN float size(std::size_t row, std::size_t column) const {
    return to.size(at(row, column));
  }
  EDGEWISE_FN void store(std::size_t row, std::size_t column, float most) const {
    to.store(row, column, at(row, column), most);
  }
};

// The message of one end: of all rows of its node together, where this is the node's first.
template <int Width>
struct EndMessage {
  Pairs pairs;
  const float* rows;
  const float* column_scale;
  Messages<Width> to;

  EDGEWISE_FN std::size_t nodeAt(std::size_t at) const {
    return static_cast<std::size_t>(pairs.ends[pairs.places[at]]);
  }
  EDGEWISE_FN bool isFirst(std::size_t at) const {
    return static_cast<std::size_t>(pairs.offsets[nodeAt(at)]) == at;
  }
  EDGEWISE_FN Pack<float, Width> sum(std::size_t node, std::size_t column) const {
    Pack<float, Width> values{};
    for (std::int32_t at = pairs.offsets[node]; at < pairs.offsets[node + 1]; ++at) {
      const auto row = static_cast<std::size_t>(pairs.places[at]);
      values.add(column_scale == nullptr ? 1.0F : column_scale[node],
                 packAt<float, Width>(rows, row * to.packs + column));
    }
    return values;
  }
  EDGEWISE_FN float size(std::size_t at, std::size_t column) const {
    return isFirst(at) ? to.size(sum(nodeAt(at), column)) : 0.0F;
  }
  EDGEWISE_FN void store(std::size_t at, std::size_t column, float most) const {
    if (isFirst(at)) {
      to.store(nodeAt(at), column, sum(nodeAt(at), column), most);
    }
  }
};

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

struct RowWidth {
  Rows rows;
  EDGEWISE_FN std::size_t operator()(std::size_t row) const {
    return static_cast<std::size_t>(rows.offsets[row + 1] - rows.offsets[row]);
  }
};

// What an entry adds to its row's degree.
struct EntryWeight {
  Rows rows;
  EDGEWISE_FN double operator()(std::size_t row, std::size_t k) const {
    const std::int64_t entry = rows.offsets[row] + static_cast<std::int64_t>(k);
    if (rows.gone != nullptr && rows.gone[entry] != 0) {
      return 0;
    }
    return rows.weights == nullptr ? 1.0 : static_cast<double>(rows.weights[entry]);
  }
};

template <class Real>
struct StoreScale {
  DegreeScale kind;
  Real* scale;

  EDGEWISE_FN void operator()(std::size_t row, double degree) const {
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
struct ScatterEntry {
  Rows rows;
  std::size_t stride;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t entry) const {
    if (rows.gone != nullptr && rows.gone[entry] != 0) {
      return;
    }
    // The last row that begins at or before it.
    std::size_t low = 0;
    std::size_t high = rows.count;
    while (low + 1 < high) {
      const std::size_t middle = (low + high) / 2;
      if (static_cast<std::size_t>(rows.offsets[middle]) <= entry) {
        low = middle;
      } else {
        high = middle;
      }
    }
    out[low * stride + static_cast<std::size_t>(rows.columns[entry])] =
        rows.weights == nullptr ? Real{1} : static_cast<Real>(rows.weights[entry]);
  }
};

}  // namespace

void toMessages(Stream stream, const float* x, std::size_t rows, std::size_t width,
                const float* column_scale, std::uint16_t* messages, float* down) {
  auto* const to = reinterpret_cast<Half*>(messages);
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        byRowMaximum(stream, rows, packs,
                     MessageRow<Width>{x, column_scale, Messages<Width>{packs, to, down}});
      },
      x, to);
}

void endsToMessages(Stream stream, const Pairs& pairs, const float* rows, std::size_t width,
                    const float* column_scale, std::uint16_t* messages, float* down) {
  auto* const to = reinterpret_cast<Half*>(messages);
  fillZero(stream, down, pairs.nodes * sizeof(float));
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        byRowMaximum(
            stream, 2 * pairs.count, packs,
            EndMessage<Width>{pairs, rows, column_scale, Messages<Width>{packs, to, down}});
      },
      rows, to);
}

void maskEntries(Stream stream, const Rows& rows, const std::int32_t* edges, std::size_t count,
                 bool both_ways, std::uint8_t* gone) {
  forEach(stream, count, MaskEdge{rows, edges, both_ways, gone});
}

template <class Real>
void degreeScales(Stream stream, const Rows& rows, DegreeScale kind, Real* scale) {
  sumRows<double>(stream, rows.count, RowWidth{rows}, EntryWeight{rows},
                  StoreScale<Real>{kind, scale});
}

template <class Real>
void scatterEntries(Stream stream, const Rows& rows, std::size_t entries, std::size_t stride,
                    Real* out) {
  forEach(stream, entries, ScatterEntry<Real>{rows, stride, out});
}

#define EDGEWISE_MESSAGES(Real)                                              \
  template void degreeScales<Real>(Stream, const Rows&, DegreeScale, Real*); \
  template void scatterEntries<Real>(Stream, const Rows&, std::size_t, std::size_t, Real*);
EDGEWISE_MESSAGES(float)
EDGEWISE_MESSAGES(double)
#undef EDGEWISE_MESSAGES

}  // namespace edgewise::cuda
