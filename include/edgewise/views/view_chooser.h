// Who chooses the view of each pair, over which messages.
#pragma once

#include <cstdint>
#include <memory>

#include "edgewise/nn/parameters.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"
#include "edgewise/views/link_model.h"
#include "edgewise/views/pair_batch.h"

namespace edgewise {

// Chooses on one message graph.
class BoundChooser {
 public:
  BoundChooser() = default;
  BoundChooser(const BoundChooser&) = delete;
  BoundChooser& operator=(const BoundChooser&) = delete;
  BoundChooser(BoundChooser&&) = delete;
  BoundChooser& operator=(BoundChooser&&) = delete;
  virtual ~BoundChooser() = default;
  [[nodiscard]] virtual ViewChoice choose(const std::shared_ptr<const PairIndex>& pairs) const = 0;
  // Whether pairs that only a device knows are chosen for there, without asking the host.
  [[nodiscard]] virtual bool choosesOnDevice() const { return true; }
};

class ViewChooser {
 public:
  ViewChooser() = default;
  ViewChooser(const ViewChooser&) = delete;
  ViewChooser& operator=(const ViewChooser&) = delete;
  ViewChooser(ViewChooser&&) = delete;
  ViewChooser& operator=(ViewChooser&&) = delete;
  virtual ~ViewChooser() = default;

  // Refers to this chooser.
  [[nodiscard]] virtual std::unique_ptr<BoundChooser> on(
      const std::shared_ptr<const MessagePlan>& messages) const = 0;
  // Whether choices depend on the messages at all.
  [[nodiscard]] virtual bool looksAtMessages() const = 0;
};

// A view for each pair by a hash of seed and pair; of undirected pairs (u, v) and (v, u) mirror
// each other.
[[nodiscard]] std::shared_ptr<const ViewChooser> makeRandomChooser(std::uint64_t seed,
                                                                   std::size_t depth,
                                                                   bool symmetric);

// The view that serves pairs of nodes of two kinds.
struct KindsView {
  std::uint8_t source = 0;
  std::uint8_t target = 0;
  LayerPair view;
};

// The view known for the kinds of a pair's ends, kinds[node]; the deepest where none is known.
// Throws ConfigError for a view deeper than `depth`.
[[nodiscard]] std::shared_ptr<const ViewChooser> makeOracleChooser(std::vector<std::uint8_t> kinds,
                                                                   std::span<const KindsView> known,
                                                                   std::size_t depth);

// By a selector on the representations of the encoder it was searched with; both stay as they are.
// Refers to the model, which must have a selector.
[[nodiscard]] std::shared_ptr<const ViewChooser> makeSelectorChooser(const LinkModel& model,
                                                                     Parameters weights,
                                                                     Parameters selector);

}  // namespace edgewise
