#include <cmath>

#include "ops/cuda/rows.h"

namespace edgewise::cuda {
namespace {

EDGEWISE_FN float number(float value) { return value; }
EDGEWISE_FN double number(double value) { return value; }
EDGEWISE_FN float number(Half value) { return toFloat(value); }

// What packs of columns of rows are computed from. `Message` is what is gathered. `Plain`: entries
// have no weights and all of them count. `Few`: rows whose column scale is 0 are not looked at.
template <class Real, class Message, int Width, bool Plain, bool Few>
struct Aggregation {
  Rows rows;
  RowOrder order;
  Scales<Real> scales;
  const Message* x;
  std::size_t packs;
  Addends<Real> plus;
  Real* out;
  Real* scratch;

  using Sum = Pack<Real, Width>;

  EDGEWISE_FN Real columnScale(std::size_t node) const {
    return scales.column == nullptr ? Real{1} : scales.column[node];
  }
  EDGEWISE_FN void add(Real scale, std::size_t node, std::size_t column, Sum& sum) const {
    const Pack<Message, Width> row = packAt<Message, Width>(x + node * packs * Width, column);
    for (int k = 0; k < Width; ++k) {
      sum[k] += scale * number(row.values[k]);
    }
  }
  EDGEWISE_FN void addSelf(std::size_t row, std::size_t column, Sum& sum) const {
    if (scales.self) {
      add(columnScale(row), row, column, sum);
    }
  }
  EDGEWISE_FN Real entryScale(std::int64_t entry, std::size_t from) const {
    if constexpr (Plain) {
      return columnScale(from);
    }
    // What is masked counts nothing rather than being jumped over: loads need not wait for it.
    const Real scale = rows.gone != nullptr && rows.gone[entry] != 0 ? Real{0} : columnScale(from);
    return rows.weights == nullptr ? scale : scale * static_cast<Real>(rows.weights[entry]);
  }
  // All rows are on their way before the first one is needed.
  static constexpr int kAhead = 8;
  template <int Count>
  EDGEWISE_FN void addSome(std::int64_t entry, std::size_t column, Sum& sum) const {
    std::size_t from[Count];
    Real scale[Count];
    Pack<Message, Width> row[Count];
    for (int i = 0; i < Count; ++i) {
      from[i] = static_cast<std::size_t>(rows.columns[entry + i]);
    }
    if constexpr (Few) {
      for (int i = 0; i < Count; ++i) {
        scale[i] = entryScale(entry + i, from[i]);
      }
      for (int i = 0; i < Count; ++i) {
        row[i] = {};
        if (scale[i] != 0) {
          row[i] = packAt<Message, Width>(x + from[i] * packs * Width, column);
        }
      }
    } else {
      for (int i = 0; i < Count; ++i) {
        row[i] = packAt<Message, Width>(x + from[i] * packs * Width, column);
      }
      for (int i = 0; i < Count; ++i) {
        scale[i] = entryScale(entry + i, from[i]);
      }
    }
    for (int i = 0; i < Count; ++i) {
      for (int k = 0; k < Width; ++k) {
        sum[k] += scale[i] * number(row[i].values[k]);
      }
    }
  }
  // What is left in steps of half the size: one row after the other would each be waited for.
  template <int Count>
  EDGEWISE_FN void addRest(std::int64_t entry, std::int64_t end, std::size_t column,
                           Sum& sum) const {
    if constexpr (Count > 0) {
      if (entry + Count <= end) {
        addSome<Count>(entry, column, sum);
        entry += Count;
      }
      addRest<Count / 2>(entry, end, column, sum);
    }
  }
  EDGEWISE_FN void addEntries(std::int64_t begin, std::int64_t end, std::size_t column,
                              Sum& sum) const {
    std::int64_t entry = begin;
    for (; entry + kAhead <= end; entry += kAhead) {
      addSome<kAhead>(entry, column, sum);
    }
    addRest<kAhead / 2>(entry, end, column, sum);
  }
  EDGEWISE_FN Sum& scratchAt(std::size_t segment, std::size_t column) const {
    return packAt<Real, Width>(scratch, segment * packs + column);
  }
  EDGEWISE_FN bool isLong(std::size_t row, std::size_t& place) const {
    std::size_t low = 0;
    std::size_t high = order.long_count;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (static_cast<std::size_t>(order.long_rows[middle]) < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    place = low;
    return low < order.long_count && static_cast<std::size_t>(order.long_rows[low]) == row;
  }
  // The sum of `row`, scaled and added to, as row `to` of what comes out.
  EDGEWISE_FN void finish(std::size_t row, std::size_t to, std::size_t column,
                          const Sum& sum) const {
    const Real scale = scales.row == nullptr ? Real{1} : scales.row[row];
    Sum result;
    for (int k = 0; k < Width; ++k) {
      result[k] = scale * sum[k];
    }
    const std::size_t first = to * packs * Width;
    if (plus.matrix != nullptr) {
      result.add(Real{1}, packAt<Real, Width>(plus.matrix + first, column));
    }
    if (plus.bias != nullptr) {
      result.add(Real{1}, packAt<Real, Width>(plus.bias, column));
    }
    packAt<Real, Width>(out + first, column) = result;
  }
};

// One pack of columns of one row that is not long.
template <class All>
struct AggregateRow {
  All all;

