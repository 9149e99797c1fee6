#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "house/layer_rules.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::edgewise::testing::kLayers;
using ::edgewise::testing::LayerCheck;
using ::edgewise::testing::TempFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Breaches of a tree that holds one file.
std::vector<std::string> breachesOf(const std::string& file, const std::string& text) {
  const TempFolder folder;
  (void)folder.write(file, text);
  return LayerCheck(folder.path()).run();
}

TEST(Layers, OfThisSourceTreeIncludeOnlyDownwards) {
  EXPECT_THAT(LayerCheck(EDGEWISE_SOURCE_DIR).run(), IsEmpty());
}

TEST(Layers, AreTheOnesTheBuildKnows) {
  std::ifstream stream(std::string(EDGEWISE_SOURCE_DIR) + "/cmake/EdgewiseLayer.cmake");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::ostringstream all;
  std::ostringstream torch_free;
  for (const auto& layer : kLayers) {
    all << ' ' << layer.name;
    if (!layer.torch) {
      torch_free << ' ' << layer.name;
    }
  }
  EXPECT_THAT(text, HasSubstr("set(EDGEWISE_LAYERS" + all.str() + ")"));
  EXPECT_THAT(text, HasSubstr("set(EDGEWISE_TORCH_FREE_LAYERS" + torch_free.str() + ")"));
}

TEST(LayerCheck, AcceptsOwnAndLowerLayers) {
  EXPECT_THAT(breachesOf("src/data/reader.cpp",
                         "#include \"edgewise/data/dataset.h\"\n#include <vector>\n"
                         "#include \"edgewise/util/error.h\"\n#include <zlib.h>\n"),
              IsEmpty());
  EXPECT_THAT(breachesOf("src/training/step.cpp",
                         "#include <ATen/ATen.h>\n#include \"edgewise/evaluation/hits.h\"\n"),
              IsEmpty());
}

TEST(LayerCheck, RejectsAnUpwardIncludeWithItsPlace) {
  EXPECT_THAT(breachesOf("include/edgewise/graph/bad.h",
                         "// a header\n#include \"edgewise/data/dataset.h\"\n"),
              ElementsAre(AllOf(StartsWith("include/edgewise/graph/bad.h:2:"),
                                HasSubstr("edgewise/data/dataset.h"))));
  EXPECT_THAT(breachesOf("src/util/bad.cpp", "  #  include <edgewise/graph/types.h>\n"),
              ElementsAre(StartsWith("src/util/bad.cpp:1:")));
}

TEST(LayerCheck, RejectsTorchWhereItIsNotKnown) {
  for (const std::string layer : {"util", "graph", "sampling", "data", "evaluation"}) {
    for (const std::string header : {"torch/torch.h", "ATen/ATen.h", "c10/util/Half.h"}) {
      EXPECT_THAT(breachesOf("src/" + layer + "/bad.cpp", "#include <" + header + ">\n"),
                  ElementsAre(HasSubstr("libtorch")))
          << layer << " " << header;
    }
  }
}

TEST(LayerCheck, RejectsATorchLayerFromATorchFreeOneAboveIt) {
  EXPECT_THAT(breachesOf("src/evaluation/bad.cpp", "#include \"edgewise/ops/backend.h\"\n"),
              ElementsAre(HasSubstr("libtorch")));
}

TEST(LayerCheck, RejectsPrivateHeadersOfOtherLayers) {
  for (const std::string path : {"util/secret.h", "../util/secret.h"}) {
    const TempFolder folder;
    (void)folder.write("src/util/secret.h", "");
    (void)folder.write("src/graph/bad.cpp", "#include \"" + path + "\"\n");
    EXPECT_THAT(LayerCheck(folder.path()).run(), ElementsAre(StartsWith("src/graph/bad.cpp:1:")));
  }
}

TEST(LayerCheck, AcceptsPrivateHeadersOfTheSameLayer) {
  const TempFolder folder;
  (void)folder.write("src/util/secret.h", "");
  (void)folder.write("src/util/one.cpp", "#include \"secret.h\"\n");
  (void)folder.write("src/util/deep/two.cpp", "#include \"util/secret.h\"\n");
  EXPECT_THAT(LayerCheck(folder.path()).run(), IsEmpty());
}

TEST(LayerCheck, RejectsPublicHeadersThatNeedPrivateOnes) {
  const TempFolder folder;
  (void)folder.write("src/util/secret.h", "");
  (void)folder.write("include/edgewise/util/bad.h", "#include \"util/secret.h\"\n");
  EXPECT_THAT(LayerCheck(folder.path()).run(), ElementsAre(HasSubstr("public headers")));
}

TEST(LayerCheck, RejectsUnknownLayers) {
  EXPECT_THAT(breachesOf("src/misc/bad.cpp", ""), ElementsAre(HasSubstr("no layer of the house")));
  EXPECT_THAT(breachesOf("src/report/bad.cpp", "#include \"edgewise/misc/bad.h\"\n"),
              ElementsAre(HasSubstr("no layer of the house")));
}

}  // namespace
}  // namespace edgewise
