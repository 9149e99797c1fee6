#include "ops/cpu_interaction.h"

#include <algorithm>
#include <vector>

#include "edgewise/util/parallel.h"
#include "ops/cpu_gemm.h"
#include "ops/cpu_rowwise.h"

namespace edgewise::detail {
namespace {

// Of a block's widest matrix, so that all of a block stays in a core's cache.
constexpr std::size_t kBlockElements = 16'384;
constexpr std::size_t kLeastBlockRows = 16;
// Rows whose part of the weights' gradients is summed by one thread, of many rows in at most so
// many parts; of wide layers in fewer, which together take no more than this.
constexpr std::size_t kPieceRows = 2048;
constexpr std::size_t kMostPieces = 32;
constexpr std::size_t kMostPieceElements = std::size_t{1} << 25;
constexpr double kProductsPerNanosecond = 20;

std::size_t blockRows(std::size_t in, std::size_t out) {
  return std::max(kLeastBlockRows, kBlockElements / std::max({2 * in, out, std::size_t{1}}));
}

// Of one product of all rows with the weights, on one core.
template <class Real>
double nanosecondsOf(const InteractionInput<Real>& input) {
  return static_cast<double>(2 * input.rows * input.in) * static_cast<double>(input.out) /
         kProductsPerNanosecond;
}

// Rows [begin, end) of [heard + own, heard * own], [., 2 * in].
template <class Real>
void pairUp(const InteractionInput<Real>& input, std::size_t begin, std::size_t end, Real* out) {
  for (std::size_t row = begin; row < end; ++row) {
    const Real* const own = input.own + row * input.in;
    const Real* const heard = input.heard + row * input.in;
    Real* const sum = out + (row - begin) * 2 * input.in;
    Real* const product = sum + input.in;
#pragma omp simd
    for (std::size_t k = 0; k < input.in; ++k) {
      sum[k] = heard[k] + own[k];
      product[k] = heard[k] * own[k];
    }
  }
}

template <class Real>
void leakRow(Real* row, std::size_t width, Real leak) {
#pragma omp simd
  for (std::size_t k = 0; k < width; ++k) {
    const Real less = leak * row[k];
    row[k] = row[k] > 0 ? row[k] : less;
  }
}

// A row of the matrix of all nodes, by the mask that is drawn for all of it.
template <class Real>
void dropRow(const DropoutMask& mask, std::size_t node, std::size_t width,
             std::vector<std::uint8_t>& keep, Real* row) {
  constexpr std::size_t kTogether = 8;
  const std::size_t first = node * width;
  const std::size_t before = first % kTogether;
  keep.resize(before + width);
  mask.draw(first - before, keep);
  const auto scale = static_cast<Real>(mask.scale());
  const std::uint8_t* const stays = keep.data() + before;
#pragma omp simd
  for (std::size_t k = 0; k < width; ++k) {
    const Real scaled = row[k] * scale;
    row[k] = stays[k] != 0 ? scaled : Real{0};
  }
}

// One piece of the way back: what a thread needs beside its result.
template <class Real>
class BackwardPiece {
 public:
  BackwardPiece(const InteractionInput<Real>& input, const InteractionGradient<Real>& from,
                const InteractionGradients<Real>& to)
      : input_(input),
        from_(from),
        to_(to),
        rows_(blockRows(input.in, input.out)),
        paired_(rows_ * 2 * input.in),
        to_paired_(rows_ * 2 * input.in),
        inside_(rows_ * input.out),
        block_bias_(input.out) {}

  // Adds to the piece's gradients of the weights and the bias.
  void run(std::size_t begin, std::size_t end, Real* weights, Real* bias) {
    for (std::size_t first = begin; first < end; first += rows_) {
      runBlock(first, std::min(end, first + rows_), weights, bias);
    }
  }

 private:
  void runBlock(std::size_t begin, std::size_t end, Real* weights, Real* bias) {
    const std::size_t count = end - begin;
    const std::size_t in = input_.in;
    const std::size_t out = input_.out;
    openGates(begin, end, bias);
    pairUp(input_, begin, end, paired_.data());
    multiplyRows<Real>({paired_.data(), count, 2 * in, true}, {inside_.data(), count, out}, 0,
                       2 * in, weights, true);
    multiplyRows<Real>({inside_.data(), count, out}, {input_.weights, 2 * in, out, true}, 0, count,
                       to_paired_.data(), false);
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const sum = to_paired_.data() + (row - begin) * 2 * in;
      const Real* const product = sum + in;
      const Real* const own = input_.own + row * in;
      const Real* const heard = input_.heard + row * in;
      Real* const to_own = to_.own + row * in;
      Real* const to_heard = to_.heard + row * in;
#pragma omp simd
      for (std::size_t k = 0; k < in; ++k) {
        to_own[k] = sum[k] + product[k] * heard[k];
        to_heard[k] = sum[k] + product[k] * own[k];
      }
    }
  }

