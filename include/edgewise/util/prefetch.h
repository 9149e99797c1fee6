// Makes the next thing in the background while the present one is in use. Things are asked for by
// number, so whoever makes them may compute them or find them where they were kept.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "edgewise/util/parallel.h"

namespace edgewise {

template <class T>
class Prefetch {
 public:
  // Calls make(0), make(1), ... make(count - 1) one after another on a thread of its own, at most
  // one ahead of what `next` has given out: beside the caller's, no more than one T exists.
  Prefetch(std::size_t count, std::function<T(std::size_t number)> make)
      : count_(count), make_(std::move(make)) {
    // A new thread would start with as many threads for parallel loops as there are cores.
    worker_ = std::thread([this, threads = threadCount()] {
      setThreadCount(threads);
      work();
    });
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  Prefetch(Prefetch&&) = delete;
  Prefetch& operator=(Prefetch&&) = delete;
  // Waits for the call that is under way, if any; further ones are not made.
  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  // Things in order of their numbers; nothing after the last. Rethrows what make threw in the place
  // of its thing, and gives nothing from then on. For one caller at a time.
  [[nodiscard]] std::optional<T> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_ || failure_ || finished_; });
    if (failure_) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    std::optional<T> thing = std::exchange(ready_, std::nullopt);
    lock.unlock();
    changed_.notify_all();
    return thing;
  }

 private:
  void work() {
    try {
      for (std::size_t number = 0; number < count_ && waitForRoom(); ++number) {
        hand(make_(number));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  // False when nobody is waiting any more.
  bool waitForRoom() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_ || abandoned_; });
    return !abandoned_;
  }

  void hand(T thing) {
    const std::lock_guard lock(mutex_);
    ready_ = std::move(thing);
    changed_.notify_all();
  }

  std::size_t count_;
  std::function<T(std::size_t)> make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> ready_;
  std::exception_ptr failure_;
  bool finished_ = false;
  bool abandoned_ = false;
  std::thread worker_;
};

}  // namespace edgewise
