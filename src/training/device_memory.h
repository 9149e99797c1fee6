// What happens when a GPU's memory is full.
#pragma once

#include <c10/util/Exception.h>

#include <string_view>

#include "edgewise/util/error.h"

namespace edgewise::detail {

// What `work` returns. libtorch says that a GPU's memory is full wherever it is asked for more;
// that becomes ResourceError.
template <class Work>
auto withinDeviceMemory(const Work& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    const std::string_view what = error.what_without_backtrace();
    if (what.find("out of memory") == std::string_view::npos) {
      throw;
    }
    throw ResourceError("the GPU's memory is full",
                        "lower training.batch_size or model.hidden and start again, or go on with "
                        "the same options on a larger GPU or with --device cpu");
  }
}

}  // namespace edgewise::detail