  // The gradient in front of rectifier and dropout. A layer's sign is that of what was rectified;
  // where it is 0 and some was dropped, it was.
  void openGates(std::size_t begin, std::size_t end, Real* bias) {
    const Real closed = from_.drops ? Real{0} : from_.scale * input_.leak;
    // A block's by itself: one sum over all rows would lose digits.
    std::ranges::fill(block_bias_, Real{0});
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const given = from_.given + row * input_.out;
      const Real* const gradient = from_.gradient + row * input_.out;
      Real* const to = inside_.data() + (row - begin) * input_.out;
#pragma omp simd
      for (std::size_t k = 0; k < input_.out; ++k) {
        const Real slope = given[k] > 0 ? from_.scale : from_.scale * input_.leak;
        to[k] = gradient[k] * (given[k] == 0 ? closed : slope);
        block_bias_[k] += to[k];
      }
    }
    for (std::size_t k = 0; k < input_.out; ++k) {
      bias[k] += block_bias_[k];
    }
  }

  const InteractionInput<Real>& input_;
  const InteractionGradient<Real>& from_;
  const InteractionGradients<Real>& to_;
  std::size_t rows_;
  std::vector<Real> paired_;
  std::vector<Real> to_paired_;
  std::vector<Real> inside_;
  std::vector<Real> block_bias_;
};

}  // namespace

template <class Real>
void interactOnCpu(const InteractionInput<Real>& input, const Real* bias, const DropoutMask& mask,
                   std::span<const std::uint32_t> nodes, Real* out) {
  const std::size_t in = input.in;
  const std::size_t rows = blockRows(in, input.out);
  parallelFor(
      input.rows, rows,
      [&](std::size_t begin, std::size_t end) {
        std::vector<Real> paired((end - begin) * 2 * in);
        std::vector<std::uint8_t> keep;
        Real* const to = out + begin * input.out;
        pairUp(input, begin, end, paired.data());
        for (std::size_t row = begin; row < end; ++row) {
          std::copy_n(bias, input.out, out + row * input.out);
        }
        multiplyRows<Real>({paired.data(), end - begin, 2 * in}, {input.weights, 2 * in, input.out},
                           0, end - begin, to, true);
        for (std::size_t row = begin; row < end; ++row) {
          leakRow(out + row * input.out, input.out, input.leak);
          if (!mask.keepsAll()) {
            dropRow(mask, nodes.empty() ? row : nodes[row], input.out, keep, out + row * input.out);
          }
        }
      },
      nanosecondsOf(input));
}

template <class Real>
void interactBackwardOnCpu(const InteractionInput<Real>& input,
                           const InteractionGradient<Real>& from,
                           const InteractionGradients<Real>& to) {
  // Pieces by size alone, so that the sums over rows do not depend on threads.
  const std::size_t size = 2 * input.in * input.out;
  const std::size_t most =
      std::clamp<std::size_t>(kMostPieceElements / std::max<std::size_t>(size, 1), 1, kMostPieces);
  const std::size_t piece = std::max(kPieceRows, (input.rows + most - 1) / most);
  const std::size_t pieces = std::max<std::size_t>(1, (input.rows + piece - 1) / piece);
  std::vector<Real> partial(pieces * (size + input.out), Real{0});
  parallelFor(
      pieces, 1,
      [&](std::size_t begin, std::size_t end) {
        BackwardPiece<Real> work(input, from, to);
        for (std::size_t i = begin; i < end; ++i) {
          Real* const weights = partial.data() + i * (size + input.out);
          work.run(i * piece, std::min(input.rows, (i + 1) * piece), weights, weights + size);
        }
      },
      2 * nanosecondsOf(input));
  std::vector<Real> total(size + input.out);
  sumRowsInto(partial.data(), pieces, total.size(), total.data());
  std::copy_n(total.data(), size, to.weights);
  std::copy_n(total.data() + size, input.out, to.bias);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_INTERACTION(Real)                                                              \
  template void interactOnCpu<Real>(const InteractionInput<Real>&, const Real*,                 \
                                    const DropoutMask&, std::span<const std::uint32_t>, Real*); \
  template void interactBackwardOnCpu<Real>(const InteractionInput<Real>&,                      \
                                            const InteractionGradient<Real>&,                   \
                                            const InteractionGradients<Real>&);
EDGEWISE_INTERACTION(float)
EDGEWISE_INTERACTION(double)
#undef EDGEWISE_INTERACTION
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
