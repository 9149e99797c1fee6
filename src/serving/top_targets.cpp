#include "edgewise/serving/top_targets.h"

#include <algorithm>
#include <limits>
#include <span>

#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/process.h"

namespace edgewise {
namespace {

// A tile of pairs: 4 MiB of scores.
constexpr std::size_t kTileSources = 128;
constexpr std::size_t kTileTargets = 4096;
// Scores of whole rows held at once.
constexpr std::size_t kRowScores = std::size_t{1} << 22;
// Tiles round differently than single pairs: some more are kept and scored again.
constexpr std::size_t kSpare = 12;
// Pairs scored again at once.
constexpr std::size_t kAgain = std::size_t{1} << 18;

bool better(const ScoredTarget& one, const ScoredTarget& other) {
  return one.score != other.score ? one.score > other.score : one.target < other.target;
}

// The best so far, the worst of them on top.
class TopList {
 public:
  [[nodiscard]] bool wants(const ScoredTarget& candidate, std::size_t most) const {
    return heap_.size() < most || better(candidate, heap_.front());
  }
  void add(const ScoredTarget& candidate, std::size_t most) {
    if (heap_.size() == most) {
      std::ranges::pop_heap(heap_, better);
      heap_.back() = candidate;
    } else {
      heap_.push_back(candidate);
    }
    std::ranges::push_heap(heap_, better);
  }
  // Below this nothing is wanted.
  [[nodiscard]] double bar(std::size_t most) const {
    return heap_.size() < most ? -std::numeric_limits<double>::infinity() : heap_.front().score;
  }
  // Best first; empties the list.
  [[nodiscard]] std::vector<ScoredTarget> take() {
    std::ranges::sort(heap_, better);
    return std::move(heap_);
  }

 private:
  std::vector<ScoredTarget> heap_;
};

// The most targets a tile may have for this scorer.
std::size_t tileTargets(const RunScorer& scorer, const TopRequest& request) {
  return scorer.scoresWholeRows() ? request.targets.size()
                                  : std::min(kTileTargets, request.targets.size());
}

std::size_t tileSources(const RunScorer& scorer, const TopRequest& request) {
  const std::size_t most =
      scorer.scoresWholeRows()
          ? std::clamp<std::size_t>(kRowScores / std::max<std::size_t>(request.targets.size(), 1),
                                    1, kTileSources)
          : kTileSources;
  return std::min(most, request.sources.size());
}

class Search {
 public:
  Search(const RunScorer& scorer, const CsrGraph& known, const TopRequest& request,
         ProgressSink& progress)
      : scorer_(scorer),
        known_(known),
        request_(request),
        progress_(progress),
        // Where a source is scored against all targets anyway, nothing is gained by halves.
        mutual_(request.mutual && !scorer.scoresWholeRows()),
        keep_(request.top + (scorer.scoresWholeRows() ? 0 : kSpare)),
        lists_(request.sources.size()),
        bars_(request.sources.size(), -std::numeric_limits<double>::infinity()) {}

  std::vector<std::vector<ScoredTarget>> run() {
    scoreTiles();
    std::vector<std::vector<ScoredTarget>> best(lists_.size());
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      best[i] = lists_[i].take();
    }
    if (!scorer_.scoresWholeRows()) {
      scoreAgain(best);
    }
    return best;
  }

 private:
  // Sources and targets by their place in the request.
  struct Tile {
    std::size_t first_source = 0;
    std::size_t first_target = 0;
    std::span<const NodeId> sources;
    std::span<const NodeId> targets;
  };

  void scoreTiles() {
    const std::size_t height = tileSources(scorer_, request_);
    const std::size_t width = tileTargets(scorer_, request_);
    std::vector<double> scores(height * width);
    ProgressTask task(progress_, "scoring pairs",
                      mutual_ ? request_.pairCount()
                              : std::uint64_t{request_.sources.size()} * request_.targets.size());
    for (std::size_t s = 0; s < request_.sources.size(); s += height) {
      for (std::size_t t = mutual_ ? s : 0; t < request_.targets.size(); t += width) {
        throwIfInterrupted();
        const std::size_t rows = std::min(height, request_.sources.size() - s);
        const std::size_t columns = std::min(width, request_.targets.size() - t);
        const Tile tile{s, t, std::span(request_.sources).subspan(s, rows),
                        std::span(request_.targets).subspan(t, columns)};
        const std::span<double> out = std::span(scores).first(rows * columns);
        scorer_.scoreTile(tile.sources, tile.targets, out);
        offerRows(tile, out);
        if (mutual_) {
          offerColumns(tile, out);
        }
        std::uint64_t offered = 0;
        for (std::size_t row = 0; row < rows; ++row) {
          offered += columns - std::min(columns, firstOther(tile, row));
        }
        task.advance(offered);
      }
    }
  }

  void offer(std::size_t list, NodeId source, NodeId target, double score) {
    const ScoredTarget candidate{target, score};
    if (source == target || !lists_[list].wants(candidate, keep_) ||
        known_.hasEdge(source, target)) {
      return;
    }
    lists_[list].add(candidate, keep_);
    bars_[list] = lists_[list].bar(keep_);
  }

