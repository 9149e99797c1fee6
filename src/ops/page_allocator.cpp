#include "ops/page_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <cstddef>

#include "edgewise/util/error.h"
#include "edgewise/util/page_pool.h"
#include "ops/torch_compat.h"

namespace edgewise::detail {
namespace {

// Smaller ones malloc keeps as well.
constexpr std::size_t kLeastBytes = PagePool::kAlignment;

// Tensors may outlive everything that ends with the program; so do this and the allocator.
PagePool& pages() {
  static auto* const pool = new PagePool();
  return *pool;
}

void giveBack(void* piece) { pages().giveBack(piece); }

c10::DataPtr allocateOnPages(std::size_t bytes, c10::Allocator& small) {
  const c10::Device cpu(c10::DeviceType::CPU);
  void* const piece = bytes < kLeastBytes ? nullptr : pages().take(bytes);
  if (piece != nullptr) {
    return {piece, piece, &giveBack, cpu};
  }
  try {
    return small.allocate(bytes);
  } catch (const c10::Error&) {
    throw ResourceError(
        fmt::format("out of memory: {:.1f} MiB more are not to be had",
                    static_cast<double>(bytes) / 0x1p20),
        "lower model.hidden, model.layers or training.batch_size, or use a machine with more");
  }
}

}  // namespace

void useKeptPages() {
  using Allocator = torch_compat::CpuAllocator<&allocateOnPages>;
  static auto* const allocator = new Allocator(*c10::GetCPUAllocator());
  c10::SetCPUAllocator(allocator);
}

void releaseKeptPages() { pages().release(); }

}  // namespace edgewise::detail
