// Everything that runs on a GPU, free of torch. All pointers are to the GPU's memory, all matrices
// row-major. Every sum is taken by one thread, or in a tree that depends on sizes alone: the same
// bits at every run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "edgewise/ops/step_values.h"
#include "ops/cuda/half.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/philox.h"

namespace edgewise::cuda {

// ---- Messages ---------------------------------------------------------------------------------

// Compressed rows.
struct Rows {
  std::size_t count = 0;
  const std::int64_t* offsets = nullptr;
  const std::int32_t* columns = nullptr;
  // Null: all 1.
  const float* weights = nullptr;
  // For each entry whether it is left out; null: none is.
  const std::uint8_t* gone = nullptr;
};

// In what order rows are summed. Rows so long that one group of threads would be busy with one of
// them when all others are done are cut into segments; the others come longest first, so that
// neighbours in a group have as much to do.
struct RowOrder {
  // Rows that are not long, each once, [count]; null: as they stand.
  std::size_t count = 0;
  const std::int32_t* rows = nullptr;
  // Instead: `rows` are any, long ones among them, and the sum of the i-th goes to row i of what
  // comes out.
  bool picked = false;
  std::size_t long_count = 0;
  std::size_t segments = 0;
  // [long_count], ascending.
  const std::int32_t* long_rows = nullptr;
  // Where each one's segments begin, [long_count + 1], and each segment's first entry and the one
  // after its last, [segments, 2].
  const std::int32_t* first = nullptr;
  const std::int64_t* bounds = nullptr;
};

// Scales of an aggregation; null: all 1.
template <class Real>
struct Scales {
  const Real* row = nullptr;
  const Real* column = nullptr;
  bool self = false;
};

// What is added to an aggregation: a matrix like its result and a number a column; null: nothing.
template <class Real>
struct Addends {
  const Real* matrix = nullptr;
  const Real* bias = nullptr;
};

// out [rows, width], or [order.count, width] of picked rows, as MessagePlan defines it, plus the
// addends. `scratch` is [segments, width] of the long rows, [segments + long_count, width] when
// rows are picked.
template <class Real>
void aggregate(Stream stream, const Rows& rows, const RowOrder& order, const Scales<Real>& scales,
               const Real* x, std::size_t width, const Addends<Real>& plus, Real* out,
               Real* scratch);

// The same with messages of 16 bits, which are half as many bytes to gather. A node's message is
// scaled by a power of two and so rounded to 10 bits, but for what is 2^29 times smaller than the
// largest of it.
//
// messages [rows, width]: x times its node's column scale (null: 1). What each row is to be
// multiplied with to have its own size again goes to down [rows].
void toMessages(Stream stream, const float* x, std::size_t rows, std::size_t width,
                const float* column_scale, std::uint16_t* messages, float* down);
// `scales.column` is in the messages already. `few`: most rows of messages are zeros, which are
// then not gathered.
void aggregateMessages(Stream stream, const Rows& rows, const RowOrder& order,
                       const Scales<float>& scales, const std::uint16_t* messages,
                       std::size_t width, const float* down, bool few, const Addends<float>& plus,
                       float* out, float* scratch);

// Marks the entries of these edges [edges, 2], in both directions when asked to; edges that are not
// there are ignored.
void maskEntries(Stream stream, const Rows& rows, const std::int32_t* edges, std::size_t count,
                 bool both_ways, std::uint8_t* gone);

enum class DegreeScale : std::uint8_t { kMean, kSymmetric, kSymmetricOpen };
// scale [rows] out of the degrees that remain.
template <class Real>
void degreeScales(Stream stream, const Rows& rows, DegreeScale kind, Real* scale);

// out [rows, stride] gets 1 or the weight at every entry that is not gone; `out` must be zeros.
template <class Real>
void scatterEntries(Stream stream, const Rows& rows, std::size_t entries, std::size_t stride,
                    Real* out);

// ---- Pairs ------------------------------------------------------------------------------------

inline constexpr int kMostLayers = 6;
inline constexpr int kMostViews = kMostLayers * kMostLayers;

struct Pairs {
  std::size_t count = 0;
  std::size_t nodes = 0;
  // [count, 2].
  const std::int32_t* ends = nullptr;
  // Places 2 * pair + end in the order of their nodes, and where each node's begin, [nodes + 1].
  const std::int32_t* places = nullptr;
  const std::int32_t* offsets = nullptr;
};

// Sorts the places of `keys` [count] (the ends one after another). `scratch` is sortBytes long.
[[nodiscard]] std::size_t sortBytes(std::size_t count);
void sortPlaces(Stream stream, const std::int32_t* keys, std::size_t count, std::size_t nodes,
                void* scratch, std::size_t scratch_bytes, std::int32_t* sorted_keys,
                std::int32_t* places, std::int32_t* offsets);

// toMessages of what rows [2 * pairs, width] of both ends add up to, for the nodes that are ends;
// of the others only `down` is written, 0.
void endsToMessages(Stream stream, const Pairs& pairs, const float* rows, std::size_t width,
                    const float* column_scale, std::uint16_t* messages, float* down);

struct Views {
  int count = 0;
  std::uint8_t source[kMostViews] = {};
  std::uint8_t target[kMostViews] = {};
};

template <class Real>
struct Layers {
  int count = 0;
  // [nodes, width] each; null counts as 0.
  const Real* data[kMostLayers] = {};
};
template <class Real>
struct LayerGradients {
  // [nodes, width] each, written; null: not wanted.
  Real* data[kMostLayers] = {};
};
template <class Real>
struct PairMatrices {
  // [pairs, width] each, or [pairs]; null: left out.
  Real* data[kMostViews] = {};
};

// out[view][p] = sources[i][u] * targets[j][v].
template <class Real>
void pairProducts(Stream stream, const Pairs& pairs, const Views& views,
                  const Layers<Real>& sources, const Layers<Real>& targets, std::size_t width,
                  const PairMatrices<Real>& out);
// What gradients [view] of those products give to the layers, of both ends together.
template <class Real>
void pairProductsBackward(Stream stream, const Pairs& pairs, const Views& views,
                          const Layers<Real>& layers, std::size_t width,
                          const PairMatrices<const Real>& gradients,
                          const LayerGradients<Real>& to);

// out[view][p], [pairs] each, the sums of those products' rows, without the products.
template <class Real>
void pairDots(Stream stream, const Pairs& pairs, const Views& views, const Layers<Real>& sources,
              const Layers<Real>& targets, std::size_t width, const PairMatrices<Real>& out);
template <class Real>
void pairDotsBackward(Stream stream, const Pairs& pairs, const Views& views,
                      const Layers<Real>& layers, std::size_t width,
                      const PairMatrices<const Real>& gradients, const LayerGradients<Real>& to);

// Rows [pairs, width] of one end, 0 or 1, or [2 * pairs, width] of all places.
inline constexpr int kBothEnds = 2;
template <class Real>
void gatherEnd(Stream stream, const Pairs& pairs, int end, const Real* x, std::size_t width,
               Real* out);
// The other way round: what each node's rows add up to; `onto`: added to what is there.
template <class Real>
void scatterEnd(Stream stream, const Pairs& pairs, int end, const Real* rows, std::size_t width,
                bool onto, Real* out);

// weights [nodes]: how often a node is an end of the first `positives` pairs, and `share` for each
// time it is the target of another.
template <class Real>
void useWeights(Stream stream, const Pairs& pairs, std::size_t positives, Real share,
                Real* weights);

// Mixtures of views by weights [views, pairs].
template <class Real>
void mixedPairs(Stream stream, const Pairs& pairs, const Views& views, const Layers<Real>& layers,
                const Real* weights, std::size_t width, Real* out);
template <class Real>
void mixedPairsToWeights(Stream stream, const Pairs& pairs, const Views& views,
                         const Layers<Real>& layers, std::size_t width, const Real* gradient,
                         Real* to_weights);
template <class Real>
void mixedPairsToLayers(Stream stream, const Pairs& pairs, const Views& views,
                        const Layers<Real>& layers, const Real* weights, std::size_t width,
                        const Real* gradient, const LayerGradients<Real>& to);

// ---- Choices ----------------------------------------------------------------------------------

template <class Real>
void viewSoftmax(Stream stream, const Real* scores, std::size_t views, std::size_t pairs,
                 Real temperature, Real* out);

struct TopChoice {
  int depth = 1;
  int top = 1;
  double temperature = 1;
  // Whether (u, v) and (v, u) must choose alike.
  bool symmetric = true;
};
// shares [depth * depth, pairs]: the best views of each pair by their softmax, 0 for the others.
template <class Real>
void topShares(Stream stream, const TopChoice& choice, const std::int32_t* ends, const Real* scores,
               std::size_t pairs, Real* shares);
// shares [views, pairs] from what was chosen before for row rows[p]: its views' places and weights
// [known, top].
template <class Real>
void knownShares(Stream stream, const std::int32_t* rows, std::size_t count, int views, int top,
                 const std::uint8_t* places, const float* weights, std::size_t pairs, Real* shares);
// One view for each pair by a hash of key and pair.
template <class Real>
void randomShares(Stream stream, RandomKey key, int depth, bool symmetric, const std::int32_t* ends,
                  std::size_t pairs, Real* shares);

// ---- Noise and elementwise work ----------------------------------------------------------------

struct Mask {
  RandomKey key;
  std::uint64_t step = 0;
  // Where the step stands when it is not known on the host; null: `step`.
  const std::uint64_t* step_at = nullptr;
  std::uint32_t threshold = 0;
  double scale = 1;
};
template <class Real>
void drop(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out);
// `gates` [(count + 3) / 4], where wanted: a bit for each of four elements, set where it came
// through.
template <class Real>
void rectifyAndDrop(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out,
                    std::uint8_t* gates = nullptr);
// scale * in where `open` > 0 or a gate's bit is set, else 0.
template <class Real>
void gate(Stream stream, const Real* in, const Real* open, Real scale, std::size_t count,
          Real* out);
template <class Real>
void gateByBits(Stream stream, const Real* in, const std::uint8_t* gates, Real scale,
                std::size_t count, Real* out);

// out [rows, width] = column [rows] times row [width] where open [rows, width] > 0, else 0.
template <class Real>
void gatedOuter(Stream stream, const Real* column, const Real* row, const Real* open,
                std::size_t rows, std::size_t width, Real* out);

// The same, and sums [outerSumRows(rows), 2 * width] that add up over their rows to the sums over
// the rows of column * open and of out.
[[nodiscard]] std::size_t outerSumRows(std::size_t rows);
template <class Real>
void gatedOuterSums(Stream stream, const Real* column, const Real* row, const Real* open,
                    std::size_t rows, std::size_t width, Real* out, Real* sums);

// out [width] = the sum over the rows of x [rows, width]; `scratch` holds columnSumScratch numbers.
[[nodiscard]] std::size_t columnSumScratch(std::size_t rows, std::size_t width);
template <class Real>
void columnSum(Stream stream, const Real* x, std::size_t rows, std::size_t width, Real* scratch,
               Real* out);

// out [rows, columns] of zeros gets values[i] at places[i], with dropout on the values.
template <class Real>
void scatterDropped(Stream stream, const float* values, const std::int64_t* places,
                    std::size_t count, const Mask& mask, Real* out);

template <class Real>
void logistic(Stream stream, const Real* x, std::size_t count, Real* out);
template <class Real>
void crossEntropy(Stream stream, const Real* logits, const Real* labels, std::size_t count,
                  Real* out);

// ---- Updates -----------------------------------------------------------------------------------

void setStepValues(Stream stream, const StepValues& values, StepValues* out);

// What a run of steps adds up.
struct StepSums {
  double loss = 0;
  double norm = 0;
  // The first step whose loss or gradient was not finite, counted from 1; 0: none.
  double diverged = 0;
  // What the gradient of the current step is to be multiplied by; 0 once it diverged.
  double scale = 1;
};
// Adds a step up: its loss and its gradient's norm. `clip` 0: no bound.
template <class Real>
void countStep(Stream stream, const Real* loss, const double* norm, double clip,
               const StepValues* numbers, StepSums* sums);

struct AdamSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};
// `step` and `root` as StepValues has them; `scale`: StepSums::scale, or null for 1.
template <class Real>
void adam(Stream stream, const AdamSettings& settings, const double* step, const double* root,
          const double* scale, const Real* gradient, std::size_t count, Real* value, Real* first,
          Real* second);

