#include "edgewise/data/edge_list.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/graph/types.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::edgewise::testing::expectFailure;
using ::edgewise::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RawEdges readText(std::string_view text, const EdgeListOptions& options = {}) {
  const TempFolder folder;
  return readEdgeList(folder.write("edges.csv", text), options);
}

template <class Failure>
void expectRefused(std::string_view text, std::string_view fragment,
                   const EdgeListOptions& options = {}) {
  expectFailure<Failure>([&] { (void)readText(text, options); }, fragment);
}

std::vector<std::string> labelsOf(const IdMap& ids) {
  std::vector<std::string> labels;
  labels.reserve(ids.size());
  for (std::uint32_t node = 0; node < ids.size(); ++node) {
    labels.push_back(ids.label(NodeId{node}));
  }
  return labels;
}

const auto kThreeEdges = [] { return ElementsAre(makeEdge(0, 1), makeEdge(1, 2), makeEdge(0, 2)); };

TEST(EdgeList, ReadsEveryDelimiter) {
  for (const std::string_view text :
       {"0,1\n1,2\n0,2\n", "0\t1\n1\t2\n0\t2\n", "0;1\n1;2\n0;2\n", "0 1\n1 2\n0 2\n",
        "0   1\n 1 2 \n0  \t 2\n", "0, 1\n1 ,2\n 0 , 2\n", "0\t1 \n 1\t2\n0\t2\n"}) {
    const RawEdges raw = readText(text);
    EXPECT_THAT(raw.table.edges, kThreeEdges()) << text;
    EXPECT_TRUE(raw.ids.numeric());
    EXPECT_EQ(raw.ids.size(), 3U);
    EXPECT_THAT(raw.notes, IsEmpty());
    EXPECT_THAT(raw.table.weight, IsEmpty());
    EXPECT_THAT(raw.table.time, IsEmpty());
  }
}

TEST(EdgeList, TakesTheDelimiterItIsGiven) {
  const RawEdges raw = readText("a b,c d\ne f,a b\n", {.delimiter = Delimiter::kComma});
  EXPECT_THAT(labelsOf(raw.ids), ElementsAre("a b", "c d", "e f"));
  const RawEdges by_spaces = readText("a,b c,d\n", {.delimiter = Delimiter::kSpaces});
  EXPECT_THAT(labelsOf(by_spaces.ids), ElementsAre("a,b", "c,d"));
}

TEST(EdgeList, PrefersSemicolonsToCommasInsideFields) {
  const RawEdges raw = readText("Smith, John;Doe, Jane\nDoe, Jane;Roe, Max\n");
  EXPECT_THAT(labelsOf(raw.ids), ElementsAre("Smith, John", "Doe, Jane", "Roe, Max"));
}

TEST(EdgeList, ReadsQuotedFields) {
  const RawEdges raw = readText(
      "\"Smith, John\",\"say \"\"hi\"\"\"\n"
      "\"say \"\"hi\"\"\",  \"\"\"\"  \n"
      "plain,\"Smith, John\"\n");
  EXPECT_THAT(labelsOf(raw.ids), ElementsAre("Smith, John", "say \"hi\"", "\"", "plain"));
  EXPECT_THAT(raw.table.edges, ElementsAre(makeEdge(0, 1), makeEdge(1, 2), makeEdge(3, 0)));
}

TEST(EdgeList, ReadsQuotedNumbersAndSpaces) {
  EXPECT_THAT(readText("\"0\",\"1\"\n\"1\",2\n0,\"2\"\n").table.edges, kThreeEdges());
  EXPECT_THAT(labelsOf(readText("\"New York\" Paris\nRome \"New York\"\n").ids),
              ElementsAre("New York", "Paris", "Rome"));
}

TEST(EdgeList, RefusesBrokenQuotes) {
  expectRefused<DataError>("a,b\n\"c,d\n", "edges.csv:2: a quoted field does not end");
  expectRefused<DataError>("a,b\n\"c\"d,e\n", "edges.csv:2: text follows a closing quote");
}

TEST(EdgeList, SkipsMarksCommentsBlankLinesAndCarriageReturns) {
  const RawEdges raw = readText(
      "\xEF\xBB\xBF# made by hand\r\n\r\n% another\r\n0,1\r\n  \t \r\n1,2\r\n  # late\r\n0,2");
  EXPECT_THAT(raw.table.edges, kThreeEdges());
}

