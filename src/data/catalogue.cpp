#include "edgewise/data/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::string_view kPlanetoidUrl =
    "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/";
constexpr std::string_view kLightGcnUrl =
    "https://raw.githubusercontent.com/gusye1234/LightGCN-PyTorch/master/data/";
constexpr std::string_view kOgbUrl = "https://snap.stanford.edu/ogb/data/linkproppred/";

// A published file's size and git blob id.
struct FileFacts {
  std::string_view name;
  std::uint64_t size = 0;
  // NOLINTNEXTLINE(readability-redundant-member-init): GCC warns of {name} without it
  std::string_view git_blob = {};
};

CatalogueEntry planetoid(const std::string& name, const std::string& title,
                         const std::array<FileFacts, 8>& files) {
  CatalogueEntry entry;
  entry.name = name;
  entry.aliases = {"planetoid-" + name};
  entry.title = title;
  entry.folder = name;
  entry.family = DatasetFamily::kPlanetoid;
  entry.source = "github.com/kimiyoung/planetoid (Yang, Cohen, Salakhutdinov, 2016)";
  entry.license = "MIT (the repository)";
  for (const FileFacts& file : files) {
    const std::string file_name = fmt::format("ind.{}.{}", name, file.name);
    entry.files.push_back({.path = "raw/" + file_name,
                           .url = std::string(kPlanetoidUrl) + file_name,
                           .size = file.size,
                           .git_blob = std::string(file.git_blob)});
  }
  entry.csv_files = {"edges.csv", "features.npz", "labels.csv"};
  entry.metrics = {"auc", "ap"};
  return entry;
}

CatalogueEntry cora() {
  CatalogueEntry entry =
      planetoid("cora", "Cora: citations between machine-learning papers",
                {{{"x", 22119, "c4a91d008245403e7f26aa616b437191509793c0"},
                  {"tx", 148025, "6e856d777401ee15dc8619db76c97d0a40ba2d60"},
                  {"allx", 257305, "44d53b1fece343538e45592caac521d73c6f98d6"},
                  {"y", 4054, "58e30ef120d3553cfaac33ff28c6b5436dbef661"},
                  {"ty", 28135, "da1734ab670b5c8ecee78a9c30b35566df916f4b"},
                  {"ally", 47959, "04fbd0b083d09341fcf16b395c642329637f0542"},
                  {"graph", 59847, "4d3bf85dfc8b1c105a2c995597a1b3eed6947925"},
                  {"test.index", 5000, "ded8092db4cd767a367eebe09003b954a5316f24"}}});
  entry.counts = {.nodes = 2708, .edges = 5278, .features = 1433, .nonzeros = 49216};
  return entry;
}

CatalogueEntry citeseer() {
  CatalogueEntry entry =
      planetoid("citeseer", "CiteSeer: citations between computer-science papers",
                {{{"x", 31087, "f094104a66f2689ffbd01085fe6a856689e9db9e"},
                  {"tx", 260321, "b2aff18aa1fc6f4f5e8c64db7643b59b24e42584"},
                  {"allx", 595021, "592091071ac35b78599c722d0e60b1c655711728"},
                  {"y", 3014, "e857ac49b611da98e101a068cf4855350274f68a"},
                  {"ty", 24135, "3795f79df0cd1123f4478b77c148a5fbacc4cefb"},
                  {"ally", 55623, "7503f81a0b6ac1cc21cb5a97073542a6b1dfe99c"},
                  {"graph", 61987, "a01dca663d0103c130f525017a4a9c313037e286"},
                  {"test.index", 5000, "62d9e3d5ed53c66b069125af98529d76c70d9b3e"}}});
  entry.counts = {.nodes = 3327, .edges = 4552, .features = 3703, .nonzeros = 105165};
  return entry;
}

CatalogueEntry pubmed() {
  CatalogueEntry entry =
      planetoid("pubmed", "PubMed: citations between papers on diabetes",
                {{{"x", 23172, "16c0eca8d2b3297014ff80327416f9332eda10d7"},
                  {"tx", 405505, "eee4f3c988fde0da87a9ec7b01ca5e7863c1b1f1"},
                  {"allx", 7578385, "3b86bccf08111c37c632a9dd8ab63db25ea76361"},
                  {"y", 854, "e86670576c85340eeb2271b3c918bfa89322b2cf"},
                  {"ty", 12135, "225a0bb9bb6430e3925d04688daf6a0da964c07a"},
                  {"ally", 224739, "4c8bcdc80882dd225fe4dd4fafd723baa616ac97"},
                  {"graph", 471808, "76eb87e628a6b9d43fc31ea42c8c6c8f3e52b404"},
                  {"test.index", 6000, "41f6befcb7750cc4858cb852f2b349a9598cb2f4"}}});
  entry.counts = {.nodes = 19717, .edges = 44324, .features = 500, .nonzeros = 988031};
  return entry;
}

