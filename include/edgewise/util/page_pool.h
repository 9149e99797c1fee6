// Large pieces of memory that are kept when they are given back, for the next of about that size.
// Fresh pages are cleared and mapped one by one when they are first touched, which for results of
// tens of megabytes costs more than computing them.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <unordered_map>

namespace edgewise {

class PagePool {
 public:
  // A piece starts at a multiple of this, so that the system can map so much of it at once, and is
  // as large as whole grains.
  static constexpr std::size_t kAlignment = std::size_t{2} << 20;
  static constexpr std::size_t kGrain = std::size_t{64} << 10;

  PagePool() = default;
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;
  PagePool(PagePool&&) = delete;
  PagePool& operator=(PagePool&&) = delete;
  // Pieces that were not given back stay where they are.
  ~PagePool();

  // At least `bytes` with any content; null when the system has no more.
  [[nodiscard]] void* take(std::size_t bytes);
  // What `take` gave. Asks for no memory.
  void giveBack(void* piece) noexcept;
  // Hands to the system what is kept.
  void release();

  // What is in use, and what is kept beside it. Together never more than was once in use at the
  // same time.
  [[nodiscard]] std::size_t bytesInUse() const;
  [[nodiscard]] std::size_t bytesKept() const;

 private:
  struct Piece {
    void* start;
    std::size_t bytes;
  };
  using Pieces = std::list<Piece>;

  Pieces::iterator findKept(std::size_t bytes);
  Pieces::iterator mapPiece(std::size_t bytes);
  void keepAtMost(std::size_t bytes);

  mutable std::mutex mutex_;
  Pieces in_use_;
  Pieces kept_;  // the one given back last at the end
  std::unordered_map<void*, Pieces::iterator> places_;
  std::size_t bytes_in_use_ = 0;
  std::size_t bytes_kept_ = 0;
  std::size_t most_in_use_ = 0;
};

}  // namespace edgewise