TEST(EdgeList, KeepsLoopsAndRepeats) {
  EXPECT_THAT(readText("1,1\n0,1\n1,0\n0,1\n").table.edges,
              ElementsAre(makeEdge(1, 1), makeEdge(0, 1), makeEdge(1, 0), makeEdge(0, 1)));
}

TEST(EdgeList, KnowsAHeaderByItsNames) {
  EXPECT_THAT(readText("src,dst\n0,1\n1,2\n0,2\n").table.edges, kThreeEdges());
  EXPECT_THAT(labelsOf(readText("From;To\nann;bob\n").ids), ElementsAre("ann", "bob"));
  EXPECT_THAT(labelsOf(readText("user\titem\nann\tmilk\n").ids), ElementsAre("ann", "milk"));
}

TEST(EdgeList, KnowsAHeaderByTheNumbersBelow) {
  EXPECT_THAT(readText("gene_a,gene_b\n0,1\n1,2\n0,2\n").table.edges, kThreeEdges());
  // Text below text: the first row is an edge.
  EXPECT_EQ(readText("gene_a,gene_b\nx,y\n").table.size(), 2U);
  // A number in the first row: it is an edge too.
  EXPECT_EQ(readText("a,1\n2,3\n").table.size(), 2U);
}

TEST(EdgeList, SaysWhenAHeaderIsAGuess) {
  const RawEdges raw = readText("user,friend\nann,bob\n");
  EXPECT_EQ(raw.table.size(), 1U);
  EXPECT_THAT(raw.notes, ElementsAre(HasSubstr("header=no")));
  EXPECT_EQ(readText("user,friend\nann,bob\n", {.header = HeaderRule::kNo}).table.size(), 2U);
}

TEST(EdgeList, ObeysTheHeaderOption) {
  EXPECT_EQ(readText("0,1\n1,2\n", {.header = HeaderRule::kYes}).table.size(), 1U);
  EXPECT_THAT(labelsOf(readText("src,dst\na,b\n", {.header = HeaderRule::kNo}).ids),
              ElementsAre("src", "dst", "a", "b"));
}

TEST(EdgeList, ReadsWeightAndTimeByTheirNames) {
  const RawEdges raw = readText("src,dst,Weight,timestamp\n0,1,0.5,2017\n1,2,2e0,2018.5\n");
  EXPECT_THAT(raw.table.weight, ElementsAre(0.5F, 2.0F));
  EXPECT_THAT(raw.table.time, ElementsAre(2017.0, 2018.5));
  EXPECT_THAT(raw.notes, IsEmpty());
}

TEST(EdgeList, ReadsColumnsByNameAndNumber) {
  const std::string_view text = "id,a,b,score,when\n7,0,1,0.25,10\n8,1,2,4,-5\n";
  const RawEdges raw = readText(text, {.source_column = "a",
                                       .target_column = "3",
                                       .weight_column = "score",
                                       .time_column = "WHEN"});
  EXPECT_THAT(raw.table.edges, ElementsAre(makeEdge(0, 1), makeEdge(1, 2)));
  EXPECT_THAT(raw.table.weight, ElementsAre(0.25F, 4.0F));
  EXPECT_THAT(raw.table.time, ElementsAre(10.0, -5.0));
  EXPECT_THAT(raw.notes, ElementsAre(HasSubstr("column 'id' is not used")));
}

TEST(EdgeList, FindsNamedEndsAnywhere) {
  const RawEdges raw = readText("weight,target,source\n3,1,0\n4,2,1\n");
  EXPECT_THAT(raw.table.edges, ElementsAre(makeEdge(0, 1), makeEdge(1, 2)));
  EXPECT_THAT(raw.table.weight, ElementsAre(3.0F, 4.0F));
  EXPECT_THAT(raw.notes, ElementsAre(HasSubstr("'source' and 'target'")));
}

