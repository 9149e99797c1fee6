#include "edgewise/util/page_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>

namespace edgewise {
namespace {

// A kept piece serves who asks for less by no more than this share of what was asked.
constexpr std::size_t kSpareShare = 8;

// From a multiple of the alignment; null when the system has no more.
void* mapPages(std::size_t bytes) {
  const std::size_t room = bytes + PagePool::kAlignment;
  if (room < bytes) {
    return nullptr;
  }
  void* const mapped =
      ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  char* const begin = static_cast<char*>(mapped);
  const std::size_t over = reinterpret_cast<std::uintptr_t>(begin) % PagePool::kAlignment;
  const std::size_t before = over == 0 ? 0 : PagePool::kAlignment - over;
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
  const std::size_t wanted = std::max<std::size_t>(1, (bytes + kGrain - 1) / kGrain) * kGrain;
  if (wanted < bytes) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  auto piece = findKept(wanted);
  if (piece != kept_.end()) {
    bytes_kept_ -= piece->bytes;
  } else {
    // Pieces of other sizes make room, so that all together never need more than once was in use.
    const std::size_t after = bytes_in_use_ + wanted;
    keepAtMost(most_in_use_ > after ? most_in_use_ - after : 0);
    piece = mapPiece(wanted);
    if (piece == kept_.end()) {
      return nullptr;
    }
  }
  in_use_.splice(in_use_.end(), kept_, piece);
  bytes_in_use_ += piece->bytes;
  most_in_use_ = std::max(most_in_use_, bytes_in_use_);
  return piece->start;
}

void PagePool::giveBack(void* piece) noexcept {
  const std::lock_guard lock(mutex_);
  const auto place = places_.at(piece);
  kept_.splice(kept_.end(), in_use_, place);
  bytes_in_use_ -= place->bytes;
  bytes_kept_ += place->bytes;
}

void PagePool::release() {
  const std::lock_guard lock(mutex_);
  keepAtMost(0);
}

std::size_t PagePool::bytesInUse() const {
  const std::lock_guard lock(mutex_);
  return bytes_in_use_;
}

std::size_t PagePool::bytesKept() const {
  const std::lock_guard lock(mutex_);
  return bytes_kept_;
}

// The smallest kept piece that is large enough, if it is not much larger; else the end.
PagePool::Pieces::iterator PagePool::findKept(std::size_t bytes) {
  auto best = kept_.end();
  for (auto piece = kept_.begin(); piece != kept_.end(); ++piece) {
    const bool fits = piece->bytes >= bytes && piece->bytes - bytes <= bytes / kSpareShare;
    if (fits && (best == kept_.end() || piece->bytes < best->bytes)) {
      best = piece;
    }
  }
  return best;
}

// A new one, at the end of those that are kept but not counted there yet; the end when there is no
// more.
PagePool::Pieces::iterator PagePool::mapPiece(std::size_t bytes) {
  void* start = mapPages(bytes);
  if (start == nullptr && !kept_.empty()) {
    keepAtMost(0);
    start = mapPages(bytes);
  }
  if (start == nullptr) {
    return kept_.end();
  }
  try {
    Pieces fresh(1, {start, bytes});
    places_.emplace(start, fresh.begin());
    kept_.splice(kept_.end(), fresh);
    return std::prev(kept_.end());
  } catch (const std::bad_alloc&) {
    ::munmap(start, bytes);
    return kept_.end();
  }
}

// Hands pieces back to the system, those first that were not asked for longest.
void PagePool::keepAtMost(std::size_t bytes) {
  while (bytes_kept_ > bytes) {
    const Piece oldest = kept_.front();
    ::munmap(oldest.start, oldest.bytes);
    bytes_kept_ -= oldest.bytes;
    places_.erase(oldest.start);
    kept_.pop_front();
  }
}

}  // namespace edgewise