// `name` without the "ogbl-" it is published with, `archive` the zip's own name.
CatalogueEntry ogb(const std::string& name, const std::string& title, const std::string& archive,
                   const std::vector<FileFacts>& files) {
  CatalogueEntry entry;
  entry.name = "ogbl-" + name;
  entry.aliases = {"ogbl_" + name, name};
  entry.title = title;
  entry.folder = "ogbl_" + name;
  entry.family = DatasetFamily::kOgb;
  entry.source = "ogb.stanford.edu (Open Graph Benchmark, Hu et al., 2020)";
  entry.archive = {.url = fmt::format("{}{}.zip", kOgbUrl, archive), .file_name = archive + ".zip"};
  for (const FileFacts& file : files) {
    CatalogueFile listed;
    listed.path = file.name;
    listed.size = file.size;
    listed.git_blob = file.git_blob;
    listed.needed = !listed.path.starts_with("mapping/");
    entry.files.push_back(std::move(listed));
  }
  return entry;
}

CatalogueEntry ogblDdi() {
  CatalogueEntry entry =
      ogb("ddi", "ogbl-ddi: interactions between drugs", "ddi",
          {{"raw/edge.csv.gz", 2810105, "65589f24c6b565b8b34b596c0f8086c514edba59"},
           {"raw/num-node-list.csv.gz", 49, "0d4d15a867718d5a829f9f4e8d7caacf355fd4ff"},
           {"raw/num-edge-list.csv.gz", 52, "c18c3db0f1cdd7ae70253fe87f1834ae40264f41"},
           {"split/target/train.pt", 18156422, "7c7072c4dbdfb74f7fa391a77f70ebd80aaaafe0"},
           {"split/target/valid.pt", 3998900, "d1be2f6fabcb6e86ff750ec36878192a9b53304b"},
           {"split/target/test.pt", 3888772, "a5780f6e2e11edbbdce2c5cd007d238738b0c6ba"},
           {"mapping/nodeidx2drugid.csv.gz", 20899, "80082cbe5af46fe39abf29addea3100869803871"}});
  entry.license = "CC0-1.0";
  entry.csv_files = {"csv/train_pos.csv", "csv/valid_pos.csv", "csv/valid_neg.csv",
                     "csv/test_pos.csv", "csv/test_neg.csv"};
  entry.counts = {.nodes = 4267,
                  .edges = 1334889,
                  .train = 1067911,
                  .valid = 133489,
                  .test = 133489,
                  .valid_negative = 101882,
                  .test_negative = 95599};
  entry.metrics = {"hits@20"};
  return entry;
}

CatalogueEntry ogblCollab() {
  CatalogueEntry entry =
      ogb("collab", "ogbl-collab: collaborations between authors, by year", "collab",
          {{"raw/edge.csv.gz"},
           {"raw/edge_weight.csv.gz"},
           {"raw/edge_year.csv.gz"},
           {"raw/node-feat.csv.gz"},
           {"raw/num-node-list.csv.gz"},
           {"raw/num-edge-list.csv.gz"},
           {"split/time/train.pt"},
           {"split/time/valid.pt"},
           {"split/time/test.pt"}});
  entry.license = "ODC-BY";
  // Train rows repeat (the same pair in several years), so the number of distinct edges is left to
  // the data.
  entry.counts = {.nodes = 235868,
                  .features = 128,
                  .train = 1179052,
                  .valid = 60084,
                  .test = 46329,
                  .valid_negative = 100000,
                  .test_negative = 100000};
  entry.metrics = {"hits@50"};
  return entry;
}

