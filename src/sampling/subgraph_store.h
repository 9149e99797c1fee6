// Enclosing subgraphs kept in a file, for pairs that are looked at again and again: the positives
// of every epoch, what is validated by, the same in another run.
//
// A file belongs to one graph and one set of options, by whose fingerprint it is named. It begins
// with a line that says so; records follow, each with a checksum. What a killed program left at the
// end is cut off by the next, a damaged record counts as none and is made anew.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "sampling/subgraph_builder.h"

namespace edgewise::detail {

class SubgraphStore {
 public:
  // Makes the folder and the file where they are missing. Where another program is adding to the
  // file, this one reads what is there and adds nothing. Throws ResourceError when the file can be
  // neither read nor made.
  SubgraphStore(const CsrGraph& graph, const ExtractionOptions& options);
  SubgraphStore(const SubgraphStore&) = delete;
  SubgraphStore& operator=(const SubgraphStore&) = delete;
  SubgraphStore(SubgraphStore&&) = delete;
  SubgraphStore& operator=(SubgraphStore&&) = delete;
  ~SubgraphStore();

  // Appends the pair's subgraph to the piece, if it is here and whole. Safe to call from several
  // threads, as is add().
  [[nodiscard]] bool read(Edge pair, HopView view, SubgraphPiece& piece) const;
  // Keeps the last subgraph of the piece as the pair's, if there is room.
  void add(Edge pair, HopView view, const SubgraphPiece& piece);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t count() const;

 private:
  struct Key {
    std::uint64_t pair = 0;
    std::uint64_t view = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  static Key keyOf(Edge pair, HopView view);

  void open();
  void begin(const std::string& head);
  void readIndex(std::uint64_t size, std::size_t head);
  [[nodiscard]] std::optional<std::uint64_t> placeOf(const Key& key) const;

  std::filesystem::path path_;
  std::string fingerprint_;
  std::uint64_t most_bytes_;
  std::size_t label_width_;
  std::size_t node_count_;
  int file_ = -1;
  mutable std::shared_mutex places_mutex_;
  std::unordered_map<Key, std::uint64_t, KeyHash> places_;
  std::mutex end_mutex_;
  std::uint64_t end_ = 0;
  std::atomic<bool> adds_ = false;
};

}  // namespace edgewise::detail
