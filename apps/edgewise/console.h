// How the program speaks: results on stdout (a table, or with --json one JSON value and nothing
// else), everything else on stderr; progress as a bar on a terminal, elsewhere as a line now and
// then.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "edgewise/report/terminal.h"
#include "edgewise/report/text_table.h"
#include "edgewise/util/error.h"
#include "edgewise/util/progress.h"

namespace edgewise::app {

class Console {
 public:
  Console();

  bool quiet = false;
  bool json = false;

  [[nodiscard]] const TerminalStyle& style() const { return out_; }
  // Whether progress is a bar, rather than lines that stay.
  [[nodiscard]] bool showsBar() const { return !quiet && err_.interactive; }
  // On stderr; silent with --quiet.
  [[nodiscard]] ProgressSink& progress();

  // For people, on stdout; silent with --json and --quiet.
  void say(std::string_view text) const;
  void say(const TextTable& table) const;
  // The result itself: printed even with --quiet, but not with --json.
  void show(const TextTable& table) const;
  // The result itself as it stands, with --quiet and --json too.
  void emit(std::string_view text) const;
  // The result for programs; printed with --json only.
  void showJson(const nlohmann::ordered_json& value) const;
  // On stderr; silent with --quiet.
  void note(std::string_view text) const;
  // On stderr, always.
  void warn(std::string_view text) const;
  void fail(const Error& error) const;
  void fail(std::string_view message, std::string_view hint) const;

 private:
  TerminalStyle out_;
  TerminalStyle err_;
  std::unique_ptr<ProgressSink> bar_;
};

}  // namespace edgewise::app
