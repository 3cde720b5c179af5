// solstice sol: how fast could this be?
#include "sol/sol.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/named_module.h"
#include "cli/subject.h"

namespace solstice::cli {
namespace {

Result<int> run_sol(const Invocation& in) {
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(in.get("--machine")));
  SOLSTICE_TRY(const ir::BoundText subject, load_subject(in.get("SUBJECT"), in));
  sol::SolOptions options;
  options.policy = numerics::policy_from_name(in.get("--numerics")).value_or(options.policy);
  options.frozen = in.get("--weights") == "frozen";
  SOLSTICE_TRY(const sol::SolReport report, sol::analyse(subject.program, machine, options));
  fmt::print("{}", in.json() ? to_json(report).dump(2) + "\n" : sol::render_text(report));
  return 0;
}

}  // namespace

extern const Command solstice_commands_sol;
const Command solstice_commands_sol = {
    .name = "sol",
    .summary = "Print the speed of light of a module or program: three bounds and their terms",
    .help =
        "io: compulsory memory traffic, the bytes that every algorithm has to move. work: the operations of "
        "these equations on the fastest legal units. practical: a roofline with measured ceilings, fusion, L2 "
        "and launches. Needs no GPU.",
    .example = "solstice sol examples/linear_gelu.py --machine h200",
    .parameters =
        {{"SUBJECT", "", kSubjectHelp, "", {}, true, false},
         {"--machine", "NAME", "machine whose bounds are printed", "h200", {}, false, false},
         {"--numerics",
          "POLICY",
          "accuracy policy, which decides the legal matrix products",
          "reference",
          {"reference", "high", "medium"},
          false,
          false},
         {"--weights", "MODE", "frozen: parameters may be packed once", "live", {"live", "frozen"}, false, false},
         eval_flag(),
         train_flag(),
         why_flag(),
         json_flag()},
    .run = run_sol,
};

}  // namespace solstice::cli
