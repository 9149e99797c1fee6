#include "console.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>

#include "edgewise/report/terminal_progress.h"

namespace edgewise::app {
namespace {

constexpr int kStdout = 1;
constexpr int kStderr = 2;

// A result that cannot be written (a full disk, a closed pipe) must not look like success.
void writeOut(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw ResourceError("cannot write to standard output");
  }
}

// Where even errors cannot be told, the exit code still says what happened.
void writeErr(std::string_view text) {
  std::ignore = std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

Console::Console() : out_(detectTerminal(kStdout)), err_(detectTerminal(kStderr)) {}

ProgressSink& Console::progress() {
  if (quiet) {
    return silentProgress();
  }
  if (!bar_) {
    bar_ = std::make_unique<TerminalProgress>(stderr, err_);
  }
  return *bar_;
}

void Console::say(std::string_view text) const {
  if (!quiet && !json) {
    writeOut(fmt::format("{}\n", text));
  }
}

void Console::say(const TextTable& table) const {
  if (!quiet && !json) {
    writeOut(table.render(out_));
  }
}

void Console::show(const TextTable& table) const {
  if (!json) {
    writeOut(table.render(out_));
  }
}

void Console::emit(std::string_view text) const { writeOut(text); }

void Console::showJson(const nlohmann::ordered_json& value) const {
  if (json) {
    constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
    writeOut(value.dump(2, ' ', false, kReplace) + "\n");
  }
}

void Console::note(std::string_view text) const {
  if (!quiet) {
    writeErr(fmt::format("{}\n", err_.paint(text, Ink::kDim)));
  }
}

void Console::warn(std::string_view text) const {
  writeErr(fmt::format("{} {}\n", err_.paint("warning:", Ink::kWarn), text));
}

void Console::fail(const Error& error) const { fail(error.what(), error.hint()); }

void Console::fail(std::string_view message, std::string_view hint) const {
  writeErr(fmt::format("{} {}\n", err_.paint("edgewise:", Ink::kBad), message));
  if (!hint.empty()) {
    writeErr(fmt::format("  hint: {}\n", hint));
  }
}

}  // namespace edgewise::app
