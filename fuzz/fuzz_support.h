// What the fuzz targets share. A target feeds bytes to one reader and demands that it either
// answers or throws one of our errors; anything else (a crash, a hang, another exception, memory
// beyond the limit) is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "edgewise/util/error.h"

namespace edgewise::fuzzing {

inline std::string_view asText(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Errors that name bad data are what a reader is for; all others escape and count as findings.
template <class Action>
void allowDataErrors(const Action& action) {
  try {
    action();
  } catch (const DataError&) {
    return;
  } catch (const ShapeError&) {
    return;
  }
}

}  // namespace edgewise::fuzzing