TEST(EdgeList, LeavesTheOtherEndItsOwnColumn) {
  EXPECT_THAT(readText("0,1\n1,2\n", {.source_column = "2"}).table.edges,
              ElementsAre(makeEdge(1, 0), makeEdge(2, 1)));
  EXPECT_THAT(readText("0,1\n1,2\n", {.target_column = "1"}).table.edges,
              ElementsAre(makeEdge(1, 0), makeEdge(2, 1)));
}

TEST(EdgeList, NotesUnusedColumnsWithoutAHeader) {
  const RawEdges raw = readText("0 1 5\n1 2 6\n");
  EXPECT_THAT(raw.table.weight, IsEmpty());
  EXPECT_THAT(raw.notes, ElementsAre(::testing::AllOf(HasSubstr("column 3 is not used"),
                                                      HasSubstr("weight_column"))));
  EXPECT_THAT(readText("0 1 5\n1 2 6\n", {.weight_column = "3"}).table.weight,
              ElementsAre(5.0F, 6.0F));
}

TEST(EdgeList, LeavesOutWeightsOnRequest) {
  const RawEdges raw = readText("src,dst,weight\n0,1,x\n", {.weight_column = "none"});
  EXPECT_THAT(raw.table.weight, IsEmpty());
}

TEST(EdgeList, RefusesColumnsThatAreNotThere) {
  const std::string_view named = "src,dst,score\n0,1,2\n";
  expectFailure<ConfigError>([&] { (void)readText(named, {.weight_column = "4"}); },
                             "weight_column is 4");
  expectFailure<ConfigError>([&] { (void)readText(named, {.weight_column = "0"}); },
                             "columns 1 to 3");
  try {
    (void)readText(named, {.time_column = "scroe"});
    ADD_FAILURE() << "an unknown column was accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("time_column is 'scroe'"));
    EXPECT_THAT(error.hint(), HasSubstr("'score'"));
  }
  expectRefused<ConfigError>("0,1,2\n", "has no header", {.weight_column = "weight"});
  expectRefused<ConfigError>(named, "both source_column and weight_column", {.weight_column = "1"});
  expectRefused<ConfigError>(named, "both source_column and target_column",
                             {.source_column = "src", .target_column = "1"});
}

TEST(EdgeList, RefusesWeightsAndTimesThatAreNoFiniteNumbers) {
  const std::string head = "src,dst,weight,time\n0,1,1,1\n";
  expectRefused<DataError>(head + "0,1,heavy,1\n", ":3: weight 'heavy' is not a number");
  expectRefused<DataError>(head + "0,1,nan,1\n", ":3: weight 'nan' is not finite");
  expectRefused<DataError>(head + "0,1,1e39,1\n", ":3: weight '1e39' is too large");
  expectRefused<DataError>(head + "0,1,,1\n", ":3: weight '' is empty");
  expectRefused<DataError>(head + "0,1,-0.5,1\n", ":3: weight -0.5 is negative");
  expectRefused<DataError>(head + "0,1,1,inf\n", ":3: time 'inf' is not finite");
  expectRefused<DataError>(head + "0,1,1,1e999\n", ":3: time '1e999' is out of range");
  expectRefused<DataError>(head + "0,1,1,2020-01-01\n", ":3: time '2020-01-01' is not a number");
  EXPECT_THAT(readText("src,dst,weight\n0,1,1e-60\n").table.weight, ElementsAre(0.0F));
}

TEST(EdgeList, ReadsDatesAsDays) {
  const RawEdges raw = readText(
      "src,dst,date\n0,1,1970-01-02\n1,2,2020-02-29\n0,2,1970-01-01T12:00:00Z\n0,2,1969-12-31\n");
  EXPECT_THAT(raw.table.time, ElementsAre(1.0, 18321.0, 0.5, -1.0));
  expectRefused<DataError>("src,dst,date\n0,1,2020-01-01\n0,1,2021-02-29\n",
                           ":3: time '2021-02-29' is not a date");
  expectRefused<DataError>("src,dst,date\n0,1,2020-01-01\n0,1,2020\n", ":3: time '2020'");
}

