#include "ops/cuda/kernels.h"

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

}  // namespace

template <class Real>
void aggregate(Stream stream, const Rows& rows, const RowOrder& order, const Scales<Real>& scales,
               const Real* x, std::size_t width, const Addends<Real>& plus, Real* out,
               Real* scratch) {
  startPacks<4, false>(stream,
                       Operands<Real, Real>{rows, order, scales, x, width, plus, out, scratch});
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

template void aggregate<float>(Stream, const Rows&, const RowOrder&, const Scales<float>&,
                               const float*, std::size_t, const Addends<float>&, float*, float*);
template void aggregate<double>(Stream, const Rows&, const RowOrder&, const Scales<double>&,
                                const double*, std::size_t, const Addends<double>&, double*,
                                double*);

}  // namespace edgewise::cuda
