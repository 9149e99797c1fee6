#include "edgewise/ops/sort_pool.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "edgewise/util/parallel.h"
#include "ops/autograd_support.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::variable_list;

constexpr std::size_t kGroupGrain = 8;
constexpr std::size_t kRowGrain = 256;

template <class Real>
void sortGroup(const Real* keys, std::size_t first, std::size_t size, std::span<std::int64_t> out) {
  std::vector<std::int64_t> rows(size);
  std::iota(rows.begin(), rows.end(), static_cast<std::int64_t>(first));
  const std::size_t kept = std::min(size, out.size());
  std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(kept),
                            [&](std::int64_t a, std::int64_t b) {
                              return keys[a] > keys[b] || (keys[a] == keys[b] && a < b);
                            });
  std::copy_n(rows.begin(), kept, out.begin());
  std::ranges::fill(out.subspan(kept), -1);
}

at::Tensor topRowsOnCpu(const at::Tensor& keys, std::span<const std::uint64_t> offsets,
                        std::int64_t count) {
  const std::size_t groups = offsets.size() - 1;
  const auto each = static_cast<std::size_t>(count);
  at::Tensor rows = at::empty({static_cast<std::int64_t>(groups) * count}, at::kLong);
  auto* const out = rows.data_ptr<std::int64_t>();
  detail::byType("topRows", keys, [&]<class Real>(Real) {
    const auto* const values = keys.data_ptr<Real>();
    parallelFor(
        groups, kGroupGrain,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t group = begin; group < end; ++group) {
            sortGroup(values, offsets[group], offsets[group + 1] - offsets[group],
                      std::span(out + group * each, each));
          }
        },
        20 * static_cast<double>(offsets.back()));
  });
  return rows;
}

// Two stable sorts: by key, then by group.
at::Tensor topRowsOnDevice(const at::Tensor& keys, std::span<const std::uint64_t> offsets,
                           std::int64_t count) {
  const auto groups = static_cast<std::int64_t>(offsets.size()) - 1;
  // Of every row, its group and where that begins.
  std::vector<std::int64_t> owner;
  std::vector<std::int64_t> first;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    owner.insert(owner.end(), offsets[i + 1] - offsets[i], static_cast<std::int64_t>(i));
    first.insert(first.end(), offsets[i + 1] - offsets[i], static_cast<std::int64_t>(offsets[i]));
  }
  const at::Tensor group = at::tensor(owner, at::kLong).to(keys.device());
  const at::Tensor start = at::tensor(first, at::kLong).to(keys.device());
  const at::Tensor by_key = std::get<1>(at::sort(keys, /*stable=*/true, 0, /*descending=*/true));
  const at::Tensor by_group = std::get<1>(
      at::sort(group.index_select(0, by_key), /*stable=*/true, 0, /*descending=*/false));
  const at::Tensor order = by_key.index_select(0, by_group);
  const at::Tensor rank = at::arange(keys.size(0), group.options()) - start;
  // What is not kept goes to one place behind the others.
  const at::Tensor place = at::where(rank < count, group * count + rank, groups * count);
  return at::full({groups * count + 1}, -1, group.options())
      .scatter_(0, place, order)
      .narrow(0, 0, groups * count);
}

at::Tensor pickOnCpu(const at::Tensor& x, const at::Tensor& rows) {
  const auto width = detail::sizeOf(x, 1);
  at::Tensor out = at::empty({rows.size(0), x.size(1)}, x.options().requires_grad(false));
  const auto* const from = rows.data_ptr<std::int64_t>();
  detail::byType("pickRows", x, [&]<class Real>(Real) {
    const auto* const values = x.data_ptr<Real>();
    auto* const picked = out.data_ptr<Real>();
    parallelFor(
        detail::sizeOf(rows, 0), kRowGrain,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            if (from[i] < 0) {
              std::fill_n(picked + i * width, width, Real{0});
            } else {
              std::copy_n(values + static_cast<std::size_t>(from[i]) * width, width,
                          picked + i * width);
            }
          }
        },
        0.3 * static_cast<double>(out.numel()));
  });
  return out;
}

at::Tensor unpickOnCpu(const at::Tensor& picked, const at::Tensor& rows, std::int64_t all) {
  const auto width = detail::sizeOf(picked, 1);
  at::Tensor out = at::zeros({all, picked.size(1)}, picked.options().requires_grad(false));
  const auto* const to = rows.data_ptr<std::int64_t>();
  detail::byType("pickRows", picked, [&]<class Real>(Real) {
    const auto* const values = picked.data_ptr<Real>();
    auto* const target = out.data_ptr<Real>();
    parallelFor(
        detail::sizeOf(rows, 0), kRowGrain,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            if (to[i] >= 0) {
              std::copy_n(values + i * width, width,
                          target + static_cast<std::size_t>(to[i]) * width);
            }
          }
        },
        0.3 * static_cast<double>(picked.numel()));
  });
  return out;
}

class PickRows : public torch::autograd::Function<PickRows> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& rows) {
    context->save_for_backward({rows});
    context->saved_data["rows"] = x.size(0);
    if (!onDevice(x)) {
      return pickOnCpu(x.contiguous(), rows);
    }
    // A row of zeros at the end, for the places that name none.
    const at::Tensor padded = at::cat({x, at::zeros({1, x.size(1)}, x.options())}, 0);
    return padded.index_select(0, at::where(rows < 0, x.size(0), rows));
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    detail::requireOnce("pickRows");
    const at::Tensor rows = context->get_saved_variables()[0];
    const std::int64_t all = context->saved_data["rows"].toInt();
    const at::Tensor slope = gradients[0].contiguous();
    if (!onDevice(slope)) {
      return {unpickOnCpu(slope, rows, all), at::Tensor()};
    }
    const at::Tensor place = at::where(rows < 0, all, rows);
    return {at::zeros({all + 1, slope.size(1)}, slope.options())
                .index_copy_(0, place, slope)
                .narrow(0, 0, all),
            at::Tensor()};
  }
};

}  // namespace

at::Tensor topRows(const at::Tensor& keys, std::span<const std::uint64_t> offsets,
                   std::int64_t count) {
  detail::requireVector("topRows", keys);
  if (offsets.empty() || offsets.back() != detail::sizeOf(keys, 0)) {
    throw ShapeError(fmt::format("groups of {} rows for {} keys",
                                 offsets.empty() ? 0 : offsets.back(), keys.size(0)));
  }
  const at::Tensor plain = keys.detach().contiguous();
  return onDevice(plain) ? topRowsOnDevice(plain, offsets, count)
                         : topRowsOnCpu(plain, offsets, count);
}

at::Tensor pickRows(const at::Tensor& x, const at::Tensor& rows) {
  detail::requireMatrix("pickRows", x);
  detail::requireVector("pickRows", rows);
  return PickRows::apply(x, rows);
}

}  // namespace edgewise
