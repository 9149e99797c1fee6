// Completion scripts for bash, zsh and fish.
#include <fmt/format.h>

#include "edgewise/util/text.h"
#include "program_words.h"

namespace edgewise::app {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Within single quotes.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::vector<std::string> commandNames(const ProgramWords& words) {
  std::vector<std::string> names;
  names.reserve(words.commands.size());
  for (const CommandWords& command : words.commands) {
    names.push_back(command.name);
  }
  return names;
}

std::vector<std::string> optionNames(const CommandWords& command) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options) {
    if (!option.positional && !option.name.empty()) {
      names.push_back(option.name);
    }
  }
  return names;
}

// What may stand alone after the command; nothing where files may.
std::vector<std::string> aloneAfter(const CommandWords& command) {
  for (const OptionWords& option : command.options) {
    if (option.positional && !option.choices.empty()) {
      return option.choices;
    }
  }
  return {};
}

// Words with colons and equal signs in them are no file names, which bash would put backslashes in.
constexpr std::string_view kAsTheyStand = "      compopt +o filenames 2>/dev/null\n";

std::string bashValues(const CommandWords& command) {
  std::string text;
  for (const OptionWords& option : command.options) {
    if (option.positional || option.kind == ValueKind::kNone) {
      continue;
    }
    text += fmt::format("    '{} {}')\n", command.name, option.name);
    switch (option.kind) {
      case ValueKind::kChoice:
        text += fmt::format("      COMPREPLY=($(compgen -W {} -- \"$current\"))\n{}",
                            quoted(joinText(option.choices, " ")), kAsTheyStand);
        break;
      case ValueKind::kSetting:
        text += fmt::format(
            "      COMPREPLY=($(compgen -S = -W {} -- \"$current\"))\n"
            "      compopt -o nospace 2>/dev/null\n{}",
            quoted(joinText(option.choices, " ")), kAsTheyStand);
        break;
      case ValueKind::kFile:
        text += "      COMPREPLY=($(compgen -f -- \"$current\"))\n";
        break;
      default:
        text += "      COMPREPLY=()\n";
    }
    text += "      return ;;\n";
  }
  return text;
}

// The words that stand alone. Bash takes a colon for the end of a word, so that table:rec comes in
// three, and only what follows the last colon is replaced.
std::string bashAlone(const CommandWords& command) {
  const std::vector<std::string> words = aloneAfter(command);
  if (words.empty()) {
    return "";
  }
  return fmt::format(
      "    {})\n"
      "      COMPREPLY=($(compgen -W {} -- \"$prefix$current\"))\n"
      "      COMPREPLY=(\"${{COMPREPLY[@]#\"$prefix\"}}\")\n{}"
      "      return ;;\n",
      command.name, quoted(joinText(words, " ")), kAsTheyStand);
}

// Between brackets and colons.
std::string zshText(const std::string& text) {
  std::string clean = replaced(text, "\\", "\\\\");
  for (const std::string_view special : {"[", "]", ":"}) {
    clean = replaced(clean, special, "\\" + std::string(special));
  }
  return replaced(clean, "'", "'\\''");
}

std::string zshValue(const OptionWords& option) {
  switch (option.kind) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kFile:
      return ":file:_files";
    case ValueKind::kChoice:
      return fmt::format(":value:({})", joinText(option.choices, " "));
    case ValueKind::kSetting:
      return fmt::format(":setting:({})", joinText(option.choices, "= ") + "=");
    default:
      return ":value: ";
  }
}

std::string zshArguments(const CommandWords& command) {
  std::string text = fmt::format("        {})\n          _arguments", command.name);
  for (const OptionWords& option : command.options) {
    if (option.positional) {
      text += option.choices.empty()
                  ? fmt::format(" \\\n            '*:{}:_files'", zshText(option.name))
                  : fmt::format(" \\\n            '1:{}:({})'", zshText(option.name),
                                zshText(joinText(option.choices, " ")));
    } else if (!option.name.empty()) {
      text += fmt::format(" \\\n            '{}[{}]{}'", option.name, zshText(option.about),
                          zshValue(option));
    }
  }
  return text + " ;;\n";
}

}  // namespace

std::string bashCompletion(const ProgramWords& words) {
  std::string values;
  std::string options;
  std::string alone;
  for (const CommandWords& command : words.commands) {
    values += bashValues(command);
    alone += bashAlone(command);
    options += fmt::format("    {}) options={} ;;\n", command.name,
                           quoted(joinText(optionNames(command), " ")));
  }
  return fmt::format(
      "# bash completion for edgewise; load it with: source <(edgewise completion bash)\n"
      "_edgewise() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local command=${{COMP_WORDS[1]}} options= prefix=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W {} -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command $before\" in\n{}"
      "  esac\n"
      "  case \"$command\" in\n{}"
      "  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")); return ;;\n"
      "  esac\n"
      "  if [ \"$current\" = : ]; then\n"
      "    prefix=$before: current=\n"
      "  elif [ \"$before\" = : ]; then\n"
      "    prefix=${{COMP_WORDS[COMP_CWORD-2]}}:\n"
      "  fi\n"
      "  case \"$command\" in\n{}"
      "  esac\n"
      "  COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -o filenames -F _edgewise edgewise\n",
      quoted(joinText(commandNames(words), " ") + " --help --version"), values, options, alone);
}

std::string zshCompletion(const ProgramWords& words) {
  std::string commands;
  std::string arguments;
  for (const CommandWords& command : words.commands) {
    commands += fmt::format("    '{}:{}'\n", command.name, zshText(command.about));
    arguments += zshArguments(command);
  }
  return fmt::format(
      "#compdef edgewise\n"
      "# zsh completion for edgewise; put it in a folder of $fpath as _edgewise\n"
      "_edgewise() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  _arguments -C '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n{}"
      "      esac ;;\n"
      "  esac\n"
      "}}\n"
      "if [ \"$funcstack[1]\" = _edgewise ]; then _edgewise \"$@\"; else compdef _edgewise "
      "edgewise; fi\n",
      commands, arguments);
}

std::string fishCompletion(const ProgramWords& words) {
  std::string text =
      "# fish completion for edgewise; put it in ~/.config/fish/completions/edgewise.fish\n"
      "complete -c edgewise -n __fish_use_subcommand -f\n";
  const auto add = [&](const std::string& line) { text += line + "\n"; };
  for (const CommandWords& command : words.commands) {
    add(fmt::format("complete -c edgewise -n __fish_use_subcommand -a {} -d {}", command.name,
                    quoted(command.about)));
    const std::string where =
        fmt::format("complete -c edgewise -n '__fish_seen_subcommand_from {}'", command.name);
    if (const std::vector<std::string> alone = aloneAfter(command); !alone.empty()) {
      add(fmt::format("{} -f -a {}", where, quoted(joinText(alone, " "))));
    }
    for (const OptionWords& option : command.options) {
      if (option.positional || option.name.empty()) {
        continue;
      }
      std::string line =
          fmt::format("{} -l {} -d {}", where, option.name.substr(2), quoted(option.about));
      if (option.kind == ValueKind::kChoice) {
        line += fmt::format(" -x -a {}", quoted(joinText(option.choices, " ")));
      } else if (option.kind == ValueKind::kSetting) {
        line += fmt::format(" -x -a {}", quoted(joinText(option.choices, "= ") + "="));
      } else if (option.kind != ValueKind::kNone) {
        line += option.kind == ValueKind::kFile ? " -r" : " -x";
      }
      add(line);
    }
  }
  return text;
}

}  // namespace edgewise::app
