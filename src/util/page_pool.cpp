#include "edgewise/util/page_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// A kept piece serves one that is smaller by no more than a fifth of it.
constexpr std::size_t kSpareShare = 4;

// From a multiple of the page size, so that the system can map whole pages at once, where it will.
void* mapPages(std::size_t bytes) {
  const std::size_t room = bytes + PagePool::kPage;
  if (room < bytes) {
    return nullptr;
  }
  void* const mapped =
      ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  char* const begin = static_cast<char*>(mapped);
  const std::size_t over = reinterpret_cast<std::uintptr_t>(begin) % PagePool::kPage;
  const std::size_t before = over == 0 ? 0 : PagePool::kPage - over;
  if (before > 0) {
    ::munmap(begin, before);
  }
  ::munmap(begin + before + bytes, room - before - bytes);
#ifdef MADV_HUGEPAGE
  ::madvise(begin + before, bytes, MADV_HUGEPAGE);
#endif
  return begin + before;
}

}  // namespace

PagePool::~PagePool() { keepAtMost(0); }

void* PagePool::take(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(1, (bytes + kPage - 1) / kPage) * kPage;
  if (wanted < bytes) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (void* const kept = takeKept(wanted); kept != nullptr) {
    return kept;
  }
  // Pieces of other sizes make room, so that all together never need more than once was in use.
  const std::size_t after = bytes_in_use_ + wanted;
  keepAtMost(most_in_use_ > after ? most_in_use_ - after : 0);
  void* piece = mapPages(wanted);
  if (piece == nullptr && bytes_kept_ > 0) {
    keepAtMost(0);
    piece = mapPages(wanted);
  }
  if (piece != nullptr) {
    in_use_.emplace(piece, wanted);
    bytes_in_use_ = after;
    most_in_use_ = std::max(most_in_use_, after);
  }
  return piece;
}

void PagePool::giveBack(void* piece) {
  const std::lock_guard lock(mutex_);
  const auto found = in_use_.find(piece);
  invariant(found != in_use_.end(), "only what was taken can be given back");
  const std::size_t bytes = found->second;
  in_use_.erase(found);
  bytes_in_use_ -= bytes;
  bytes_kept_ += bytes;
  by_size_.emplace(bytes, kept_.insert(kept_.end(), {piece, bytes}));
}

std::size_t PagePool::bytesInUse() const {
  const std::lock_guard lock(mutex_);
  return bytes_in_use_;
}

std::size_t PagePool::bytesKept() const {
  const std::lock_guard lock(mutex_);
  return bytes_kept_;
}

// The smallest kept piece that is large enough, if it is not much larger.
void* PagePool::takeKept(std::size_t bytes) {
  const auto found = by_size_.lower_bound(bytes);
  if (found == by_size_.end() || found->first - bytes > bytes / kSpareShare) {
    return nullptr;
  }
  const Piece piece = *found->second;
  kept_.erase(found->second);
  by_size_.erase(found);
  in_use_.emplace(piece.start, piece.bytes);
  bytes_kept_ -= piece.bytes;
  bytes_in_use_ += piece.bytes;
  return piece.start;
}

// Hands pieces back to the system, those first that were not asked for longest.
void PagePool::keepAtMost(std::size_t bytes) {
  while (bytes_kept_ > bytes) {
    const auto oldest = kept_.begin();
    auto at = by_size_.lower_bound(oldest->bytes);
    while (at->second != oldest) {
      ++at;
    }
    ::munmap(oldest->start, oldest->bytes);
    bytes_kept_ -= oldest->bytes;
    by_size_.erase(at);
    kept_.erase(oldest);
  }
}

}  // namespace edgewise