TEST(EdgeList, NumbersLabelsByFirstAppearance) {
  const RawEdges raw = readText("z,a\na,m\n10,z\n");
  EXPECT_FALSE(raw.ids.numeric());
  EXPECT_THAT(labelsOf(raw.ids), ElementsAre("z", "a", "m", "10"));
  EXPECT_THAT(raw.table.edges, ElementsAre(makeEdge(0, 1), makeEdge(1, 2), makeEdge(3, 0)));
  EXPECT_THAT(raw.notes, IsEmpty());
  EXPECT_THAT(labelsOf(readText("5,3\n3,0\n", {.ids = IdRule::kLabel}).ids),
              ElementsAre("5", "3", "0"));
}

TEST(EdgeList, TakesDenseIntegersAsNumbers) {
  EXPECT_EQ(readText("0,1023\n").ids.size(), 1024U);
  EXPECT_TRUE(readText("0,1023\n").ids.numeric());
}

TEST(EdgeList, TakesIntegersFarApartAsLabels) {
  for (const std::string_view text :
       {"0,1024\n", "0,4294967295\n", "0,123456789012345678901234567890\n"}) {
    const RawEdges raw = readText(text);
    EXPECT_FALSE(raw.ids.numeric()) << text;
    EXPECT_EQ(raw.ids.size(), 2U);
    EXPECT_THAT(raw.notes, ElementsAre(HasSubstr("ids=number")));
  }
  EXPECT_EQ(readText("0,1024\n", {.ids = IdRule::kNumber}).ids.size(), 1025U);
}

TEST(EdgeList, KeepsLeadingZerosOfLabels) {
  const RawEdges raw = readText("007,7\n");
  EXPECT_THAT(labelsOf(raw.ids), ElementsAre("007", "7"));
  EXPECT_THAT(readText("007,0\n", {.ids = IdRule::kNumber}).table.edges,
              ElementsAre(makeEdge(7, 0)));
}

TEST(EdgeList, RefusesIdsThatAreNoNumbersWhenNumbersAreAsked) {
  const EdgeListOptions numbers{.ids = IdRule::kNumber};
  expectRefused<DataError>("0,1\n2,x\n", ":2: the target id 'x' is not a node number", numbers);
  expectRefused<DataError>("0,1\n-1,2\n", ":2: the source id '-1' is not a node number", numbers);
  expectRefused<DataError>("0,1\n1.5,2\n", ":2: the source id '1.5'", numbers);
  expectRefused<DataError>("0,1\n0,4294967280\n", ":2: target id out of range", numbers);
  expectRefused<DataError>("0,1\n0,99999999999999999999999\n", ":2: target id out of range",
                           numbers);
}

TEST(EdgeList, HoldsIdsToTheNodeCount) {
  EXPECT_EQ(readText("0,1\n", {.node_count = 10}).ids.size(), 10U);
  expectRefused<DataError>("0,1\n1,10\n", ":2: target id out of range: 10 is not below 10",
                           {.node_count = 10});
  expectRefused<DataError>("0,1\nx,2\n", ":2: the source id 'x' is not a node number",
                           {.node_count = 10});
  expectRefused<ConfigError>("0,1\n", "node_count is given, but ids are labels",
                             {.ids = IdRule::kLabel, .node_count = 10});
  expectRefused<ConfigError>("0,1\n", "node_count is 0", {.node_count = 0});
}

TEST(EdgeList, KeepsTheSidesOfABipartiteListApart) {
  const RawEdges raw = readText("user,item\n3,a\n0,b\n3,b\n", {.bipartite = true});
  EXPECT_TRUE(raw.ids.numeric());
  EXPECT_EQ(raw.ids.size(), 4U);
  EXPECT_THAT(labelsOf(raw.right_ids.value_or(IdMap())), ElementsAre("a", "b"));
  EXPECT_THAT(raw.table.edges, ElementsAre(makeEdge(3, 0), makeEdge(0, 1), makeEdge(3, 1)));
}

