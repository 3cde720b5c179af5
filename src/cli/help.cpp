#include <fmt/format.h>

#include <algorithm>

#include "cli/parse.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

std::string shown_name(const Parameter& p) {
  std::string text = p.name;
  if (p.is_option() && !p.value.empty()) text += " " + p.value;
  if (!p.is_option() && p.many) text += "...";
  return text;
}

std::string usage(const Command& command) {
  std::string text = "usage: solstice " + command.name;
  for (const Parameter& p : command.parameters) {
    if (p.is_option()) continue;
    text += p.required ? " " + shown_name(p) : " [" + shown_name(p) + "]";
  }
  for (const Parameter& p : command.parameters) {
    if (p.is_option()) text += p.required ? " " + shown_name(p) : " [" + shown_name(p) + "]";
  }
  return wrap(text, 100, 8);
}

std::string described(const Parameter& p) {
  std::string text = p.help;
  const size_t stated = std::min(text.find(" [default: "), text.size());  // a computed default, stated in the help
  if (!p.choices.empty()) text.insert(stated, fmt::format(" ({})", fmt::join(p.choices, ", ")));
  if (!p.otherwise.empty()) text += fmt::format(" [default: {}]", p.otherwise);
  return text;
}

}  // namespace

std::string help_text(const Command& command) {
  std::string out = usage(command) + "\n\n" + command.summary + ".\n";
  if (!command.help.empty()) out += "\n" + wrap(command.help, 100, 0) + "\n";
  out += "\n";
  for (const Parameter& p : command.parameters) out += hanging(shown_name(p), described(p), 28, 100);
  out += hanging("--help", "print this text", 28, 100);
  if (!command.example.empty()) out += "\nexample:\n  " + command.example + "\n";
  return out;
}

std::string group_text(std::string_view group) {
  std::string out = fmt::format("usage: solstice {} COMMAND [ARGUMENTS]\n\n", group);
  for (const Command* command : commands_of(group)) out += hanging(command->name, command->summary, 22, 110);
  return out + fmt::format("\n`solstice {} COMMAND --help` has the options and an example.\n", group);
}

// Tasks of people who do not know the commands yet, with the line that does them.
struct Task {
  const char* what;
  const char* line;
};
constexpr Task kTasks[] = {
    {"make a module faster, within a minute", "solstice optimize FILE.py --budget 60s"},
    {"the same in a build that has to fail", "solstice optimize FILE.py --budget 60s --require-faster"},
    {"a module as it is used for inference", "solstice optimize FILE.py --eval"},
    {"how fast could it run on an H200", "solstice sol FILE.py --machine h200"},
    {"its kernels, and the slowest, without a search", "solstice plan FILE.py"},
    {"continue a run that was interrupted", "solstice optimize --resume last"},
    {"what the last run tried, and why trials failed", "solstice show last; solstice show last --failed"},
    {"one trial: its program, error and times", "solstice show last --trial 3"},
    {"check a program that is written by hand", "solstice check PROGRAM.ucut"},
    {"search kernels for it, on predicted times", "solstice optimize PROGRAM.ucut"},
    {"run it as a candidate for its module", "solstice run PROGRAM.ucut --of FILE.py"},
    {"compile it to cubins", "solstice compile PROGRAM.ucut"},
    {"its machine code (SASS), PTX, and a profile", "solstice compile PROGRAM.ucut --keep"},
    {"what lies on the disk, and what can go", "solstice gc"},
    {"what this machine has and lacks", "solstice doctor"},
    {"what GPUs can do: rates, memory", "solstice list machines"},
    {"a language model that proposes, at your server", "solstice optimize --help; solstice list providers"}};

std::string overview() {
  std::string out =
      "usage: solstice COMMAND [ARGUMENTS]\n\nMakes PyTorch modules faster: verified, measured CUDA kernels "
      "behind the same forward.\n\nCommon tasks:\n";
  for (const Task& task : kTasks) out += fmt::format("  {:<48}{}\n", task.what, task.line);
  out +=
      "\nFILE.py holds a module, or imports one from a package, and its example inputs: `solstice optimize "
      "--help`.\n\nCommands:\n";
  for (const Command* command : all_commands()) {
    if (!command->hidden) out += hanging(command->name, command->summary, 22, 110);
  }
  out +=
      "\n"
      "`solstice COMMAND --help` or `solstice help COMMAND` has the options and an example; `--` ends the options.\n"
      "Exit codes: 0 done, 1 not faster (with --require-faster), 2 wrong input, 3 the machine lacks something,\n"
      "70 a bug in Solstice, 130 ended by Ctrl-C.\n";
  return out;
}

}  // namespace solstice::cli
