// Scratch memory for parallel loops. A block of a loop borrows a piece and gives it back, so that
// as many pieces exist as blocks run at once, however many blocks there are. Borrowers leave a
// piece in the state `make` gave it; then nothing depends on who had it before.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace edgewise {

template <class T>
class ScratchPool {
 public:
  explicit ScratchPool(std::function<T()> make) : make_(std::move(make)) {}

  // Held from construction to destruction; must not outlive the pool.
  class Lease {
   public:
    Lease(ScratchPool& pool, std::unique_ptr<T> piece) : pool_(pool), piece_(std::move(piece)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Lease(Lease&&) = delete;
    Lease& operator=(Lease&&) = delete;
    ~Lease() { pool_.giveBack(std::move(piece_)); }

    [[nodiscard]] T& operator*() const { return *piece_; }
    [[nodiscard]] T* operator->() const { return piece_.get(); }

   private:
    ScratchPool& pool_;
    std::unique_ptr<T> piece_;
  };

  // Safe from any thread.
  [[nodiscard]] Lease borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<T> piece = std::move(idle_.back());
        idle_.pop_back();
        return Lease(*this, std::move(piece));
      }
      // Room for every piece to come home, so that giving back never allocates.
      idle_.reserve(++made_);
    }
    return Lease(*this, std::make_unique<T>(make_()));
  }

 private:
  void giveBack(std::unique_ptr<T> piece) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(piece));
  }

  std::function<T()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
  std::size_t made_ = 0;
};

}  // namespace edgewise
