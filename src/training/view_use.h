// How chosen views are spread over test pairs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/edge_table.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/run_metrics.h"
#include "edgewise/views/view_choice.h"
#include "edgewise/views/view_chooser.h"

namespace edgewise::detail {

// Counts the choices of some pairs after the other: those of the positives, of which there is at
// least one, then those of the negatives. Refers to the table and the dataset.
class ViewTally {
 public:
  ViewTally(const PairModel& model, const EdgeTable& positive, std::size_t pairs,
            const Dataset& dataset);
  void add(const ViewChoices& choice);
  // When all pairs have been added.
  [[nodiscard]] ViewUse result() const;

 private:
  // What links, or the other pairs, add up to.
  struct Part {
    double pairs;
    std::vector<double> shares;
    double confidence = 0;

    Part(std::size_t count, std::size_t depth);
    void add(const ViewChoices& choice, std::size_t pair, std::size_t depth);
    [[nodiscard]] double meanConfidence() const;
  };
  // Of the positives of a known class, and those whose view is one the class is told by.
  struct ClassCount {
    std::size_t all = 0;
    std::size_t right = 0;
  };

  void addToClass(LayerPair view);

  int first_hops_;
  std::size_t depth_;
  const EdgeTable& positive_;
  const Dataset& dataset_;
  std::size_t seen_ = 0;
  Part links_;
  Part others_;
  std::vector<ClassCount> classes_;
};

// Tells every pair's view by what is known of its ends. Throws ConfigError when the data tell
// nothing of the kind, or views deeper than `depth`.
[[nodiscard]] std::shared_ptr<const ViewChooser> oracleChooser(const Dataset& dataset,
                                                               std::size_t depth);

// One row a view: counts and shares, as views.csv has them.
[[nodiscard]] std::string viewsText(const ViewUse& use);

}  // namespace edgewise::detail
