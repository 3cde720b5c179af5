// solstice sol: how fast could this be?
#include "sol/sol.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/values.h"
#include "flow/problem.h"
#include "ir/bind.h"

namespace solstice::cli {
namespace {

Result<ir::Program> load(const std::string& argument) {
  if (std::filesystem::path(argument).extension() == ".ucut") {
    SOLSTICE_TRY(const std::string text, read_file(argument));
    Diagnostics diagnostics;
    return ir::load_program(text, argument, diagnostics);
  }
  SOLSTICE_TRY(const FileAndClass subject, parse_file_and_class(argument));
  SOLSTICE_TRY(run::OracleClient oracle, run::OracleClient::start({.device = "cpu"}));
  SOLSTICE_TRY(flow::Problem problem, flow::load_problem(oracle, subject.file, subject.class_name, flow::graph_cache()));
  return std::move(problem.program);
}

Result<int> run_sol(const Invocation& in) {
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(in.get("--machine")));
  SOLSTICE_TRY(const ir::Program program, load(in.get("SUBJECT")));
  sol::SolOptions options;
  options.policy = numerics::policy_from_name(in.get("--numerics")).value_or(options.policy);
  options.frozen = in.get("--weights") == "frozen";
  SOLSTICE_TRY(const sol::SolReport report, sol::analyse(program, machine, options));
  fmt::print("{}", in.json() ? to_json(report).dump(2) + "\n" : sol::render_text(report));
  return 0;
}

}  // namespace

extern const Command solstice_commands_sol;
const Command solstice_commands_sol = {
    .name = "sol",
    .summary = "Print the speed of light of a module or program: three bounds, and what they are made of",
    .help =
        "io: bytes that every algorithm must move. work: operations of these equations on the fastest legal units. "
        "practical: measured ceilings, fusion, L2 and launches. Needs no GPU.",
    .example = "solstice sol examples/linear_gelu.py --machine h200",
    .parameters = {{"SUBJECT", "", "a Python file (optionally :Class) or a .ucut program", "", {}, true, false},
                   {"--machine", "NAME", "machine to bound it on", "h200", {}, false, false},
                   {"--numerics", "POLICY", "which products are legal", "reference", {"reference", "high", "medium"}, false, false},
                   {"--weights", "MODE", "frozen: parameters may be prepared at load", "live", {"live", "frozen"}, false, false},
                   json_flag()},
    .run = run_sol,
};

}  // namespace solstice::cli
