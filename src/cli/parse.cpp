#include "cli/parse.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <deque>
#include <functional>
#include <map>

#include "base/diagnostic.h"

namespace solstice::cli {
namespace {

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find(' ', begin), name.size());
    words.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Words of other programs for what a command of ours does.
const std::map<std::string, const char*, std::less<>> kOtherWords = {
    {"benchmark", "bench kernelbench --path DIR"},
    {"build", "compile PROGRAM.ucut"},
    {"clean", "gc"},
    {"cleanup", "gc"},
    {"device", "doctor"},
    {"devices", "doctor"},
    {"disassemble", "compile PROGRAM.ucut --keep"},
    {"disk", "gc"},
    {"families", "list families"},
    {"gpu", "doctor"},
    {"gpus", "doctor"},
    {"history", "show"},
    {"info", "doctor"},
    {"lint", "check PROGRAM.ucut"},
    {"list devices", "doctor"},
    {"list gpus", "doctor"},
    {"list runs", "show"},
    {"list trials", "show last"},
    {"log", "show last"},
    {"ls", "show"},
    {"machine", "list machines"},
    {"machines", "list machines"},
    {"models", "list models"},
    {"providers", "list providers"},
    {"prune", "gc"},
    {"ptx", "compile PROGRAM.ucut --keep"},
    {"report", "show last"},
    {"resume", "optimize --resume last"},
    {"roofline", "sol FILE.py"},
    {"runs", "show"},
    {"sass", "compile PROGRAM.ucut --keep"},
    {"status", "show"},
    {"trace", "import FILE.py"},
    {"trials", "show last"},
    {"tune", "optimize FILE.py"},
    {"validate", "check PROGRAM.ucut"},
    {"verify", "run PROGRAM.ucut --of FILE.py"},
    {"version", "--version"},
};

// What the words mean in ours, as the way out; "" where nothing is known.
std::string meant_by(const std::string& words) {
  const auto known = kOtherWords.find(words);
  return known == kOtherWords.end() ? "" : fmt::format("did you mean `solstice {}`?", known->second);
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names = {"--help"};
  for (const Parameter& p : command.parameters) {
    if (p.is_option()) names.push_back(p.name);
  }
  return names;
}

std::string see_help(const Command& command) {
  return fmt::format("`solstice {} --help` has the options and an example", command.name);
}

// `-budget` and `-b` are meant as `--budget`.
Error unknown_option(const Command& command, const std::string& word) {
  const std::vector<std::string> names = option_names(command);
  const std::string bare = word.substr(0, word.find('='));
  std::string near = closest(bare, names);
  for (const std::string& name : names) {
    if (near.empty() && bare.size() == 2 && name.starts_with("-" + bare)) near = name;
  }
  return fail(Code::bad_argument, fmt::format("`solstice {}` has no option `{}`", command.name, word),
              near.empty() ? fmt::format("its options are {}", fmt::join(names, ", "))
                           : fmt::format("did you mean `{}`?", near));
}

Status check_choice(const Command& command, const Parameter& p, const std::string& value) {
  if (p.choices.empty() || std::find(p.choices.begin(), p.choices.end(), value) != p.choices.end()) return success();
  const std::string near = closest(value, p.choices);
  const std::string known = p.is_option() ? "" : meant_by(fmt::format("{} {}", command.name, value));
  return fail(Code::bad_argument, fmt::format("{} is `{}`; legal are {}", p.name, value, fmt::join(p.choices, ", ")),
              !known.empty() || near.empty() ? known : fmt::format("did you mean `{}`?", near));
}

// The parameter that lacks its value, or that is missing; by the text of the library's error, which begins with it.
Error incomplete(const Command& command, std::string_view error) {
  for (const Parameter& p : command.parameters) {
    if (!error.starts_with(p.name) || error.substr(p.name.size()).starts_with('-')) continue;
    const std::string shown = p.is_option() && !p.value.empty() ? fmt::format("{} {}", p.name, p.value) : p.name;
    const bool missing = error.find("is required") != std::string_view::npos;
    return fail(Code::bad_argument,
                missing       ? fmt::format("`solstice {}` needs {}: {}", command.name, shown, p.help)
                : p.is_flag() ? fmt::format("{} takes no value", p.name)
                              : fmt::format("{} is given without its value: {}", shown, p.help),
                (p.choices.empty() ? "" : fmt::format("one of {}; ", fmt::join(p.choices, ", "))) + see_help(command));
  }
  return fail(Code::bad_argument, fmt::format("the arguments of `solstice {}` are incomplete", command.name),
              see_help(command));
}

bool is_short_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

bool takes_value(const Command& command, const std::string& word) {
  return std::any_of(command.parameters.begin(), command.parameters.end(),
                     [&](const Parameter& p) { return p.is_option() && !p.is_flag() && p.name == word; });
}

// Before CLI11 sees them: it would count the value of an unknown option as a positional.
Status check_names(const Command& command, const std::vector<std::string>& arguments) {
  const std::vector<std::string> names = option_names(command);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") break;
    const bool is_short = is_short_option(word) && (i == 0 || !takes_value(command, arguments[i - 1]));
    if (!word.starts_with("--") && !is_short) continue;
    if (std::find(names.begin(), names.end(), word.substr(0, word.find('='))) == names.end()) {
      return unknown_option(command, word);
    }
  }
  return success();
}

