// Which views of a pair are looked at, and how a selector of views is searched and applied.
#pragma once

#include <cstdint>
#include <string>

#include "edgewise/util/options.h"

namespace edgewise {

struct SelectorOptions {
  std::string kind = "none";
  // How views of a pair are put together, and how those with predictors of their own learn.
  std::string mix = "representation";
  double view_loss = 0.5;
  // The selector's own network.
  std::int64_t layers = 2;
  std::int64_t hidden = 256;
  std::string degrees = "none";
  double temperature = 0.07;
  double temperature_start = -1;
  // The search.
  std::string order = "second";
  double difference = 0.01;
  double virtual_step = -1;
  double learning_rate = -1;
  double beta1 = 0.5;
  std::int64_t epochs = 50;
  double search_rate = -1;
  std::int64_t search_batch = 0;
  std::int64_t warmup = 0;
  std::string holdout = "valid";
  // The application.
  std::string apply = "finetune";
  double apply_rate = 1e-4;
  std::int64_t top = 1;

  void bind(OptionSet& set);
  // Whether a selector is searched for before the model is trained with its choices.
  [[nodiscard]] bool searches() const { return kind == "ps2"; }
  // Whether every pair comes with views of its own.
  [[nodiscard]] bool choosesByPair() const {
    return kind == "rs" || kind == "ps2" || kind == "oracle";
  }
  // Whether every view has a predictor of its own.
  [[nodiscard]] bool scoresViewsApart() const {
    return kind == "mean" || (choosesByPair() && mix == "score");
  }
  // Whether search and application are one.
  [[nodiscard]] bool joins() const { return searches() && (apply == "joint" || apply == "alike"); }
  // Whether the model learns as if nobody chose: the selector is for scoring alone.
  [[nodiscard]] bool learnsAlike() const { return searches() && apply == "alike"; }
  // Epochs of the search where training as such takes `training_epochs`.
  [[nodiscard]] std::int64_t searchEpochs(std::int64_t training_epochs) const {
    return joins() ? training_epochs : epochs;
  }
};

}  // namespace edgewise