TEST(EdgeList, CountsTheSidesOfABipartiteListApart) {
  const RawEdges raw = readText("0 7\n1 3\n", {.node_count = 5, .bipartite = true});
  EXPECT_EQ(raw.ids.size(), 5U);
  EXPECT_EQ(raw.right_ids.value_or(IdMap()).size(), 8U);
  const RawEdges labels = readText("a a\nb a\n", {.bipartite = true});
  EXPECT_THAT(labelsOf(labels.ids), ElementsAre("a", "b"));
  EXPECT_THAT(labelsOf(labels.right_ids.value_or(IdMap())), ElementsAre("a"));
  EXPECT_THAT(labels.table.edges, ElementsAre(makeEdge(0, 0), makeEdge(1, 0)));
  expectRefused<DataError>("0 7\n1 8\n", ":2: target id out of range",
                           {.right_node_count = 8, .bipartite = true});
  expectRefused<ConfigError>("0 1\n", "not bipartite", {.right_node_count = 8});
  EXPECT_FALSE(readText("0 1\n").right_ids.has_value());
  EXPECT_THAT(readText("0 99999\n", {.bipartite = true}).notes,
              ElementsAre(HasSubstr("target ids are integers")));
}

TEST(EdgeList, RefusesRaggedRows) {
  expectRefused<DataError>("0,1\n1,2\n3\n", "edges.csv:3: 1 fields found, 2 expected");
  expectRefused<DataError>("0,1\n1,2,3\n", "edges.csv:2: 3 fields found, 2 expected");
  expectRefused<DataError>("# one\nsrc,dst,weight\n0,1,1\n\n0,1\n", "edges.csv:5: 2 fields found");
  expectRefused<DataError>("a\nb\n", "edges.csv:1: 1 field found, an edge needs 2");
  expectRefused<DataError>("0,1\n1,\n", "edges.csv:2: the target id is empty");
  expectRefused<DataError>("0,1\n\"\",1\n", "edges.csv:2: the source id is empty");
}

TEST(EdgeList, RefusesFilesWithoutEdges) {
  expectRefused<DataError>("", "the file is empty");
  expectRefused<DataError>("\xEF\xBB\xBF", "the file is empty");
  expectRefused<DataError>("# only\n\n% comments\n", "holds no rows");
  expectRefused<DataError>("src,dst\n", "a header but no rows");
  expectRefused<DataError>("src,dst\n# nothing\n", "a header but no rows");
  expectRefused<DataError>(std::string_view("0\0,1\n", 5), "not a text file");
}

TEST(EdgeList, RefusesWhatIsNoReadableFile) {
  const TempFolder folder;
  expectFailure<DataError>([&] { (void)readEdgeList(folder.path() / "absent.csv"); },
                           "no such file");
  expectFailure<DataError>([&] { (void)readEdgeList(folder.path()); }, "is a folder");
  if (::geteuid() != 0) {
    const auto hidden = folder.write("hidden.csv", "0,1\n");
    std::filesystem::permissions(hidden, std::filesystem::perms::none);
    expectFailure<DataError>([&] { (void)readEdgeList(hidden); }, "permission denied");
  }
}

