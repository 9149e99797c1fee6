// Things made one ahead by a thread of their own, where there is a core for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "edgewise/util/parallel.h"
#include "edgewise/util/prefetch.h"

namespace edgewise::detail {

// Whether a thread of its own pays: what uses the things is a GPU, or there are cores enough. Two
// cores are both busy with using them, and a third thread would have them wait for each other.
[[nodiscard]] inline bool hasCoreToSpare(bool used_on_device) {
  return used_on_device || threadCount() > 2;
}

// make(0), make(1), ... make(count - 1) in order: in the background while the one before is in use,
// with all but one of the threads; or when asked for.
template <class T>
class MadeAhead {
 public:
  MadeAhead(bool background, std::size_t count, std::function<T(std::size_t)> make)
      : count_(count), make_(std::move(make)) {
    if (background) {
      const int threads = threadCount();
      stream_ = std::make_unique<Prefetch<T>>(count, [this, threads](std::size_t number) {
        setThreadCount(std::max(1, threads - 1));
        return make_(number);
      });
    }
  }
  MadeAhead(const MadeAhead&) = delete;
  MadeAhead& operator=(const MadeAhead&) = delete;
  MadeAhead(MadeAhead&&) = delete;
  MadeAhead& operator=(MadeAhead&&) = delete;
  ~MadeAhead() = default;

  // Nothing after the last. Throws what make threw.
  [[nodiscard]] std::optional<T> next() {
    if (stream_) {
      return stream_->next();
    }
    return made_ < count_ ? std::optional<T>(make_(made_++)) : std::nullopt;
  }

 private:
  std::size_t count_;
  std::size_t made_ = 0;
  std::function<T(std::size_t)> make_;
  // Last, so that its thread ends before what it uses.
  std::unique_ptr<Prefetch<T>> stream_;
};

}  // namespace edgewise::detail
