// solstice check: is this program right? Everything that can be known before a compiler runs.
#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "evaluate/candidate.h"
#include "lang/embed.h"
#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::cli {
namespace {

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string summary(const ir::Program& p) {
  return fmt::format("{}: ok, {}, {}{}", p.name, counted(p.equations.size(), "equation"),
                     counted(p.kernels.size(), "kernel"), p.is_problem() ? " (a problem: no schedule)" : "");
}

Result<int> run_check(const Invocation& in) {
  const std::string& file = in.get("PROGRAM");
  SOLSTICE_TRY(const std::string text, lang::read_program(file));
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(in.get("--machine")));
  evaluate::Checked checked = evaluate::check(text, {machine, in.get("--numerics"), false});
  if (checked.ok()) evaluate::add_not_yet(*checked.program, checked.diagnostics);
  const int code = checked.ok() ? 0 : exit_code(ErrorKind::kInput);
  if (in.json()) {
    Json body = Json::object().set("ok", checked.ok());
    fmt::print("{}\n", body.set("diagnostics", render_json(checked.diagnostics, text, file)).dump(2));
    return code;
  }
  fmt::print(stderr, "{}", render_text(checked.diagnostics, text, file));
  if (!checked.ok()) return code;
  if (in.flag("--print")) {
    Diagnostics none;
    fmt::print("{}", lang::print(lang::parse(text, none)));
  } else {
    fmt::print("{}\n", summary(*checked.program));
  }
  return code;
}

}  // namespace

extern const Command solstice_commands_check;
const Command solstice_commands_check = {
    .name = "check",
    .summary = "Check a program: syntax, meaning, and its schedule against a machine",
    .help =
        "Prints every mistake on stderr with its position, the rule and a hint; the exit code is 2 if there is "
        "one. A feature that is declared but not implemented yet is a note: `compile` rejects it.",
    .example = "solstice check program.ucut --machine h200",
    .parameters = {{"PROGRAM", "", "a .ucut file", "", {}, true, false},
                   {"--machine", "NAME", "machine that the schedule has to fit", "h200", {}, false, false},
                   program_numerics(),
                   {"--print", "", "print the program in canonical form", "", {}, false, false},
                   json_flag()},
    .run = run_check,
};

}  // namespace solstice::cli