// "src,dst\n0,1\n1,2\n0,2\n" by gzip -9n.
std::string gzippedEdges() {
  constexpr std::string_view kHex =
      "1f8b08000000000002032b2e4ad649292ee132d031e432d43102d2465c004642eee214000000";
  std::string bytes;
  for (std::size_t i = 0; i < kHex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(kHex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(EdgeList, UnpacksGzipWhateverTheName) {
  EXPECT_THAT(readText(gzippedEdges()).table.edges, kThreeEdges());
}

TEST(EdgeList, RefusesTruncatedOrDamagedGzip) {
  const std::string whole = gzippedEdges();
  for (std::size_t size = 2; size < whole.size(); ++size) {
    EXPECT_THROW((void)readText(whole.substr(0, size)), DataError) << size;
  }
  std::string damaged = whole;
  damaged[whole.size() - 6] ^= 0x55;
  EXPECT_THROW((void)readText(damaged), DataError);
}

// The size of the pieces must not show, whatever they cut.
TEST(EdgeList, ReportsTheFirstErrorInFileOrder) {
  std::string text = "src,dst,weight\n";
  for (int i = 0; i < 200; ++i) {
    text += i == 50 ? "x,1,1\n" : i == 120 ? "1,2\n" : i == 160 ? "1,2,-1\n" : "1,2,3\n";
  }
  for (const int threads : {1, 3}) {
    setThreadCount(threads);
    for (const std::size_t bytes : {1, 7, 64, 1000, 100000}) {
      expectRefused<DataError>(text, "edges.csv:122: 2 fields found", {.chunk_bytes = bytes});
    }
  }
  setThreadCount(0);
}

TEST(EdgeList, CountsRowsAndBytesInProgress) {
  class Recorder final : public ProgressSink {
   public:
    void begin(std::string_view, std::uint64_t size) override { total = size; }
    void update(std::uint64_t amount) override { done = std::max(done.load(), amount); }
    void end() override { ++ended; }
    std::uint64_t total = 0;
    std::atomic<std::uint64_t> done{0};
    int ended = 0;
  } recorder;
  const TempFolder folder;
  setThreadCount(1);
  (void)readEdgeList(folder.write("edges.csv", "0,1\n1,2\n0,2\n"), {.chunk_bytes = 4}, recorder);
  setThreadCount(0);
  EXPECT_EQ(recorder.total, 12U);
  EXPECT_EQ(recorder.done.load(), 12U);
  EXPECT_EQ(recorder.ended, 1);
}

TEST(EdgeList, StopsWhenInterrupted) {
  requestInterrupt();
  EXPECT_THROW((void)readText("0,1\n"), InterruptedError);
  clearInterrupt();
}

TEST(EdgeListOptions, ParseTheirNames) {
  EXPECT_EQ(parseDelimiter("tab"), Delimiter::kTab);
  EXPECT_EQ(parseDelimiter(";"), Delimiter::kSemicolon);
  EXPECT_EQ(parseHeaderRule("no"), HeaderRule::kNo);
  EXPECT_EQ(parseIdRule("label"), IdRule::kLabel);
  expectFailure<ConfigError>([] { (void)parseIdRule("labels"); }, "unknown ids 'labels'");
  expectFailure<ConfigError>([] { (void)parseDelimiter("colon"); }, "unknown delimiter 'colon'");
}

// One random file: what was meant, and how it was written.
struct RandomList {
  std::string text;
  std::vector<Edge> edges;
  std::vector<float> weight;
};

class RandomWriter {
 public:
  explicit RandomWriter(std::uint64_t seed) : rng_(seed, "edge-list-test") {}

  RandomList write(bool labels) {
    static constexpr std::array<std::string_view, 4> kSeparators = {",", "\t", ";", " "};
    RandomList list;
    separator_ = kSeparators[rng_.below(kSeparators.size())];
    end_ = rng_.below(2) == 0 ? "\n" : "\r\n";
    labels_ = labels;
    const bool weighted = rng_.below(2) == 0;
    list.text = rng_.below(2) == 0 ? "\xEF\xBB\xBF" : "";
    list.text += row({"src", "dst", "weight"}, weighted);
    const std::uint64_t rows = 1 + rng_.below(300);
    for (std::uint64_t i = 0; i < rows; ++i) {
      addNoise(list.text);
      const Edge edge = makeEdge(static_cast<std::uint32_t>(rng_.below(40)),
                                 static_cast<std::uint32_t>(rng_.below(40)));
      const auto weight = static_cast<float>(rng_.below(1000)) / 8.0F;
      list.edges.push_back(edge);
      if (weighted) {
        list.weight.push_back(weight);
      }
      list.text += row({id(edge.src), id(edge.dst), fmt::format("{}", weight)}, weighted);
    }
    if (rng_.below(2) == 0) {
      list.text.resize(list.text.size() - end_.size());
    }
    return list;
  }

 private:
  [[nodiscard]] std::string id(NodeId node) const {
    return labels_ ? fmt::format("n{}", index(node)) : std::to_string(index(node));
  }
  std::string blanks() { return std::string(rng_.below(3), ' '); }
  std::string field(const std::string& text) {
    return rng_.below(4) == 0 ? fmt::format("\"{}\"", text) : text;
  }
  std::string row(const std::vector<std::string>& fields, bool weighted) {
    std::string line = blanks();
    for (std::size_t i = 0; i < (weighted ? 3U : 2U); ++i) {
      line += i == 0 ? "" : fmt::format("{}{}{}", blanks(), separator_, blanks());
      line += field(fields[i]);
    }
    return line + blanks() + std::string(end_);
  }
  void addNoise(std::string& text) {
    switch (rng_.below(10)) {
      case 0:
        text += fmt::format("# {}{}", rng_.below(100), end_);
        break;
      case 1:
        text += fmt::format("{}{}", blanks(), end_);
        break;
      default:
        break;
    }
  }

  RngStream rng_;
  std::string_view separator_;
  std::string_view end_;
  bool labels_ = false;
};

// The ids as the file's own text, so that numbers and labels can be compared alike.
std::vector<Edge> originalEdges(const RawEdges& raw) {
  std::vector<Edge> edges;
  for (const Edge& edge : raw.table.edges) {
    const auto number = [&](NodeId node) {
      const std::string label = raw.ids.label(node);
      return static_cast<std::uint32_t>(std::stoul(label.substr(label.front() == 'n' ? 1 : 0)));
    };
    edges.push_back(makeEdge(number(edge.src), number(edge.dst)));
  }
  return edges;
}

TEST(EdgeListProperty, ReadsBackAnyFormattingByAnyNumberOfThreads) {
  const TempFolder folder;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const bool labels = seed % 2 == 1;
    const RandomList list = RandomWriter(seed).write(labels);
    const auto path = folder.write("edges.txt", list.text);
    const RawEdges whole = readEdgeList(path);
    EXPECT_EQ(whole.ids.numeric(), !labels);
    EXPECT_EQ(originalEdges(whole), list.edges) << list.text;
    EXPECT_EQ(whole.table.weight, list.weight);
    for (const int threads : {1, 2, 5}) {
      setThreadCount(threads);
      const RawEdges again = readEdgeList(path, {.chunk_bytes = 1 + seed * 7});
      EXPECT_EQ(again.table.edges, whole.table.edges);
      EXPECT_EQ(again.table.weight, whole.table.weight);
      EXPECT_EQ(labelsOf(again.ids), labelsOf(whole.ids));
    }
  }
  setThreadCount(0);
}

TEST(EdgeListProperty, NeverCrashesOnDamagedText) {
  const TempFolder folder;
  setThreadCount(1);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::string text = RandomWriter(seed).write(seed % 2 == 1).text;
    RngStream rng(seed, "edge-list-damage");
    for (std::uint64_t i = 0; i < 1 + rng.below(8); ++i) {
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    }
    text.resize(1 + rng.below(text.size()));
    try {
      const RawEdges raw = readEdgeList(folder.write("edges.txt", text), {.chunk_bytes = 50});
      for (const Edge& edge : raw.table.edges) {
        ASSERT_LT(index(edge.src), raw.ids.size());
        ASSERT_LT(index(edge.dst), raw.ids.size());
      }
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("edges.txt"));
    }
  }
  setThreadCount(0);
}

