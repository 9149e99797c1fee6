// A running sum that carries its own rounding error, so that millions of terms cost no digits.
#pragma once

#include <cmath>

namespace edgewise {

// Neumaier's variant of compensated summation. The result depends on the order of the terms only in
// the last bits, but it does: give them in a fixed order.
class AccurateSum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    error_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return sum_ + error_; }

 private:
  double sum_ = 0.0;
  double error_ = 0.0;
};

}  // namespace edgewise
