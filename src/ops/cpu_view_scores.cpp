#include "ops/cpu_view_scores.h"

#include "edgewise/util/parallel.h"
#include "edgewise/util/scratch_pool.h"
#include "ops/view_scorer.h"

namespace edgewise::detail {

template <class Real>
void viewScoresOnCpu(const ViewScoreInput<Real>& input, OpenUnits& open, Real* out) {
  const ViewScorer<Real> scorer(input);
  using Inputs = std::vector<BlockBuffer<Real>>;
  ScratchPool<Inputs> pool([&] { return scorer.inputBuffers(input.mlp.depth()); });
  parallelFor(
      input.pairs.size(), scorer.pairsPerBlock(),
      [&](std::size_t begin, std::size_t end) {
        const PairBlock block{begin, end - begin};
        const auto inputs = pool.borrow();
        scorer.climb(block, *inputs, open);
        scorer.scores(block, inputs->back().get(), out);
      },
      scorer.nanoseconds());
}

template void viewScoresOnCpu<float>(const ViewScoreInput<float>&, OpenUnits&, float*);
template void viewScoresOnCpu<double>(const ViewScoreInput<double>&, OpenUnits&, double*);

}  // namespace edgewise::detail