// CLI11 reports by exception; they end here.
Status run_cli11(CLI::App& app, const Command& command, std::vector<std::string> arguments) {
  SOLSTICE_CHECK(check_names(command, arguments));
  std::reverse(arguments.begin(), arguments.end());  // CLI11 pops from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extra = app.remaining();
    return fail(
        Code::bad_argument,
        fmt::format("`solstice {}` takes no further argument `{}`", command.name, extra.empty() ? "" : extra.front()),
        see_help(command));
  } catch (const CLI::ParseError& e) {
    return incomplete(command, e.what());
  }
  return success();
}

struct Slot {
  const Parameter* parameter;
  CLI::Option* option = nullptr;
  std::vector<std::string> many;
  std::string one;
  bool flag = false;

  std::vector<std::string> given() const {
    if (parameter->is_flag()) return flag ? std::vector<std::string>{"true"} : std::vector<std::string>{};
    if (parameter->many) return many;
    return option->count() > 0 ? std::vector<std::string>{one} : std::vector<std::string>{};
  }
};

void declare(CLI::App& app, Slot& slot) {
  const Parameter& p = *slot.parameter;
  if (p.is_flag()) {
    slot.option = app.add_flag(p.name, slot.flag);
  } else if (p.many) {
    slot.option = app.add_option(p.name, slot.many);
    if (p.is_option()) slot.option->allow_extra_args(false);  // a value each time: what follows may be a positional
  } else {
    slot.option = app.add_option(p.name, slot.one);
    if (p.is_option()) slot.option->take_last();
  }
  slot.option->required(p.required);
}

}  // namespace

const std::string& Invocation::get(std::string_view name) const {
  static const std::string none;
  const auto found = values.find(std::string(name));
  return found == values.end() || found->second.empty() ? none : found->second.back();
}

bool Invocation::has(std::string_view name) const { return values.contains(std::string(name)); }

std::vector<std::string> Invocation::all(std::string_view name) const {
  const auto found = values.find(std::string(name));
  return found == values.end() ? std::vector<std::string>{} : found->second;
}

std::vector<const Command*> commands_of(std::string_view group) {
  std::vector<const Command*> out;
  for (const Command* command : all_commands()) {
    if (!command->hidden && command->name.starts_with(std::string(group) + " ")) out.push_back(command);
  }
  return out;
}

Result<const Command*> find_command(const std::vector<std::string>& words) {
  const Command* best = nullptr;
  std::vector<std::string> names;
  for (const Command* command : all_commands()) {
    const std::vector<std::string> name = words_of(command->name);
    if (!command->hidden) names.push_back(command->name);
    if (name.size() > words.size() || !std::equal(name.begin(), name.end(), words.begin())) continue;
    if (!best || name.size() > words_of(best->name).size()) best = command;
  }
  if (best) return best;
  const std::string typed = words.empty() ? "" : words.front();
  if (const std::vector<const Command*> group = commands_of(typed); !group.empty()) {
    std::vector<std::string> full;
    for (const Command* command : group) full.push_back(command->name);
    const std::string two = words.size() > 1 ? typed + " " + words[1] : "";
    if (!two.empty() && !words[1].starts_with("-"))
      return fail(Code::bad_argument, fmt::format("no command `{}`", two), instead_of(two, full));
    return fail(Code::bad_argument, fmt::format("`{}` is a group of commands", typed),
                fmt::format("they are `{}`", fmt::join(full, "`, `")));
  }
  const std::string known = meant_by(typed), near = closest(typed, names);
  return fail(Code::bad_argument, fmt::format("no command `{}`", typed),
              !known.empty() ? known
              : near.empty() ? "`solstice --help` lists the commands, and common tasks with their command"
                             : fmt::format("did you mean `{}`?", near));
}

Result<Invocation> parse(const Command& command, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();
  std::deque<Slot> slots;
  for (const Parameter& p : command.parameters) declare(app, slots.emplace_back(Slot{&p, nullptr, {}, "", false}));
  SOLSTICE_CHECK(run_cli11(app, command, arguments));
  Invocation out;
  for (const Slot& slot : slots) {
    const Parameter& p = *slot.parameter;
    std::vector<std::string> values = slot.given();
    if (values.empty()) out.left_out.insert(p.name);
    if (values.empty() && !p.otherwise.empty()) values = {p.otherwise};
    for (const std::string& value : values) {
      if (!p.is_flag()) SOLSTICE_CHECK(check_choice(command, p, value));
    }
    if (!values.empty()) out.values[p.name] = std::move(values);
  }
  return out;
}

}  // namespace solstice::cli
