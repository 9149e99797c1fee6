#include "edgewise/ops/device_rates.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <vector>

#include "edgewise/ops/device.h"
#include "edgewise/util/process.h"
#include "ops/device_copy.h"

namespace edgewise {
namespace {

// Queued together, so that neither starting a kernel nor waiting for the last one counts.
constexpr int kTogether = 20;
constexpr int kLeastRepeats = 3;

template <class Work>
double leastSeconds(at::Device device, double budget, const Work& work) {
  work();
  finishDevice(device);
  const Stopwatch all;
  double least = 0;
  for (int i = 0; i < kLeastRepeats || all.seconds() < budget; ++i) {
    const Stopwatch some;
    for (int k = 0; k < kTogether; ++k) {
      work();
    }
    finishDevice(device);
    const double seconds = some.seconds() / kTogether;
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return std::max(least, 1e-9);
}

at::TensorOptions floatsOn(at::Device device) {
  return at::TensorOptions(at::kFloat).device(device);
}

}  // namespace

ProductShape largeDeviceProduct() { return {8192, 4096, 4096}; }

double deviceProductRate(at::Device device, const ProductShape& shape, double seconds) {
  const auto rows = static_cast<std::int64_t>(shape.rows);
  const auto inner = static_cast<std::int64_t>(shape.inner);
  const auto columns = static_cast<std::int64_t>(shape.columns);
  // Random numbers: products of zeros run faster than any others.
  const at::Tensor a = at::rand({rows, inner}, floatsOn(device));
  const at::Tensor b = at::rand({inner, columns}, floatsOn(device));
  at::Tensor out = at::empty({rows, columns}, floatsOn(device));
  const double least = leastSeconds(device, seconds, [&] { at::mm_out(out, a, b); });
  return 2.0 * static_cast<double>(rows * inner) * static_cast<double>(columns) / least;
}

double deviceStreamRate(at::Device device, std::size_t array_bytes, double seconds) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, array_bytes / 4));
  const at::Tensor b = at::ones({count}, floatsOn(device));
  const at::Tensor c = at::ones({count}, floatsOn(device));
  at::Tensor out = at::empty({count}, floatsOn(device));
  const double least = leastSeconds(device, seconds, [&] { at::add_out(out, b, c, 0.5); });
  return 3.0 * 4.0 * static_cast<double>(count) / least;
}

double deviceGatherRate(at::Device device, std::span<const std::uint32_t> picks, std::size_t rows,
                        std::size_t width, double seconds) {
  // Enough to fill the GPU, again and again where they are few; all of a large graph's would be as
  // much memory as edges times width.
  constexpr std::size_t kPicks = std::size_t{1} << 22;
  std::vector<std::uint32_t> some(kPicks);
  for (std::size_t i = 0; i < kPicks; ++i) {
    some[i] = picks[i % picks.size()];
  }
  const at::Tensor table = at::ones(
      {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)}, floatsOn(device));
  const at::Tensor at_rows = detail::copyTo(device, std::span<const std::uint32_t>(some), at::kInt);
  at::Tensor out = at::empty({at_rows.size(0), table.size(1)}, floatsOn(device));
  const double least =
      leastSeconds(device, seconds, [&] { at::index_select_out(out, table, 0, at_rows); });
  return 2.0 * 4.0 * static_cast<double>(some.size() * width) / least;
}

}  // namespace edgewise
