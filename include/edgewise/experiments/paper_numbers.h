// What the paper reports, number by number: the one place where they stand. "Bring Your Own View:
// Graph Neural Networks for Link Prediction with Personalized Subgraph Selection", WSDM 2023.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace edgewise {

struct PaperNumber {
  // As `edgewise reproduce` calls it: "table:planetoid".
  std::string_view table = {};
  std::string_view dataset = {};
  std::string_view model = {};
  // "none", "rs", "ps2", or "ps2-scratch": PS2 applied to a model trained from scratch.
  std::string_view method = {};
  std::string_view metric = {};
  // Percent; of "epoch_s" seconds.
  double mean = 0;
  // 0 where the paper gives none.
  double std = 0;
};

[[nodiscard]] std::span<const PaperNumber> paperNumbers();

[[nodiscard]] std::optional<PaperNumber> findPaperNumber(const PaperNumber& wanted);

}  // namespace edgewise
