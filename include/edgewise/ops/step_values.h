// The numbers of a training step that change from one to the next, free of torch: the host writes
// them, a GPU's kernels read them.
#pragma once

#include <cstdint>

namespace edgewise {

struct StepValues {
  std::uint64_t noise_step = 0;
  // Adam's: the rate over its first correction, and the root of its second; for the model and for
  // its selector.
  double adam_step = 0;
  double adam_root = 1;
  double selector_step = 0;
  double selector_root = 1;
  double inverse_temperature = 1;
  double virtual_step = 0;
};

}  // namespace edgewise