  // Each source's list belongs to one block, so blocks need no locks.
  void offerRows(const Tile& tile, std::span<const double> scores) {
    parallelFor(
        tile.sources.size(), 1,
        [&](std::size_t row, std::size_t) {
          const std::size_t list = tile.first_source + row;
          const std::span<const double> line =
              scores.subspan(row * tile.targets.size(), tile.targets.size());
          for (std::size_t j = firstOther(tile, row); j < line.size(); ++j) {
            // What is not a number is never offered.
            if (line[j] >= bars_[list]) {
              offer(list, tile.sources[row], tile.targets[j], line[j]);
            }
          }
        },
        static_cast<double>(scores.size()));
  }

  // The same pairs seen from their targets.
  void offerColumns(const Tile& tile, std::span<const double> scores) {
    constexpr std::size_t kColumns = 256;
    parallelFor(
        tile.targets.size(), kColumns,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t row = 0; row < tile.sources.size(); ++row) {
            const double* line = scores.data() + row * tile.targets.size();
            for (std::size_t j = std::max(begin, firstOther(tile, row)); j < end; ++j) {
              const std::size_t list = tile.first_target + j;
              if (line[j] >= bars_[list]) {
                offer(list, tile.targets[j], tile.sources[row], line[j]);
              }
            }
          }
        },
        static_cast<double>(scores.size()));
  }

  // The first target of a row that is not scored from its own side: behind the source.
  [[nodiscard]] std::size_t firstOther(const Tile& tile, std::size_t row) const {
    const std::size_t own = tile.first_source + row + 1;
    return mutual_ && own > tile.first_target ? own - tile.first_target : 0;
  }

  // The lists by the scores of single pairs, cut to what was asked for.
  void scoreAgain(std::vector<std::vector<ScoredTarget>>& best) const {
    std::vector<Edge> pairs;
    std::size_t first = 0;
    for (std::size_t i = 0; i <= best.size(); ++i) {
      if (i == best.size() || pairs.size() >= kAgain) {
        const std::vector<double> scores = scorer_.score(pairs);
        std::size_t at = 0;
        for (; first < i; ++first) {
          for (ScoredTarget& entry : best[first]) {
            entry.score = scores[at++];
          }
          std::ranges::sort(best[first], better);
          best[first].resize(std::min(best[first].size(), request_.top));
        }
        pairs.clear();
      }
      for (std::size_t j = 0; i < best.size() && j < best[i].size(); ++j) {
        pairs.push_back({request_.sources[i], best[i][j].target});
      }
    }
  }

  const RunScorer& scorer_;
  const CsrGraph& known_;
  const TopRequest& request_;
  ProgressSink& progress_;
  bool mutual_;
  std::size_t keep_;
  std::vector<TopList> lists_;
  // Of each list, beside each other so that a scan touches little.
  std::vector<double> bars_;
};

}  // namespace

std::uint64_t TopRequest::pairCount() const {
  const std::uint64_t all = std::uint64_t{sources.size()} * targets.size();
  return mutual ? (all - sources.size()) / 2 : all;
}

std::vector<std::vector<ScoredTarget>> topTargets(const RunScorer& scorer, const CsrGraph& known,
                                                  const TopRequest& request,
                                                  ProgressSink& progress) {
  if (request.sources.empty() || request.targets.empty() || request.top == 0) {
    return std::vector<std::vector<ScoredTarget>>(request.sources.size());
  }
  return Search(scorer, known, request, progress).run();
}

SearchEstimate estimateSearch(const RunScorer& scorer, const TopRequest& request) {
  SearchEstimate estimate;
  estimate.pairs = request.pairCount();
  const std::size_t height = tileSources(scorer, request);
  const std::size_t width = tileTargets(scorer, request);
  constexpr std::uint64_t kEntry = 2 * sizeof(ScoredTarget) + sizeof(double) + sizeof(TopList);
  estimate.memory_bytes = peakMemoryBytes() + height * width * sizeof(double) * 2 +
                          std::uint64_t{request.sources.size()} * (request.top + kSpare) * kEntry;
  const auto sources = std::span(request.sources).first(std::min<std::size_t>(height, 16));
  const auto targets = std::span(request.targets).first(width);
  std::vector<double> out(sources.size() * targets.size());
  // The best of a few: the first warms up, and others may disturb one.
  double seconds = std::numeric_limits<double>::infinity();
  constexpr int kSamples = 3;
  for (int i = 0; i < kSamples; ++i) {
    const Stopwatch watch;
    scorer.scoreTile(sources, targets, out);
    seconds = std::min(seconds, watch.seconds());
  }
  // Half of the pairs of a mutual search are saved only where tiles are scored.
  const bool halved = request.mutual && !scorer.scoresWholeRows();
  const double pairs = static_cast<double>(
      halved ? estimate.pairs : std::uint64_t{request.sources.size()} * request.targets.size());
  estimate.seconds = seconds * pairs / static_cast<double>(out.size());
  return estimate;
}

}  // namespace edgewise
