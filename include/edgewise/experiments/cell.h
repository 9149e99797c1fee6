// A cell of a table: one method on one dataset, whose number is that of ordinary training runs, one
// a seed. Tables and figures that ask for the same cell share its runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/training/run_options.h"

namespace edgewise {

struct Cell {
  std::string dataset = {};
  std::string model = {};
  std::string selector = "none";
  std::string recipe = "paper";
  // A word for what `settings` change of the recipe ("scratch"); empty with none.
  std::string variant = {};
  // "key=value", as for --set.
  std::vector<std::string> settings = {};

  // "cora-gae-ps2-paper-scratch": names the folder of the runs and the cell in stored results.
  [[nodiscard]] std::string name() const;
  // Selector and variant: "ps2", "ps2-scratch".
  [[nodiscard]] std::string method() const;
  // Arguments of `edgewise` that train it, but for seeds and folders.
  [[nodiscard]] std::vector<std::string> trainWords() const;
  // What to type for these seeds.
  [[nodiscard]] std::string command(std::size_t seeds) const;

  friend bool operator==(const Cell&, const Cell&) = default;
};

// The options of the cell's run with this seed, as `edgewise train` resolves them. Throws
// ConfigError for names, keys and values that are not known.
[[nodiscard]] RunOptions resolveCell(const Cell& cell, std::int64_t seed = 0);

// Without the settings that its recipe makes anyway, and without the variant if none is left: equal
// runs have equal names.
[[nodiscard]] Cell simplified(Cell cell);

// Whether a known dataset is one of users and items.
[[nodiscard]] bool isBipartite(std::string_view dataset);

}  // namespace edgewise
