#include "edgewise/ops/step_graph.h"

#include <map>

#ifdef EDGEWISE_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace edgewise {

#ifdef EDGEWISE_CUDA

struct StepGraphs::Implementation {
  // Calls before a step is recorded: libraries allocate what they need in those.
  static constexpr int kWarmUp = 2;

  explicit Implementation(at::Device where) : device(where) {}

  at::Device device;
  c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false, -1);
  decltype(at::cuda::graph_pool_handle()) pool = at::cuda::graph_pool_handle();
  struct Step {
    int calls = 0;
    std::unique_ptr<at::cuda::CUDAGraph> graph;
  };
  std::map<std::uint64_t, Step> steps;

  [[nodiscard]] std::unique_ptr<at::cuda::CUDAGraph> recorded(const std::function<void()>& body) {
    // What the calls before held is not held twice.
    stream.synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    graph->capture_begin(pool);
    try {
      body();
    } catch (...) {
      try {
        graph->capture_end();
      } catch (const std::exception&) {
        // What stopped the body is what counts.
      }
      throw;
    }
    graph->capture_end();
    return graph;
  }
};

StepGraphs::StepGraphs(at::Device device)
    : implementation_(device.is_cpu() ? nullptr : std::make_unique<Implementation>(device)) {}
StepGraphs::~StepGraphs() {
  if (implementation_) {
    implementation_->stream.synchronize();
  }
}

void StepGraphs::run(std::uint64_t key, const std::function<void()>& first,
                     const std::function<void()>& body) {
  if (!implementation_) {
    first();
    body();
    return;
  }
  Implementation& own = *implementation_;
  // Behind what was queued elsewhere, and before what comes next there.
  const c10::cuda::CUDAStream outside = c10::cuda::getCurrentCUDAStream(own.device.index());
  at::cuda::CUDAEvent before;
  before.record(outside);
  before.block(own.stream);
  {
    const c10::cuda::CUDAStreamGuard guard(own.stream);
    first();
    Implementation::Step& step = own.steps[key];
    if (++step.calls <= Implementation::kWarmUp) {
      body();
    } else {
      if (!step.graph) {
        step.graph = own.recorded(body);
      }
      step.graph->replay();
    }
  }
  at::cuda::CUDAEvent after;
  after.record(own.stream);
  after.block(outside);
}

void StepGraphs::clear() {
  if (implementation_) {
    Implementation& own = *implementation_;
    own.stream.synchronize();
    own.steps.clear();
    own.pool = at::cuda::graph_pool_handle();
  }
}

#else

struct StepGraphs::Implementation {};

StepGraphs::StepGraphs(at::Device) {}
StepGraphs::~StepGraphs() = default;

void StepGraphs::run(std::uint64_t, const std::function<void()>& first,
                     const std::function<void()>& body) {
  first();
  body();
}

void StepGraphs::clear() {}

#endif

}  // namespace edgewise
