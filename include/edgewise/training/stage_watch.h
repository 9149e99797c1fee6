// Where the time of a training step goes. A step says when a stage of its work is over; whoever
// measures listens, everyone else does not.
#pragma once

#include <string_view>

namespace edgewise {

// The stages of a training step, in order: drawing a batch; masking its edges and indexing its
// pairs; views for those pairs that have none yet, where a selector chooses; all layers of all
// nodes; scores and loss; gradients; update.
namespace stage {
inline constexpr std::string_view kSample = "sample";
inline constexpr std::string_view kIndex = "index";
inline constexpr std::string_view kChoose = "choose";
inline constexpr std::string_view kEncode = "encode";
inline constexpr std::string_view kDecode = "decode";
inline constexpr std::string_view kBackward = "backward";
inline constexpr std::string_view kOptimizer = "optimizer";

// Those of a search step between kIndex and kBackward. For the selector: the virtual step of the
// model, the upper level's gradient, two passes for the finite difference, its update. For the
// model: all layers and the loss.
inline constexpr std::string_view kVirtual = "virtual";
inline constexpr std::string_view kUpper = "upper";
inline constexpr std::string_view kDifference = "difference";
inline constexpr std::string_view kSelector = "selector";
inline constexpr std::string_view kForward = "forward";
}  // namespace stage

class StageWatch {
 public:
  StageWatch() = default;
  StageWatch(const StageWatch&) = delete;
  StageWatch& operator=(const StageWatch&) = delete;
  StageWatch(StageWatch&&) = delete;
  StageWatch& operator=(StageWatch&&) = delete;
  virtual ~StageWatch() = default;

  // Everything since the previous call, or since the step began, was `stage`. What one step says of
  // the same stage again is added to it.
  virtual void ended(std::string_view) {}
};

// Does not listen.
[[nodiscard]] inline StageWatch& unwatched() {
  static StageWatch nobody;
  return nobody;
}

}  // namespace edgewise
