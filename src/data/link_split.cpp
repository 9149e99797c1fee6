#include "edgewise/data/link_split.h"

#include "data/freeze_negatives.h"
#include "data/split_positives.h"
#include "edgewise/util/hash.h"

namespace edgewise {
namespace {

void addNegatives(Fingerprint& hash, const FrozenNegatives& negatives) {
  hash.add(std::span<const Edge>(negatives.edges)).add(std::uint64_t{negatives.per_positive});
}

}  // namespace

void SplitOptions::bind(OptionSet& set) {
  set.add("split.kind", kind, {"auto", "random", "official", "time", "nodes", "per_user"},
          "how edges are held out; auto: official where published, per_user for bipartite data, "
          "else random");
  set.add("split.valid", valid, {-1.0, 0.999},
          "share held out for validation; -1: 0.05, or 0.1 for users and items");
  set.add("split.test", test, {-1.0, 0.999},
          "share held out for the test; -1: 0.1, or 0.2 for users and items");
  set.add(
      "split.reveal", reveal, {0.0, 0.999},
      "split.kind=nodes: share of a held-out node's edges that carry messages when it is scored");
  set.add("split.carve", carve, {"random", "last"},
          "split.kind=official without validation edges of its own: training edges that take their "
          "place, at random, or the last of users' lists (by time, else as the file has them), "
          "which tells more where the test is later, too");
  set.add("split.seed", seed, {-1, std::int64_t{1} << 62}, "seed of the split; -1: run.seed");
  set.add("split.message_at_train", message_at_train, {"train", "train+valid"},
          "edges that carry messages in training and validation; train+valid lets validation edges "
          "explain themselves: a leak, to show what it is worth");
  set.add("split.message_at_test", message_at_test, {"train", "train+valid"},
          "edges that carry messages when test edges are scored");
}

void NegativeSettings::bind(OptionSet& set) {
  set.add("negatives.kind", kind, {"auto", "official", "uniform", "degree", "hard"},
          "how evaluation negatives are chosen; auto: official where published, else uniform");
  set.add("negatives.per_positive", per_positive, {-1, 100'000},
          "0: one pool for all positives, as many as they are; N: N of its own for each (ranking); "
          "-1: 0, or 100 for bipartite data and hard negatives");
  set.add("negatives.power", power, {0.0, 5.0}, "negatives.kind=degree: ends by degree^power");
}

LinkSplit splitLinks(const Dataset& dataset, const SplitOptions& split,
                     const NegativeSettings& negatives, std::uint64_t seed,
                     ProgressSink& progress) {
  LinkSplit result = detail::cutPositives(dataset, split, seed);
  detail::freezeNegatives(dataset, negatives, result, progress);
  result.hash = splitHash(result);
  return result;
}

TrainingEdges trainingEdges(const LinkSplit& split, std::string_view message_at_train) {
  TrainingEdges training = split.training;
  if (message_at_train == "train+valid") {
    training.message.table.append(training.valid.positive);
  }
  return training;
}

MessageEdges messagesAtValid(const TrainingEdges& training) {
  MessageEdges messages = training.message;
  messages.table.append(training.revealed_at_valid.table);
  return messages;
}

MessageEdges messagesAtTest(const LinkSplit& split, std::string_view message_at_test) {
  MessageEdges messages = messagesAtValid(split.training);
  if (message_at_test == "train+valid") {
    messages.table.append(split.training.valid.positive);
  }
  messages.table.append(split.revealed_at_test.table);
  return messages;
}

CsrGraph messageGraph(const Dataset& dataset, const MessageEdges& messages) {
  return CsrGraph::fromEdges(dataset.node_count, messages.table.edges, dataset.direction,
                             messages.table.weight);
}

std::string splitHash(const LinkSplit& split) {
  Fingerprint hash;
  hash.add("edgewise split 1");
  for (const EdgeTable* table :
       {&split.training.message.table, &split.training.supervision.table,
        &split.training.valid.positive, &split.test.positive,
        &split.training.revealed_at_valid.table, &split.revealed_at_test.table}) {
    hash.add(std::span<const Edge>(table->edges));
  }
  addNegatives(hash, split.training.valid.negative);
  addNegatives(hash, split.test.negative);
  return hash.hex();
}

}  // namespace edgewise
