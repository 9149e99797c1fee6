#include "edgewise/data/features.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "data/text_table.h"
#include "edgewise/data/npy.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

enum class FeatureForm : std::uint8_t { kNpy, kNpz, kSvmlight, kTable, kUnknown };

FeatureForm formByName(const std::filesystem::path& path) {
  static constexpr std::array<std::pair<std::string_view, FeatureForm>, 7> kNames = {{
      {".npy", FeatureForm::kNpy},
      {".npz", FeatureForm::kNpz},
      {".svm", FeatureForm::kSvmlight},
      {".svmlight", FeatureForm::kSvmlight},
      {".libsvm", FeatureForm::kSvmlight},
      {".csv", FeatureForm::kTable},
      {".tsv", FeatureForm::kTable},
  }};
  std::filesystem::path name = path.filename();
  if (lowerCase(name.extension().string()) == ".gz") {
    name = name.stem();
  }
  const auto found = std::ranges::find(kNames, lowerCase(name.extension().string()),
                                       &std::pair<std::string_view, FeatureForm>::first);
  return found == kNames.end() ? FeatureForm::kUnknown : found->second;
}

FeatureForm formByFirstBytes(const std::filesystem::path& path) {
  constexpr std::string_view kNpyMagic = "\x93NUMPY";
  constexpr std::string_view kZipMagic = "PK\x03\x04";
  const FileBytes bytes = FileBytes::map(path);
  if (bytes.view().starts_with(kNpyMagic)) {
    return FeatureForm::kNpy;
  }
  return bytes.view().starts_with(kZipMagic) ? FeatureForm::kNpz : FeatureForm::kUnknown;
}

// Whether the last field of the first row is index:value (the first one may be a label).
FeatureForm formByFirstRow(const std::filesystem::path& path) {
  const TextFile file(path);
  const auto lines = firstDataLines(file.text(), 1);
  if (lines.empty()) {
    return FeatureForm::kTable;
  }
  const std::string_view row = trimmed(lines.front().substr(0, lines.front().find('#')));
  const std::string_view last = row.substr(row.find_last_of(" \t") + 1);
  const std::size_t colon = last.find(':');
  const bool entry = colon != std::string_view::npos && parseInteger(last.substr(0, colon)) &&
                     parseReal(last.substr(colon + 1));
  return entry ? FeatureForm::kSvmlight : FeatureForm::kTable;
}

}  // namespace

FeatureMatrix readFeatures(const std::filesystem::path& path, const FeatureTextOptions& options) {
  FeatureForm form = formByFirstBytes(path);
  if (form == FeatureForm::kUnknown) {
    form = formByName(path);
  }
  if (form == FeatureForm::kUnknown) {
    form = formByFirstRow(path);
  }
  switch (form) {
    case FeatureForm::kNpy:
      return readFeaturesNpy(path);
    case FeatureForm::kNpz:
      return readFeaturesNpz(path);
    case FeatureForm::kSvmlight:
      return readFeaturesSvmlight(path, options);
    default:
      return readFeaturesCsv(path, options);
  }
}

}  // namespace edgewise
