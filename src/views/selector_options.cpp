#include "edgewise/views/selector_options.h"

namespace edgewise {

void SelectorOptions::bind(OptionSet& set) {
  set.add("selector.kind", kind,
          "which views of a pair are looked at: none (the deepest), fixed:I,J, mean (each by a "
          "predictor of its own), jk (one mixture for all), rs (random), ps2 (a learned choice), "
          "oracle (the view known to serve, on generated data)");
  set.add("selector.mix", mix, {"representation", "score"},
          "ps2, rs, oracle: views are put together as representations before one predictor, or as "
          "scores, each view by a predictor of its own; seal: in the search");
  set.add("selector.view_loss", view_loss, {0.0, 1.0},
          "mean, or selector.mix=score: share of the loss on each view's own score; the rest is on "
          "their mixture");
  set.add("selector.layers", layers, {1, 4}, "ps2: layers of the selector's MLP");
  set.add("selector.hidden", hidden, {1, 4096}, "ps2: its width, D");
  set.add("selector.degrees", degrees, {"none", "views", "views+score"},
          "ps2: whether it also judges views by how many neighbours the ends have, and adds to the "
          "pair's score what these numbers say of it");
  set.add("selector.tau", temperature, {1e-4, 100.0},
          "ps2: temperature of the softmax over views, in the search and where several are used");
  set.add("selector.tau_start", temperature_start, {-1.0, 100.0},
          "ps2: its value at the first step, from where it goes geometrically to selector.tau; -1: "
          "the same");
  set.add("selector.order", order, {"first", "second", "exact"},
          "ps2: without the second-order term, by finite difference, or by differentiating twice");
  set.add("selector.epsilon", difference, {1e-8, 1.0},
          "ps2: the finite difference steps this far along the gradient");
  set.add("selector.xi", virtual_step, {-1.0, 10.0}, "ps2: size of the virtual step; -1: the lr");
  set.add("selector.lr", learning_rate, {-1.0, 10.0}, "ps2: the selector's lr; -1: the model's");
  set.add("selector.beta1", beta1, {0.0, 0.999}, "ps2: first beta of the selector's Adam");
  set.add("selector.epochs", epochs, {1, 1'000'000},
          "ps2: epochs of the search, unless joint or alike");
  set.add("selector.search_lr", search_rate, {-1.0, 10.0},
          "ps2: the model's lr in the search, unless joint or alike; -1: training.lr");
  set.add(
      "selector.search_batch", search_batch, {0, 1 << 24},
      "ps2: positive edges a step of the search, unless joint or alike; 0: training.batch_size");
  set.add("selector.warmup", warmup, {0, 1'000'000},
          "ps2: epochs at the start of the search in which the selector does not learn yet and all "
          "views count the same");
  set.add("selector.holdout", holdout, {"valid", "rotate"},
          "ps2: edges the selector learns from: half of the validation edges, or training edges in "
          "turn, taken out of the messages meanwhile");
  set.add("selector.apply", apply, {"finetune", "scratch", "joint", "alike"},
          "ps2: train with the chosen views from the search's weights, from new ones, or while "
          "searching (joint: training.epochs and training.lr are those of all); alike: while "
          "searching, but with all views counting the same, so that the selector is for scoring "
          "alone (nothing is of second order then)");
  set.add("selector.apply_lr", apply_rate, {1e-9, 10.0}, "ps2: lr of fine-tuning");
  set.add("selector.top", top, {1, 25},
          "ps2: how many of a pair's views are used, weighted by the selector; 1: the best alone; "
          "seal: more cost more in scoring, not in training");
}

}  // namespace edgewise
