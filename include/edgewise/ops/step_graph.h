// A step that a GPU repeats by itself: what was queued once is recorded and queued again at the
// cost of one call. On small graphs the calls cost more than the work.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

namespace edgewise {

// Steps that share memory and are never replayed at the same time.
class StepGraphs {
 public:
  explicit StepGraphs(at::Device device);
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;
  StepGraphs(StepGraphs&&) = delete;
  StepGraphs& operator=(StepGraphs&&) = delete;
  ~StepGraphs();

  // Does what `body` does. The first calls run it, later ones replay it by its key: it must read
  // and write the same memory every time, wait for nothing, and behave the same whenever the key is
  // the same. `first` queues what differs from step to step and is called every time. Without a GPU
  // both are called every time.
  void run(std::uint64_t key, const std::function<void()>& first,
           const std::function<void()>& body);
  // Forgets what was recorded: the memory it used is another's now.
  void clear();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace edgewise
