// Distinct texts numbered by first appearance: the hash table behind label ids. Keys are views into
// a buffer that outlives the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace edgewise {

class LabelIndex {
 public:
  // The number of `label`, and whether it is new.
  std::pair<std::uint32_t, bool> add(std::string_view label) {
    if ((labels_.size() + 1) * 2 > slots_.size()) {
      grow();
    }
    const std::size_t hash = std::hash<std::string_view>{}(label);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.number == kFree) {
        slot = {static_cast<std::uint32_t>(hash >> kTagShift),
                static_cast<std::uint32_t>(labels_.size())};
        labels_.push_back(label);
        return {slot.number, true};
      }
      if (slot.tag == static_cast<std::uint32_t>(hash >> kTagShift) &&
          labels_[slot.number] == label) {
        return {slot.number, false};
      }
    }
  }

  [[nodiscard]] const std::vector<std::string_view>& labels() const { return labels_; }
  // Gives the table back when no more labels will come; the labels stay.
  void close() { slots_ = {}; }

 private:
  // High bits of the hash stand beside the number, so that a probe seldom has to compare texts.
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t number = kFree;
  };
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
  static constexpr unsigned kTagShift = 32;
  static constexpr std::size_t kFirstSlots = 1024;

  void grow() {
    std::vector<Slot> larger(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    for (std::uint32_t number = 0; number < labels_.size(); ++number) {
      const std::size_t hash = std::hash<std::string_view>{}(labels_[number]);
      std::size_t at = hash & (larger.size() - 1);
      while (larger[at].number != kFree) {
        at = (at + 1) & (larger.size() - 1);
      }
      larger[at] = {static_cast<std::uint32_t>(hash >> kTagShift), number};
    }
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_;
  std::vector<std::string_view> labels_;
};

}  // namespace edgewise
