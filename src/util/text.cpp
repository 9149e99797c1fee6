#include "edgewise/util/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace edgewise {
namespace {

std::size_t editDistance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

template <class T>
std::optional<T> parseWhole(std::string_view text) {
  T value{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, value);
  if (failure != std::errc() || stop != end || text.empty()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> parseInteger(std::string_view text) {
  return parseWhole<std::int64_t>(text);
}

std::optional<double> parseReal(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return parseWhole<double>(text);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> splitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t cut = text.find(separator);
    parts.push_back(text.substr(0, cut));
    if (cut == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(cut + 1);
  }
}

std::string joinText(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string lowerCase(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return result;
}

std::optional<std::string> nearestName(std::string_view name, std::span<const std::string> known) {
  const std::string wanted = lowerCase(name);
  std::optional<std::string> best;
  // A slip changes a few letters: at most a third of the name, and always one or two.
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = editDistance(wanted, lowerCase(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestName(std::string_view name, std::span<const std::string> known) {
  if (const auto nearest = nearestName(name, known)) {
    return fmt::format("did you mean '{}'?", *nearest);
  }
  return "known: " + joinText(known, ", ");
}

std::string csvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char letter : text) {
    quoted += letter;
    if (letter == '"') {
      quoted += '"';
    }
  }
  return quoted + "\"";
}

std::string groupedCount(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) {
      grouped += ',';
    }
    grouped += digits[i];
  }
  return grouped;
}

std::string readableBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024.0;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= kStep && unit + 1 < kUnits.size()) {
    value /= kStep;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string readableSeconds(double seconds) {
  constexpr double kMinute = 60.0;
  constexpr double kHour = 3600.0;
  if (seconds < 1.0) {
    return fmt::format("{:.0f} ms", seconds * 1e3);
  }
  if (seconds < kMinute) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (seconds < kHour) {
    return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  }
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

}  // namespace edgewise
