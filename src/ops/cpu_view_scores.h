// An MLP on every view of every pair, block by block, free of torch. A block of pairs with all its
// views goes through all layers while it stays in a core's cache; no representation and no hidden
// layer of all views ever exists.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"
#include "ops/open_units.h"

namespace edgewise::detail {

// An MLP with rectifiers between its layers and one output.
template <class Real>
struct ScoringMlp {
  // Input, hidden ..., 1.
  std::vector<std::size_t> widths;
  // Layer l: [widths[l], widths[l + 1]] and [widths[l + 1]]; a null bias counts as 0.
  std::vector<const Real*> weights;
  std::vector<const Real*> biases;

  [[nodiscard]] std::size_t depth() const { return weights.size(); }
  [[nodiscard]] std::span<const std::size_t> hidden() const {
    return std::span(widths).subspan(1, depth() - 1);
  }
};

template <class Real>
struct ViewScoreInput {
  const PairIndex& pairs;
  std::span<const LayerPair> views;
  // [nodes, mlp.widths.front()] each.
  std::vector<const Real*> layers;
  ScoringMlp<Real> mlp;
};

// out [views, pairs]. `open` is filled unless it is empty, for the gradient.
template <class Real>
void viewScoresOnCpu(const ViewScoreInput<Real>& input, OpenUnits& open, Real* out);

// Where gradients go.
template <class Real>
struct ViewScoreGradients {
  // Like those of the MLP; empty: not wanted. A null bias is left out.
  std::vector<Real*> weights = {};
  std::vector<Real*> biases = {};
  // [nodes, width] each, of zeros; empty: not wanted.
  std::vector<Real*> layers = {};
};

// `gradient` [views, pairs] is that of the scores, `open` what the scores left.
template <class Real>
void viewScoresBackwardOnCpu(const ViewScoreInput<Real>& input, const OpenUnits& open,
                             const Real* gradient, const ViewScoreGradients<Real>& to);

}  // namespace edgewise::detail
