// The parts of a report, each a piece of HTML; empty where there is nothing to show.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "edgewise/report/chart.h"
#include "edgewise/report/run_record.h"
#include "report/run_groups.h"

namespace edgewise {

// Charts of a page, numbered as they come.
class PageCharts {
 public:
  // The chart's figure; what the page's script needs is kept.
  std::string add(const Chart& chart);
  // {"chart-1": ..., ...}
  [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

using RunGroups = std::span<const RunGroup>;

[[nodiscard]] std::string resultSection(RunGroups groups);
[[nodiscard]] std::string learningSection(RunGroups groups, PageCharts& charts);
[[nodiscard]] std::string viewsSection(RunGroups groups);
[[nodiscard]] std::string scoresSection(RunGroups groups, PageCharts& charts);
[[nodiscard]] std::string costSection(RunGroups groups);
[[nodiscard]] std::string auditSection(RunGroups groups);
[[nodiscard]] std::string dataSection(RunGroups groups);
[[nodiscard]] std::string optionsSection(RunGroups groups);

// Names of metrics that any of the groups reports, in the order they come.
[[nodiscard]] std::vector<std::string> testMetrics(RunGroups groups);

// A part that is there to be opened; on paper it is open, or left out.
enum class OnPaper { kOpen, kLeftOut };
[[nodiscard]] std::string folded(std::string_view summary, const std::string& content,
                                 OnPaper on_paper = OnPaper::kOpen);

}  // namespace edgewise
