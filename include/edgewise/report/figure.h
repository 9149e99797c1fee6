// Figures of several panels side by side as SVG: maps of shaded cells, curves, and bars.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/report/grid.h"

namespace edgewise {

struct HeatPanel {
  std::string title = {};
  std::vector<std::string> rows = {};
  std::vector<std::string> columns = {};
  // rows x columns, row by row; one that is not finite stays empty.
  std::vector<double> values = {};
  // Shown in light and in dark; equal: the least and the largest value.
  double low = 0;
  double high = 1;
  int digits = 2;
  std::string row_label = {};
  std::string column_label = {};
};

struct CurvePanel {
  struct Curve {
    std::string name = {};
    std::vector<std::pair<double, double>> points = {};
  };
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::vector<Curve> curves = {};
};

struct BarPanel {
  struct Bar {
    double value = 0;
    // Drawn to either side; 0: none.
    double error = 0;
    bool there = true;
  };
  std::string title = {};
  std::string y_label = {};
  std::vector<std::string> groups = {};
  std::vector<std::string> series = {};
  // groups x series, group by group.
  std::vector<Bar> bars = {};
};

// `across` panels a line. Without panels a figure says so.
[[nodiscard]] std::string drawHeatmaps(std::string_view title, std::span<const HeatPanel> panels,
                                       std::size_t across);
[[nodiscard]] std::string drawCurves(std::string_view title, std::span<const CurvePanel> panels,
                                     std::size_t across);
[[nodiscard]] std::string drawBars(std::string_view title, std::span<const BarPanel> panels,
                                   std::size_t across);

// A page that stands alone: a title, drawings, a table, remarks.
struct FigurePage {
  std::string title = {};
  std::vector<std::string> drawings = {};
  std::vector<Grid> tables = {};
  std::vector<std::string> remarks = {};
};
[[nodiscard]] std::string figureHtml(const FigurePage& page);

}  // namespace edgewise
