// Large pieces of memory that are kept when they are given back, for the next of about that size.
// Fresh pages are cleared and mapped one by one when they are first touched, which for results of
// tens of megabytes costs more than computing them.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

namespace edgewise {

class PagePool {
 public:
  // A piece starts at a page of this size, and fills whole ones; the system may map each at once.
  static constexpr std::size_t kPage = std::size_t{2} << 20;

  PagePool() = default;
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;
  PagePool(PagePool&&) = delete;
  PagePool& operator=(PagePool&&) = delete;
  // Pieces that were not given back stay where they are.
  ~PagePool();

  // At least `bytes` with any content; null when the system has no more.
  [[nodiscard]] void* take(std::size_t bytes);
  // What `take` gave.
  void giveBack(void* piece);

  // In whole pages: what is in use, and what is kept beside it. Together never more than was once
  // in use at the same time.
  [[nodiscard]] std::size_t bytesInUse() const;
  [[nodiscard]] std::size_t bytesKept() const;

 private:
  struct Piece {
    void* start;
    std::size_t bytes;
  };
  using Pieces = std::list<Piece>;

  void* takeKept(std::size_t bytes);
  void keepAtMost(std::size_t bytes);

  mutable std::mutex mutex_;
  Pieces kept_;  // the one given back last at the end
  std::multimap<std::size_t, Pieces::iterator> by_size_;
  std::unordered_map<void*, std::size_t> in_use_;
  std::size_t bytes_in_use_ = 0;
  std::size_t bytes_kept_ = 0;
  std::size_t most_in_use_ = 0;
};

}  // namespace edgewise
