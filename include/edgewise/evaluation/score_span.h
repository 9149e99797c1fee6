// A read-only view of scores that may be float or double, so that every metric has one signature.
// Floats are widened to double when read, which is exact and keeps their order: the metrics of a
// float list equal those of the same list in double.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <variant>

namespace edgewise {

template <class Range>
concept FloatRange = std::convertible_to<const Range&, std::span<const float>>;
template <class Range>
concept DoubleRange = std::convertible_to<const Range&, std::span<const double>>;

// Owns nothing: what it looks at must outlive it.
class ScoreSpan {
 public:
  ScoreSpan() = default;
  template <FloatRange Range>
  ScoreSpan(const Range& scores) : scores_(std::span<const float>(scores)) {}
  template <DoubleRange Range>
  ScoreSpan(const Range& scores) : scores_(std::span<const double>(scores)) {}

  [[nodiscard]] std::size_t size() const {
    return std::visit([](auto scores) { return scores.size(); }, scores_);
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] double operator[](std::size_t position) const {
    return std::visit([&](auto scores) { return static_cast<double>(scores[position]); }, scores_);
  }
  // The `count` scores from `first` on; both must lie inside.
  [[nodiscard]] ScoreSpan subspan(std::size_t first, std::size_t count) const {
    return std::visit([&](auto scores) { return ScoreSpan(scores.subspan(first, count)); },
                      scores_);
  }
  // Calls visitor(std::span<const float>) or visitor(std::span<const double>): for inner loops.
  template <class Visitor>
  // NOLINTNEXTLINE(modernize-use-nodiscard): most visitors return nothing
  decltype(auto) visit(const Visitor& visitor) const {
    return std::visit(visitor, scores_);
  }

 private:
  std::variant<std::span<const double>, std::span<const float>> scores_;
};

}  // namespace edgewise
