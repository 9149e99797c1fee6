// Where the time of a training step goes. A step says when a stage of its work is over; whoever
// measures listens, everyone else does not.
#pragma once

#include <string_view>

namespace edgewise {

// The stages of a training step, in order: drawing a batch; masking its edges and indexing its
// pairs; all layers of all nodes; scores and loss; gradients; update.
namespace stage {
inline constexpr std::string_view kSample = "sample";
inline constexpr std::string_view kIndex = "index";
inline constexpr std::string_view kEncode = "encode";
inline constexpr std::string_view kDecode = "decode";
inline constexpr std::string_view kBackward = "backward";
inline constexpr std::string_view kOptimizer = "optimizer";
}  // namespace stage

class StageWatch {
 public:
  StageWatch() = default;
  StageWatch(const StageWatch&) = delete;
  StageWatch& operator=(const StageWatch&) = delete;
  StageWatch(StageWatch&&) = delete;
  StageWatch& operator=(StageWatch&&) = delete;
  virtual ~StageWatch() = default;

  // Everything since the previous call, or since the step began, was `stage`.
  virtual void ended(std::string_view) {}
};

// Does not listen.
[[nodiscard]] inline StageWatch& unwatched() {
  static StageWatch nobody;
  return nobody;
}

}  // namespace edgewise
