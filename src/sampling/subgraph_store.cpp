#include "sampling/subgraph_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/hash.h"

namespace edgewise::detail {
namespace {

// All numbers are of 32 bits, as the machine has them: a file serves the machine that made it.
using Word = std::uint32_t;
constexpr std::uint64_t kWord = sizeof(Word);

// The words before a record's subgraph.
struct RecordHead {
  Word source = 0;
  Word target = 0;
  Word source_hops = 0;
  Word target_hops = 0;
  Word nodes = 0;
  Word entries = 0;
  // Of all words but itself.
  Word check = 0;
};
constexpr std::size_t kHeadWords = sizeof(RecordHead) / kWord;
constexpr std::size_t kCheckedHeadWords = kHeadWords - 1;

std::uint64_t wordsOf(const RecordHead& head, std::size_t label_width) {
  return kHeadWords + std::uint64_t{head.nodes} * (2 + label_width) + head.entries;
}

// FNV-1a by words, folded.
Word checkOf(const RecordHead& head, std::span<const Word> rest) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto take = [&](Word word) { hash = (hash ^ word) * 0x100000001b3; };
  std::array<Word, kHeadWords> words{};
  std::memcpy(words.data(), &head, sizeof(head));
  for (std::size_t i = 0; i < kCheckedHeadWords; ++i) {
    take(words[i]);
  }
  for (const Word word : rest) {
    take(word);
  }
  return static_cast<Word>(hash ^ (hash >> 32));
}

std::string fingerprintOf(const CsrGraph& graph, const ExtractionOptions& options) {
  const HopSampling& sampling = options.sampling;
  const bool by_lot = sampling.ratio < 1 || sampling.max_nodes < graph.nodeCount();
  const double ratio = sampling.ratio;
  return Fingerprint()
      .add(graph.offsets())
      .add(graph.targets())
      .add(static_cast<std::uint64_t>(options.labels.labelling))
      .add(options.labels.max_label)
      .add(options.labels.max_distance)
      .add(std::span(&ratio, 1))
      .add(static_cast<std::uint64_t>(sampling.max_nodes))
      // Without lots the seed decides nothing.
      .add(by_lot ? sampling.seed : 0)
      .hex();
}

// Reads or writes all of it; false at the file's end or on an error.
bool readAll(int file, void* to, std::size_t size, std::uint64_t from) {
  auto* next = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(file, next, size, static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    next += got;
    from += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool writeAll(int file, const void* from, std::size_t size, std::uint64_t to) {
  const auto* next = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t put = ::pwrite(file, next, size, static_cast<off_t>(to));
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return false;
    }
    next += put;
    to += static_cast<std::uint64_t>(put);
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

template <class T>
void appendTo(std::vector<Word>& words, std::span<const T> values) {
  static_assert(sizeof(T) == kWord);
  const std::size_t before = words.size();
  words.resize(before + values.size());
  std::memcpy(words.data() + before, values.data(), values.size_bytes());
}

template <class T>
void appendFrom(std::span<const Word>& words, std::size_t count, std::vector<T>& values) {
  static_assert(sizeof(T) == kWord);
  const std::size_t before = values.size();
  values.resize(before + count);
  std::memcpy(values.data() + before, words.data(), count * kWord);
  words = words.subspan(count);
}

}  // namespace

std::size_t SubgraphStore::KeyHash::operator()(const Key& key) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(((key.pair * kOdd) ^ key.view) * kOdd);
}

SubgraphStore::Key SubgraphStore::keyOf(Edge pair, HopView view) {
  return {.pair = edgeKey(pair), .view = (std::uint64_t{view.source} << 32) | view.target};
}

SubgraphStore::SubgraphStore(const CsrGraph& graph, const ExtractionOptions& options)
    : fingerprint_(fingerprintOf(graph, options)),
      most_bytes_(options.store.most_bytes),
      label_width_(labelWidth(options.labels)),
      node_count_(graph.nodeCount()) {
  constexpr std::size_t kNameLetters = 16;
  path_ = options.store.folder / (fingerprint_.substr(0, kNameLetters) + ".subgraphs");
  std::error_code failed;
  std::filesystem::create_directories(options.store.folder, failed);
  open();
}

SubgraphStore::~SubgraphStore() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

void SubgraphStore::open() {
  constexpr mode_t kMode = 0644;
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  const bool writable = file_ >= 0;
  if (!writable) {
    file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (file_ < 0) {
    throw ResourceError(
        fmt::format("{}: cannot be made ({})", path_.string(), std::strerror(errno)),
        "name a folder that can be written to, or leave seal.cache empty");
  }
  adds_ = writable && ::flock(file_, LOCK_EX | LOCK_NB) == 0;
  const std::string head = fmt::format("edgewise subgraphs 1 {}\n", fingerprint_);
  struct stat status{};
  const std::uint64_t size =
      ::fstat(file_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  std::string found(head.size(), '\0');
  if (readAll(file_, found.data(), found.size(), 0) && found == head) {
    readIndex(size, head.size());
  } else if (adds_) {
    begin(head);
  }
}

// An empty file, or one that is none of ours, is begun anew.
void SubgraphStore::begin(const std::string& head) {
  adds_ = ::ftruncate(file_, 0) == 0 && writeAll(file_, head.data(), head.size(), 0);
  end_ = head.size();
}

void SubgraphStore::readIndex(std::uint64_t size, std::size_t head) {
  end_ = head;
  RecordHead record;
  while (end_ + sizeof(record) <= size && readAll(file_, &record, sizeof(record), end_)) {
    const std::uint64_t next = end_ + kWord * wordsOf(record, label_width_);
    if (next > size) {
      break;
    }
    places_.insert_or_assign(keyOf({NodeId{record.source}, NodeId{record.target}},
                                   {record.source_hops, record.target_hops}),
                             end_);
    end_ = next;
  }
  if (adds_ && end_ < size) {
    adds_ = ::ftruncate(file_, static_cast<off_t>(end_)) == 0;
  }
}

std::size_t SubgraphStore::count() const {
  const std::shared_lock lock(places_mutex_);
  return places_.size();
}

std::optional<std::uint64_t> SubgraphStore::placeOf(const Key& key) const {
  const std::shared_lock lock(places_mutex_);
  const auto found = places_.find(key);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

bool SubgraphStore::read(Edge pair, HopView view, SubgraphPiece& piece) const {
  const std::optional<std::uint64_t> place = placeOf(keyOf(pair, view));
  RecordHead head;
  if (!place || !readAll(file_, &head, sizeof(head), *place)) {
    return false;
  }
  if (NodeId{head.source} != pair.src || NodeId{head.target} != pair.dst ||
      HopView{head.source_hops, head.target_hops} != view || head.nodes > node_count_) {
    return false;
  }
  thread_local std::vector<Word> words;
  words.resize(wordsOf(head, label_width_) - kHeadWords);
  if (!readAll(file_, words.data(), words.size() * kWord, *place + sizeof(head)) ||
      checkOf(head, words) != head.check) {
    return false;
  }
  std::span<const Word> rest(words);
  piece.node_counts.push_back(head.nodes);
  appendFrom(rest, head.nodes, piece.nodes);
  appendFrom(rest, head.nodes * label_width_, piece.labels);
  appendFrom(rest, head.nodes, piece.row_sizes);
  appendFrom(rest, head.entries, piece.neighbours);
  return true;
}

void SubgraphStore::add(Edge pair, HopView view, const SubgraphPiece& piece) {
  if (!adds_) {
    return;
  }
  const std::size_t nodes = piece.node_counts.back();
  const auto rows = std::span(piece.row_sizes).last(nodes);
  std::size_t entries = 0;
  for (const std::uint32_t size : rows) {
    entries += size;
  }
  RecordHead head{.source = index(pair.src),
                  .target = index(pair.dst),
                  .source_hops = view.source,
                  .target_hops = view.target,
                  .nodes = static_cast<Word>(nodes),
                  .entries = static_cast<Word>(entries)};
  std::vector<Word> words(kHeadWords);
  words.reserve(wordsOf(head, label_width_));
  appendTo(words, std::span(piece.nodes).last(nodes));
  appendTo(words, std::span(piece.labels).last(nodes * label_width_));
  appendTo(words, rows);
  appendTo(words, std::span(piece.neighbours).last(entries));
  head.check = checkOf(head, std::span(words).subspan(kHeadWords));
  std::memcpy(words.data(), &head, sizeof(head));
  const std::uint64_t size = kWord * words.size();
  std::uint64_t place = 0;
  {
    const std::scoped_lock lock(end_mutex_);
    if (!adds_ || end_ + size > most_bytes_ || !writeAll(file_, words.data(), size, end_)) {
      // Full: what is there still serves. The next to open the file cuts half a record off.
      adds_ = false;
      return;
    }
    place = end_;
    end_ += size;
  }
  const std::scoped_lock lock(places_mutex_);
  places_.insert_or_assign(keyOf(pair, view), place);
}

}  // namespace edgewise::detail
