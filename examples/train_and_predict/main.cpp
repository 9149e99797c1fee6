// From an edge list to new links in C++: load, train, predict. Without an argument it works on the
// planted graph; with one, on that edge list. The run stays in ./run, as the program leaves it.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "edgewise/serving/link_predictor.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/run_folder.h"

int main(int argc, char** argv) try {
  edgewise::RunOptions options;
  options.data.edges = argc > 1 ? argv[1] : "";
  options.data.dataset = argc > 1 ? "" : "planted";
  options.model = "gae";
  options.training.epochs = 30;

  const edgewise::Dataset data = edgewise::openDataset(options.data, options.planted, {});
  const edgewise::LinkSplit split =
      edgewise::splitLinks(data, options.split, options.negatives, edgewise::splitSeed(options));
  const edgewise::RunFolder folder = edgewise::RunFolder::create("run");
  folder.writeOptions(options, data.hash);
  const edgewise::RunMetrics result = edgewise::runModel(data, split, options, folder.path());
  folder.writeJson("metrics.json", result.toJson());
  std::printf("test auc %.4f\n", result.test.at("auc"));

  const edgewise::ServedRun run = edgewise::serveRun(edgewise::readStoredRun("run"), {});
  const edgewise::LinkPredictor predictor(run.stored, run.dataset, edgewise::runGraph(run, "all"),
                                          edgewise::calibrateRun(run));
  const edgewise::NodeId node = run.split.test.positive.edges.front().src;
  for (const edgewise::Prediction& link : predictor.topOf(node, 5)) {
    std::printf("%s - %s: score %.3f, probability %.3f\n", data.nodeLabel(link.pair.src).c_str(),
                data.nodeLabel(link.pair.dst).c_str(), link.score, link.probability.value_or(0));
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
