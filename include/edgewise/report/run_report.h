// A report of one run or several: one HTML file that needs nothing else, neither network nor other
// files. It reads on a phone and prints.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "edgewise/report/run_record.h"

namespace edgewise {

inline constexpr const char* kReportFile = "report.html";

// The whole page. At least one run. The same records give the same bytes.
[[nodiscard]] std::string runReport(const RunRecords& records);

// What was written, and what the folders did not hold for it.
struct WrittenReport {
  std::filesystem::path file;
  std::size_t runs = 0;
  // Runs that differ in nothing but their seed count as one.
  std::size_t methods = 0;
  std::vector<std::string> remarks;
};

// Reads the runs at or below the folders and writes their report. Throws what readRunRecords does,
// DataError or ResourceError where the file cannot be written.
WrittenReport writeReport(std::span<const std::filesystem::path> folders,
                          const std::filesystem::path& file);

}  // namespace edgewise