CatalogueEntry ogblPpa() {
  CatalogueEntry entry =
      ogb("ppa", "ogbl-ppa: associations between proteins of 58 species", "ppassoc",
          {{"raw/edge.csv.gz"},
           {"raw/node-feat.csv.gz"},
           {"raw/num-node-list.csv.gz"},
           {"raw/num-edge-list.csv.gz"},
           {"split/throughput/train.pt"},
           {"split/throughput/valid.pt"},
           {"split/throughput/test.pt"}});
  entry.license = "CC0-1.0";
  entry.counts = {.nodes = 576289,
                  .features = 58,
                  .train = 21231931,
                  .valid = 6062562,
                  .test = 3031780,
                  .valid_negative = 3000000,
                  .test_negative = 3000000};
  entry.metrics = {"hits@100"};
  return entry;
}

CatalogueEntry recommendation(const std::string& name, const std::string& title,
                              const std::array<FileFacts, 2>& files) {
  CatalogueEntry entry;
  entry.name = name;
  entry.title = title;
  entry.folder = name;
  entry.family = DatasetFamily::kRecommendation;
  entry.source = "github.com/gusye1234/LightGCN-PyTorch (split of NGCF, Wang et al., 2019)";
  entry.license = "not stated; research use";
  for (const FileFacts& file : files) {
    entry.files.push_back({.path = std::string(file.name),
                           .url = fmt::format("{}{}/{}", kLightGcnUrl, name, file.name),
                           .size = file.size,
                           .git_blob = std::string(file.git_blob)});
  }
  entry.metrics = {"recall@20", "ndcg@20", "hit@10", "ndcg@50"};
  return entry;
}

CatalogueEntry gowalla() {
  CatalogueEntry entry =
      recommendation("gowalla", "Gowalla: places that people checked in at",
                     {{{"train.txt", 4633414, "a27782bd7a1d4d0744148dc0460ea94da74763f2"},
                       {"test.txt", 1372559, "9ed5af4b5d21511f33740b4e22e3852f45671800"}}});
  entry.counts = {.nodes = 29858 + 40981,
                  .edges = 810128 + 217242,
                  .users = 29858,
                  .items = 40981,
                  .train = 810128,
                  .valid = 0,
                  .test = 217242};
  return entry;
}

CatalogueEntry yelp2018() {
  CatalogueEntry entry =
      recommendation("yelp2018", "Yelp 2018: local businesses that people reviewed",
                     {{{"train.txt", 6904880, "cda12361055ba448ae4bd1070f6000c16dea8f22"},
                       {"test.txt", 1986152, "30dfbc3437b27b74cb2970b435a5ec93ad9f2468"}}});
  entry.aliases = {"yelp"};
  entry.counts = {.nodes = 31668 + 38048,
                  .edges = 1237259 + 324147,
                  .users = 31668,
                  .items = 38048,
                  .train = 1237259,
                  .valid = 0,
                  .test = 324147};
  return entry;
}

CatalogueEntry amazonBook() {
  CatalogueEntry entry =
      recommendation("amazon-book", "Amazon-Book: books that people reviewed",
                     {{{"train.txt", 0, "6ef55159c5f1fd7f6d86eb9ff290d0cc2854ac99"},
                       {"test.txt", 3848611, "09e5da4e0bf46c751c4ba0f4375e414fd13512cd"}}});
  entry.aliases = {"amazon_book", "amazonbook"};
  entry.counts = {.nodes = 52643 + 91599,
                  .edges = 2380730 + 603378,
                  .users = 52643,
                  .items = 91599,
                  .train = 2380730,
                  .valid = 0,
                  .test = 603378};
  return entry;
}

}  // namespace

std::string_view familyName(DatasetFamily family) {
  switch (family) {
    case DatasetFamily::kPlanetoid:
      return "planetoid";
    case DatasetFamily::kOgb:
      return "ogb";
    case DatasetFamily::kRecommendation:
      return "recommendation";
  }
  return {};
}

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = {cora(),    citeseer(),   pubmed(),
                                                      ogblDdi(), ogblCollab(), ogblPpa(),
                                                      gowalla(), yelp2018(),   amazonBook()};
  return entries;
}

const CatalogueEntry& findDataset(std::string_view name) {
  const std::string wanted = lowerCase(name);
  std::vector<std::string> known;
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == wanted || std::ranges::find(entry.aliases, wanted) != entry.aliases.end()) {
      return entry;
    }
    known.push_back(entry.name);
  }
  throw ConfigError(fmt::format("unknown dataset '{}'", name), suggestName(name, known));
}

}  // namespace edgewise
