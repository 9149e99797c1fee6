// From an edge list to an honest score in C++: read, split, score, measure. Without an argument it
// works on the planted graph; with one, on that edge list. All it needs is find_package(edgewise)
// and edgewise::edgewise.
#include <cstdio>
#include <exception>

#include "edgewise/data/edge_list.h"
#include "edgewise/data/link_split.h"
#include "edgewise/data/planted.h"
#include "edgewise/evaluation/audit.h"
#include "edgewise/evaluation/metric_set.h"
#include "edgewise/graph/heuristics.h"

namespace {

edgewise::Dataset load(int argc, char** argv) {
  if (argc < 2) {
    return edgewise::makePlanted({});
  }
  edgewise::DatasetParts parts;
  parts.name = argv[1];
  parts.raw = edgewise::readEdgeList(argv[1]);
  return edgewise::makeDataset(std::move(parts));
}

void scoreLinks(const edgewise::Dataset& dataset) {
  const edgewise::LinkSplit split = edgewise::splitLinks(dataset, {}, {}, /*seed=*/0);
  const edgewise::MessageEdges messages = edgewise::messagesAtTest(split, "train");
  const edgewise::AuditReport audit =
      edgewise::auditSplit(dataset, split, {split.training.message, messages, messages});
  std::printf("%zu nodes, %zu edges, %zu test edges, %zu leaks\n", dataset.node_count,
              dataset.edges.size(), split.test.positive.size(), audit.leakCount());
  const edgewise::CsrGraph graph = edgewise::messageGraph(dataset, messages);
  for (const edgewise::Heuristic heuristic : edgewise::allHeuristics()) {
    const edgewise::HeuristicScorer scorer(graph, heuristic);
    const edgewise::MetricSet metrics = edgewise::evaluateBinary(
        scorer.score(split.test.positive.edges), scorer.score(split.test.negative.edges),
        edgewise::parseMetrics("auc,ap"));
    std::printf("%-8s auc %.4f  ap %.4f\n", edgewise::heuristicName(heuristic).data(),
                metrics.at("auc"), metrics.at("ap"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    scoreLinks(load(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