  EDGEWISE_FN void operator()(std::size_t place, std::size_t column) const {
    const std::size_t row =
        all.order.rows == nullptr ? place : static_cast<std::size_t>(all.order.rows[place]);
    typename All::Sum sum{};
    all.addSelf(row, column, sum);
    all.addEntries(all.rows.offsets[row], all.rows.offsets[row + 1], column, sum);
    all.finish(row, row, column, sum);
  }
};

// One pack of columns of one row that was picked.
template <class All>
struct AggregatePicked {
  All all;

  EDGEWISE_FN void operator()(std::size_t place, std::size_t column) const {
    const auto row = static_cast<std::size_t>(all.order.rows[place]);
    typename All::Sum sum{};
    std::size_t known = 0;
    if (all.isLong(row, known)) {
      sum = all.scratchAt(all.order.segments + known, column);
    } else {
      all.addSelf(row, column, sum);
      all.addEntries(all.rows.offsets[row], all.rows.offsets[row + 1], column, sum);
    }
    all.finish(row, place, column, sum);
  }
};

// One pack of columns of one segment of a long row.
template <class All>
struct AggregateSegment {
  All all;

  EDGEWISE_FN void operator()(std::size_t segment, std::size_t column) const {
    typename All::Sum sum{};
    all.addEntries(all.order.bounds[2 * segment], all.order.bounds[2 * segment + 1], column, sum);
    all.scratchAt(segment, column) = sum;
  }
};

// One pack of columns of a long row, from its segments.
template <class All>
struct AggregateSegments {
  All all;

  EDGEWISE_FN void operator()(std::size_t place, std::size_t column) const {
    const auto row = static_cast<std::size_t>(all.order.long_rows[place]);
    typename All::Sum sum{};
    all.addSelf(row, column, sum);
    for (std::int32_t k = all.order.first[place]; k < all.order.first[place + 1]; ++k) {
      sum.add(1, all.scratchAt(static_cast<std::size_t>(k), column));
    }
    if (all.order.picked) {
      all.scratchAt(all.order.segments + place, column) = sum;
    } else {
      all.finish(row, row, column, sum);
    }
  }
};

template <class All>
void start(Stream stream, const All& all) {
  forEachCell(stream, all.order.segments, all.packs, AggregateSegment<All>{all});
  forEachCell(stream, all.order.long_count, all.packs, AggregateSegments<All>{all});
  if (all.order.picked) {
    forEachCell(stream, all.order.count, all.packs, AggregatePicked<All>{all});
  } else {
    forEachCell(stream, all.order.count, all.packs, AggregateRow<All>{all});
  }
}

template <class Real, class Message>
struct Operands {
  Rows rows;
  RowOrder order;
  Scales<Real> scales;
  const Message* x;
  std::size_t width;
  Addends<Real> plus;
  Real* out;
  Real* scratch;
};

template <int Width, bool Few, class Real, class Message>
void startEither(Stream stream, const Operands<Real, Message>& with) {
  const auto run = [&]<bool Plain>() {
    start(stream, Aggregation<Real, Message, Width, Plain, Few>{with.rows, with.order, with.scales,
                                                                with.x, with.width / Width,
                                                                with.plus, with.out, with.scratch});
  };
  if (with.rows.weights == nullptr && with.rows.gone == nullptr) {
    run.template operator()<true>();
  } else {
    run.template operator()<false>();
  }
}

// One row of messages: scaled by a power of two so that the greatest lies just below 2^15.
template <int Width>
struct MessageRow {
  const float* x;
  std::size_t packs;
  const float* column_scale;
  Half* messages;
  float* down;

