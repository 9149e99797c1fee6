// edgewise datasets [NAME]: what is known, what is on disk, counts, how to get it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "dataset_text.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/data/open_dataset.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

std::string countText(const std::optional<std::size_t>& count) {
  return count ? groupedCount(*count) : "-";
}

// Nodes of a graph, or users and items.
std::string nodesText(const ExpectedCounts& counts) {
  if (counts.users) {
    return fmt::format("{} + {}", groupedCount(*counts.users), countText(counts.items));
  }
  return countText(counts.nodes);
}

std::string stateText(const DatasetState& state) {
  if (state.raw == Presence::kPresent && state.csv == Presence::kPresent) {
    return "on disk, with CSV twin";
  }
  if (state.usable()) {
    return state.raw == Presence::kPresent ? "on disk" : "on disk (CSV)";
  }
  if (state.raw == Presence::kPartly) {
    return fmt::format("incomplete: {} missing", joinText(state.missing_raw, ", "));
  }
  return "absent";
}

Ink stateInk(const DatasetState& state) {
  if (state.usable()) {
    return Ink::kGood;
  }
  return state.raw == Presence::kPartly ? Ink::kWarn : Ink::kDim;
}

nlohmann::ordered_json entryJson(const CatalogueEntry& entry, const DatasetState& state) {
  nlohmann::ordered_json json = {
      {"name", entry.name},        {"title", entry.title},     {"family", familyName(entry.family)},
      {"state", stateText(state)}, {"usable", state.usable()}, {"folder", state.folder.string()},
      {"metrics", entry.metrics},  {"bytes", state.bytes},     {"missing", state.missing_raw}};
  const auto put = [&](const char* key, const std::optional<std::size_t>& count) {
    if (count) {
      json["counts"][key] = *count;
    }
  };
  put("nodes", entry.counts.nodes);
  put("edges", entry.counts.edges);
  put("features", entry.counts.features);
  put("users", entry.counts.users);
  put("items", entry.counts.items);
  put("train", entry.counts.train);
  put("valid", entry.counts.valid);
  put("test", entry.counts.test);
  return json;
}

void listAll(const Session& session, const std::filesystem::path& root) {
  TextTable table({{"dataset"},
                   {"nodes", Align::kRight},
                   {"edges", Align::kRight},
                   {"features", Align::kRight},
                   {"measured by"},
                   {"state"}});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  const Dataset planted = makePlanted({});
  table.addRow({"planted",
                groupedCount(planted.node_count),
                groupedCount(planted.edges.size()),
                groupedCount(planted.features.columns()),
                "auc, ap",
                {"generated", Ink::kGood}});
  json.push_back({{"name", "planted"}, {"state", "generated"}, {"usable", true}});
  for (const CatalogueEntry& entry : catalogue()) {
    const DatasetState state = inspect(entry, root);
    table.addRow({entry.name,
                  nodesText(entry.counts),
                  countText(entry.counts.edges),
                  countText(entry.counts.features),
                  joinText(entry.metrics, ", "),
                  {stateText(state), stateInk(state)}});
    json.push_back(entryJson(entry, state));
  }
  session.console.showJson(json);
  session.console.show(table);
  session.console.say(fmt::format(
      "\nData folder: {}\n`edgewise datasets NAME` shows files, addresses and verified counts.",
      root.string()));
}

void showFiles(const Session& session, const CatalogueEntry& entry, const DatasetState& state) {
  TextTable table({{"file"}, {"state"}, {"size", Align::kRight}, {"git blob id"}, {"address"}});
  for (const CatalogueFile& file : entry.files) {
    const bool missing = std::ranges::find(state.missing_raw, file.path) != state.missing_raw.end();
    table.addRow({file.path,
                  {missing       ? "missing"
                   : file.needed ? "there"
                                 : "optional",
                   missing ? Ink::kBad : Ink::kGood},
                  file.size > 0 ? groupedCount(file.size) : "-",
                  file.git_blob.empty() ? "-" : file.git_blob.substr(0, 12),
                  !file.url.empty() ? file.url
                  : entry.archive   ? "in " + entry.archive->url
                                    : "-"});
  }
  session.console.say(table);
}

void showOne(Session& session, const std::string& name, const std::filesystem::path& root) {
  const CatalogueEntry& entry = findDataset(name);
  const DatasetState state = inspect(entry, root);
  nlohmann::ordered_json json = entryJson(entry, state);
  session.console.say(fmt::format("{}: {}\nsource: {}\nlicence: {}\nfolder: {}\nstate: {}\n",
                                  entry.name, entry.title, entry.source, entry.license,
                                  state.folder.string(), stateText(state)));
  showFiles(session, entry, state);
  if (state.usable()) {
    DataOptions options;
    options.dataset = entry.name;
    options.download = false;
    const Dataset dataset = openDataset(options, {}, root, session.console.progress());
    json["loaded"] = datasetJson(dataset);
    session.console.say("\n" + describeDataset(dataset) + "\ncounts agree with what is published");
  } else {
    session.console.say(
        fmt::format("\n`edgewise train --dataset {}` downloads what is missing, or put the files "
                    "there yourself.",
                    entry.name));
  }
  session.console.showJson(json);
}

void showPlanted(const Session& session) {
  const Dataset dataset = makePlanted({});
  session.console.showJson(datasetJson(dataset));
  session.console.say(describeDataset(dataset));
  session.console.say("generated; see `edgewise options` for planted.nodes, planted.noise, ...");
}

}  // namespace

void addDatasetsCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("datasets", "what is known, what is on disk, counts, how to get it");
  addCommonOptions(*command, session);
  const auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "show this one in full");
  command->callback([&session, name] {
    session.action = [&session, name] {
      setThreadCount(session.threads.value_or(0));
      if (*name == "planted") {
        showPlanted(session);
        return;
      }
      const auto root = dataRoot(session.data_root);
      name->empty() ? listAll(session, root) : showOne(session, *name, root);
    };
  });
}

}  // namespace edgewise::app