TEST(EdgeListRealData, ReadsCora) {
  EDGEWISE_NEEDS_DATA(folder, "cora");
  const RawEdges raw = readEdgeList(folder / "edges.csv");
  EXPECT_EQ(raw.table.size(), 5278U);
  EXPECT_TRUE(raw.ids.numeric());
  EXPECT_EQ(raw.ids.size(), 2708U);
}

TEST(EdgeListRealData, ReadsGzippedDdi) {
  EDGEWISE_NEEDS_DATA(folder, "ogbl_ddi");
  const RawEdges raw = readEdgeList(folder / "csv" / "train_pos.csv.gz");
  EXPECT_EQ(raw.table.size(), 1067911U);
  EXPECT_EQ(raw.ids.size(), 4267U);
}

TEST(EdgeList, RemarksOnAFirstRowThatMayBeAHeader) {
  const TempFolder folder;
  const auto notesOf = [&](std::string_view text, HeaderRule header) {
    return readEdgeList(folder.write("e.csv", text), EdgeListOptions{.header = header}).notes;
  };
  constexpr std::string_view kText = "who,whom\nann,bob\nbob,cat\n";
  ASSERT_EQ(notesOf(kText, HeaderRule::kAuto).size(), 1U);
  EXPECT_NE(notesOf(kText, HeaderRule::kAuto).front().find("(who, whom)"), std::string::npos);
  EXPECT_TRUE(notesOf(kText, HeaderRule::kNo).empty());
  EXPECT_TRUE(notesOf(kText, HeaderRule::kYes).empty());
  EXPECT_TRUE(notesOf("ann,bob\nbob,cat\n", HeaderRule::kAuto).empty());
}

}  // namespace
}  // namespace edgewise