// ---- Batches -----------------------------------------------------------------------------------

// ends [count, 2] and rows [count]: supervision[order[i]].
void takeEdges(Stream stream, const std::int32_t* supervision, const std::int32_t* order,
               std::size_t count, std::int32_t* rows, std::int32_t* ends);

// What targets are drawn from for a source: TargetSampler's rows.
struct TargetDraw {
  RandomKey key;
  // Rows of places among `targets` by node, ascending; `weights` and `gone` are null.
  Rows known;
  std::size_t target_count = 0;
  const std::int32_t* targets = nullptr;
};
// ends [count * per_positive, 2]: each positive's source and a target it does not know.
void drawTargets(Stream stream, const TargetDraw& draw, const std::int32_t* positive,
                 std::size_t count, std::size_t per_positive, std::int32_t* ends);

struct PairDraw {
  RandomKey key;
  std::size_t nodes = 0;
  // Of bipartite graphs; 0: none.
  std::size_t users = 0;
  bool directed = false;
  // Edges that are known already, among candidates; ordered pairs as they are drawn.
  Rows known;
  // From candidates to nodes; null: the same.
  const std::int32_t* candidates = nullptr;
};
// `count` non-edges [count, 2]: draws 0, 1, 2, ... in order, those left out that are known. Looks
// at `draws` of them at once; should they not be enough, each missing pair is drawn by itself.
[[nodiscard]] std::size_t drawBytes(std::size_t draws);
void drawNonEdges(Stream stream, const PairDraw& draw, std::size_t draws, std::size_t count,
                  void* scratch, std::size_t scratch_bytes, std::int32_t* ends);

}  // namespace edgewise::cuda
