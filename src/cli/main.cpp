// The program. Finds the command, runs it, and turns an error into a message and the exit code of its kind.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "base/version.h"
#include "cli/exit_codes.h"
#include "cli/parse.h"

namespace solstice::cli {
namespace {

Json to_json(const Error& error) {
  Json body = Json::object();
  body.set("code", name_of(error.code)).set("message", error.message).set("context", text_list(error.context));
  if (!error.hint.empty()) body.set("hint", error.hint);
  if (!error.file.empty()) body.set("file", error.file).set("line", error.line);
  if (error.column > 0) body.set("column", error.column);
  if (!error.listing.empty()) body.set("listing", error.listing);
  if (!error.reasons.empty()) body.set("reasons", text_list(error.reasons));
  return Json::object().set("error", body);
}

// The line of the user's file, with carets; "" where it cannot be read any more.
std::string shown_source(const Error& error) {
  if (error.file.empty() || error.line < 1 || !error.listing.empty()) return "";
  const Result<std::string> text = read_file(error.file);
  return text.ok() ? excerpt_at(*text, error.line, error.column, error.width) : "";
}

std::string place_of(const Error& error) {
  if (error.file.empty() || !error.listing.empty()) return "";
  const std::string line = error.line > 0 ? fmt::format(":{}", error.line) : "";
  return fmt::format("{}{}{}: ", error.file, line, error.column > 0 ? fmt::format(":{}", error.column) : "");
}

// The way out; by the kind of mistake where the error has none.
std::string way_out(const Error& error, const Command* command) {
  if (!error.hint.empty()) return error.hint;
  if (error.kind() == ErrorKind::kInternal)
    return "this is a bug of Solstice: report it with the command and this text";
  if (error.kind() == ErrorKind::kEnvironment)
    return "`solstice doctor` says what this machine has, and what is missing";
  if (error.code == Code::bad_argument && command)
    return fmt::format("`solstice {} --help` has the options and an example", command->name);
  return "";
}

bool has_why(const Command* command) {
  return command && std::any_of(command->parameters.begin(), command->parameters.end(),
                                [](const Parameter& p) { return p.name == "--why"; });
}

// Where, what and why; the source line; the way out.
std::string for_a_person(const Error& error, bool asks_why, const Command* command) {
  std::string out = error.listing.empty() ? "" : error.listing + "\n";
  out += fmt::format("solstice: error[{}]: {}{}\n", name_of(error.code), place_of(error), error.message);
  out += shown_source(error);
  for (const std::string& step : error.context) out += fmt::format("  while {}\n", step);
  if (const std::string hint = way_out(error, command); !hint.empty()) out += fmt::format("  hint: {}\n", hint);
  if (asks_why) {
    for (const std::string& reason : error.reasons) out += fmt::format("  why: {}\n", reason);
  } else if (!error.reasons.empty() && has_why(command)) {
    out += error.code == Code::module_trace ? "  --why prints PyTorch's own words\n" : "  --why lists every reason\n";
  }
  return out;
}

int report(const Error& error, bool json, bool asks_why = false, const Command* command = nullptr) {
  if (json) fmt::print("{}\n", to_json(error).dump(2));
  fmt::print(stderr, "{}", for_a_person(error, asks_why, command));
  return error.code == Code::interrupted ? cli::kInterruptedCode : exit_code(error.kind());
}

bool asks_for_help(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

size_t words_in(std::string_view name) { return 1 + static_cast<size_t>(std::count(name.begin(), name.end(), ' ')); }

// `solstice help COMMAND`.
int help(const std::vector<std::string>& words) {
  const Result<const Command*> found = find_command(words);
  if (!found.ok() && commands_of(words[0]).empty()) return report(found.error(), false);
  fmt::print("{}", found.ok() ? help_text(**found) : group_text(words[0]));
  return 0;
}

int run(std::vector<std::string> argv) {
  const std::vector<std::string> words(argv.begin() + 1, argv.end());
  if (words.size() > 1 && words[0] == "help") return help({words.begin() + 1, words.end()});
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    fmt::print("{}", overview());
    return words.empty() ? exit_code(ErrorKind::kInput) : 0;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    fmt::print("solstice {}\n", version());
    return 0;
  }
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  const Result<const Command*> found = find_command(words);
  if (!found.ok() && asks_for_help(words) && !commands_of(words[0]).empty()) {
    fmt::print("{}", group_text(words[0]));
    return 0;
  }
  if (!found.ok()) return report(found.error(), json);
  const Command& command = **found;
  const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(words_in(command.name)), words.end());
  if (!command.hidden && asks_for_help(rest)) {
    fmt::print("{}", help_text(command));
    return 0;
  }
  Result<Invocation> invocation = parse(command, rest);
  if (!invocation.ok()) return report(invocation.error(), json, false, &command);
  invocation->argv = std::move(argv);
  if (command.polls_interrupts) catch_interrupts();
  const Result<int> done = command.run(*invocation);
  return done.ok() ? *done : report(done.error(), json, invocation->flag("--why"), &command);
}

}  // namespace
}  // namespace solstice::cli

int main(int argc, char** argv) {
  solstice::ignore_file_size_signal();
  return solstice::cli::run({argv, argv + argc});
}