  EDGEWISE_FN Pack<float, Width> at(std::size_t row, std::size_t column) const {
    const float by = column_scale == nullptr ? 1.0F : column_scale[row];
    Pack<float, Width> values = packAt<float, Width>(x, row * packs + column);
    for (int k = 0; k < Width; ++k) {
      values[k] *= by;
    }
    return values;
  }
  EDGEWISE_FN float size(std::size_t row, std::size_t column) const {
    const Pack<float, Width> values = at(row, column);
    float most = 0;
    for (int k = 0; k < Width; ++k) {
      most = fmaxf(most, fabsf(values[k]));
    }
    return most;
  }
  EDGEWISE_FN void store(std::size_t row, std::size_t column, float most) const {
    constexpr int kRange = 15;
    // No further than a float's own range.
    constexpr int kMost = 120;
    int exponent = 0;
    if (most > 0 && most - most == 0) {
      frexpf(most, &exponent);
      exponent = kRange - exponent;
      exponent = exponent > kMost ? kMost : exponent < -kMost ? -kMost : exponent;
    }
    const float up = ldexpf(1.0F, exponent);
    const Pack<float, Width> values = at(row, column);
    Pack<Half, Width> to;
    for (int k = 0; k < Width; ++k) {
      to[k] = toHalf(values[k] * up);
    }
    packAt<Half, Width>(messages, row * packs + column) = to;
    if (column == 0) {
      // Nothing to gather where all is 0.
      down[row] = most == 0 ? 0.0F : ldexpf(1.0F, -exponent);
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

template <class Real>
void aggregate(Stream stream, const Rows& rows, const RowOrder& order, const Scales<Real>& scales,
               const Real* x, std::size_t width, const Addends<Real>& plus, Real* out,
               Real* scratch) {
  const Operands<Real, Real> with{rows, order, scales, x, width, plus, out, scratch};
  byPack(
      width, [&]<int Width>() { startEither<Width, false>(stream, with); }, x, out, plus.matrix,
      plus.bias);
}

void toMessages(Stream stream, const float* x, std::size_t rows, std::size_t width,
                const float* column_scale, std::uint16_t* messages, float* down) {
  auto* const to = reinterpret_cast<Half*>(messages);
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        byRowMaximum(stream, rows, packs, MessageRow<Width>{x, packs, column_scale, to, down});
      },
      x, to);
}

void aggregateMessages(Stream stream, const Rows& rows, const RowOrder& order,
                       const Scales<float>& scales, const std::uint16_t* messages,
                       std::size_t width, const float* down, bool few, const Addends<float>& plus,
                       float* out, float* scratch) {
  const auto* const x = reinterpret_cast<const Half*>(messages);
  const Operands<float, Half> with{rows, order,  {scales.row, down, scales.self}, x, width, plus,
                                   out,  scratch};
  const auto run = [&]<int Width>() {
    if (few) {
      startEither<Width, true>(stream, with);
    } else {
      startEither<Width, false>(stream, with);
    }
  };
  // Eight messages are as wide as four floats.
  if (width % 8 == 0) {
    byPack<8>(width, run, x, out, plus.matrix, plus.bias);
  } else {
    byPack(width, run, x, out, plus.matrix, plus.bias);
  }
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

#define EDGEWISE_MESSAGES(Real)                                                                \
  template void aggregate<Real>(Stream, const Rows&, const RowOrder&, const Scales<Real>&,     \
                                const Real*, std::size_t, const Addends<Real>&, Real*, Real*); \
  template void degreeScales<Real>(Stream, const Rows&, DegreeScale, Real*);                   \
  template void scatterEntries<Real>(Stream, const Rows&, std::size_t, std::size_t, Real*);
EDGEWISE_MESSAGES(float)
EDGEWISE_MESSAGES(double)
#undef EDGEWISE_MESSAGES

}  // namespace edgewise::cuda
