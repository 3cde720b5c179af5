// solstice check: is this program right? Everything that can be known before a compiler runs.
#include <fmt/format.h>

#include "base/counted.h"
#include "base/file.h"
#include "cli/command.h"
#include "evaluate/candidate.h"
#include "families/family.h"
#include "lang/embed.h"
#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::cli {
namespace {

std::string summary(const ir::Program& p) {
  return fmt::format("{}: ok, {}, {}{}", p.name, counted(p.equations.size(), "equation"),
                     counted(p.kernels.size(), "kernel"), p.is_problem() ? " (a problem: no schedule)" : "");
}

// Of each kernel that its family cannot run, what every family says.
std::string families_text(const ir::Program& program) {
  std::string out;
  for (const ir::Kernel& kernel : program.kernels) {
    const families::Family* own = families::find_family(kernel.family);
    if (!own || own->match(program, kernel).ok) continue;
    for (const families::Family* family : families::all_families()) {
      if (!family->available) continue;
      ir::Kernel other = kernel;
      other.family = std::string(family->name);
      other.knobs = {};
      const families::Match match = family->match(program, other);
      out += fmt::format("  why: kernel `{}`, {}: {}\n", kernel.name, family->name,
                         match.ok ? "it can run this kernel" : match.reason);
    }
  }
  return out;
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
  if (in.flag("--why") && checked.program) fmt::print(stderr, "{}", families_text(*checked.program));
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
    .parameters =
        {{"PROGRAM", "", "a .ucut file", "", {}, true, false},
         {"--machine", "NAME", "machine that the schedule has to fit", "h200", {}, false, false},
         program_numerics(),
         {"--print", "", "print the program in canonical form", "", {}, false, false},
         {"--why", "", "of a kernel that its family cannot run, print what every family says", "", {}, false, false},
         json_flag()},
    .run = run_check,
};

}  // namespace solstice::cli
