#include "data/text_numbers.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// Beyond a type's range from_chars does not tell too large from too small; a wider type does. The
// text is known to be a number.
long double parseExtreme(std::string_view text) {
  long double value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() ? value : std::numeric_limits<long double>::infinity();
}

template <class T>
std::optional<T> parseFinite(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  T value{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, value);
  if (text.empty() || stop != end) {
    return std::nullopt;
  }
  if (failure == std::errc::result_out_of_range) {
    value = static_cast<T>(parseExtreme(text));
  } else if (failure != std::errc()) {
    return std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// A number of exactly `digits` decimal digits at the front, which is removed.
std::optional<unsigned> takeDigits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) {
    return std::nullopt;
  }
  unsigned value = 0;
  for (const char letter : text.substr(0, digits)) {
    if (letter < '0' || letter > '9') {
      return std::nullopt;
    }
    value = value * 10 + static_cast<unsigned>(letter - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char letter) {
  if (!text.starts_with(letter)) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

// Seconds since midnight of "T12:30[:59][Z]".
std::optional<unsigned> parseClock(std::string_view text) {
  constexpr unsigned kHours = 24;
  constexpr unsigned kSixty = 60;
  if (!take(text, 'T') && !take(text, ' ')) {
    return std::nullopt;
  }
  const auto hour = takeDigits(text, 2);
  if (!hour || *hour >= kHours || !take(text, ':')) {
    return std::nullopt;
  }
  const auto minute = takeDigits(text, 2);
  if (!minute || *minute >= kSixty) {
    return std::nullopt;
  }
  std::optional<unsigned> second = 0;
  if (take(text, ':')) {
    second = takeDigits(text, 2);
  }
  take(text, 'Z');
  if (!second || *second >= kSixty || !text.empty()) {
    return std::nullopt;
  }
  return (*hour * kSixty + *minute) * kSixty + *second;
}

}  // namespace

std::optional<float> parseFiniteFloat(std::string_view text) { return parseFinite<float>(text); }

std::optional<double> parseFiniteDouble(std::string_view text) { return parseFinite<double>(text); }

std::optional<double> parseIsoDate(std::string_view text) {
  constexpr std::size_t kYearDigits = 4;
  constexpr double kSecondsPerDay = 86400.0;
  const auto year = takeDigits(text, kYearDigits);
  if (!year || !take(text, '-')) {
    return std::nullopt;
  }
  const auto month = takeDigits(text, 2);
  if (!month || !take(text, '-')) {
    return std::nullopt;
  }
  const auto day = takeDigits(text, 2);
  if (!day) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) {
    return std::nullopt;
  }
  const auto seconds = text.empty() ? std::optional(0U) : parseClock(text);
  if (!seconds) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) + *seconds / kSecondsPerDay;
}

std::string whyNotFinite(std::string_view text) {
  if (text.empty()) {
    return "is empty";
  }
  if (const auto value = parseReal(text)) {
    return std::isfinite(*value) ? "is too large for a 32-bit float" : "is not finite";
  }
  long double value = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, value);
  // parseReal knows no number beyond a double's range.
  return stop == end && failure != std::errc::invalid_argument ? "is out of range"
                                                               : "is not a number";
}

}  // namespace edgewise
