// The manual page, in man's own language.
#include <fmt/format.h>

#include "edgewise/util/text.h"
#include "edgewise/util/version.h"
#include "program_words.h"

namespace edgewise::app {
namespace {

// Text that man does not take for commands.
std::string plain(std::string_view text) {
  std::string clean;
  for (const char each : text) {
    if (each == '\\') {
      clean += "\\e";
    } else if (each == '-') {
      clean += "\\-";
    } else {
      clean += each;
    }
  }
  return clean;
}

// Lines as they stand.
std::string block(std::string_view text) {
  std::string lines = ".PP\n.nf\n";
  for (const std::string_view line : splitText(text, '\n')) {
    const std::string clean = plain(line);
    // What begins with a dot or a quote would be a command.
    lines += (clean.starts_with('.') || clean.starts_with('\'') ? "\\&" : "") + clean + "\n";
  }
  return lines + ".fi\n";
}

std::string optionItem(const OptionWords& option) {
  std::string names = option.positional ? "" : "\\fB" + plain(option.name) + "\\fR";
  if (!option.short_name.empty()) {
    names = "\\fB" + plain(option.short_name) + "\\fR, " + names;
  }
  if (!option.value.empty()) {
    names += (names.empty() ? "\\fI" : " \\fI") + plain(option.value) + "\\fR";
  }
  return fmt::format(".TP\n{}\n{}\n", names, plain(option.about));
}

std::string commandSection(const CommandWords& command) {
  std::string text =
      fmt::format(".SS edgewise {}\n{}\n", plain(command.name), plain(command.about));
  for (const OptionWords& option : command.options) {
    text += optionItem(option);
  }
  return command.footer.empty() ? text : text + block(command.footer);
}

}  // namespace

std::string manPage(const ProgramWords& words) {
  std::string text = fmt::format(
      ".TH EDGEWISE 1 \"\" \"edgewise {}\" \"User Commands\"\n"
      ".SH NAME\nedgewise \\- link prediction in which every edge picks its own view\n"
      ".SH SYNOPSIS\n.B edgewise\n.I COMMAND\n.RI [ OPTIONS ]\n"
      ".SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      plain(versionText()), plain(words.about));
  for (const CommandWords& command : words.commands) {
    text += commandSection(command);
  }
  text += ".SH START AND EXIT CODES\n" + block(words.footer);
  text +=
      ".SH ENVIRONMENT\n"
      ".TP\n.B EDGEWISE_DATA\nwhere datasets live, unless \\-\\-data says otherwise\n"
      ".TP\n.B NO_COLOR\nwhen set, nothing is coloured\n";
  return text;
}

}  // namespace edgewise::app
