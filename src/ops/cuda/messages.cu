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
    const Real scale = scales.self ? columnScale(row) : Real{0};
    if (scales.self && (!Few || scale != 0)) {
      add(scale, row, column, sum);
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
    Pack<Message, Width> row[Count] = {};
    for (int i = 0; i < Count; ++i) {
      from[i] = static_cast<std::size_t>(rows.columns[entry + i]);
    }
    if constexpr (Few) {
      for (int i = 0; i < Count; ++i) {
        scale[i] = entryScale(entry + i, from[i]);
      }
      for (int i = 0; i < Count; ++i) {
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

// One pack of columns of one segment of a long row; after all segments, of one row that is not
// long.
template <class All>
struct AggregateRow {
  All all;

  EDGEWISE_FN void operator()(std::size_t place, std::size_t column) const {
    const RowOrder& order = all.order;
    const bool segment = place < order.segments;
    std::size_t row = place - (segment ? 0 : order.segments);
    if (!segment && order.rows != nullptr) {
      row = static_cast<std::size_t>(order.rows[row]);
    }
    const std::int64_t* const bounds = segment ? order.bounds + 2 * row : all.rows.offsets + row;
    typename All::Sum sum{};
    if (!segment) {
      all.addSelf(row, column, sum);
    }
    all.addEntries(bounds[0], bounds[1], column, sum);
    if (segment) {
      all.scratchAt(row, column) = sum;
    } else {
      all.finish(row, row, column, sum);
    }
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
  // Rows that are picked may be long ones, whose sums have to be there.
  const std::size_t others = all.order.picked ? 0 : all.order.count;
  forEachCell(stream, all.order.segments + others, all.packs, AggregateRow<All>{all});
  forEachCell(stream, all.order.long_count, all.packs, AggregateSegments<All>{all});
  if (all.order.picked) {
    forEachCell(stream, all.order.count, all.packs, AggregatePicked<All>{all});
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

template <int Most, bool Few, class Real, class Message>
void startPacks(Stream stream, const Operands<Real, Message>& with) {
  byPack<Most>(
      with.width, [&]<int Width>() { startEither<Width, Few>(stream, with); }, with.x, with.out,
      with.plus.matrix, with.plus.bias);
}

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

template <class Real>
void aggregate(Stream stream, const Rows& rows, const RowOrder& order, const Scales<Real>& scales,
               const Real* x, std::size_t width, const Addends<Real>& plus, Real* out,
               Real* scratch) {
  startPacks<4, false>(stream,
                       Operands<Real, Real>{rows, order, scales, x, width, plus, out, scratch});
}

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

void aggregateMessages(Stream stream, const Rows& rows, const RowOrder& order,
                       const Scales<float>& scales, const std::uint16_t* messages,
                       std::size_t width, const float* down, bool few, const Addends<float>& plus,
                       float* out, float* scratch) {
  const auto* const x = reinterpret_cast<const Half*>(messages);
  const Operands<float, Half> with{rows, order,  {scales.row, down, scales.self}, x, width, plus,
                                   out,  scratch};
  // Eight messages are as wide as four floats.
  if (width % 8 == 0) {
    few ? startPacks<8, true>(stream, with) : startPacks<8, false>(stream, with);
  } else {
    few ? startPacks<4, true>(stream, with) : startPacks<4, false>(stream, with);
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
