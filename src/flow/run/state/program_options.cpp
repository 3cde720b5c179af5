#include "flow/run/state/program_options.h"

#include <fmt/format.h>

#include "evaluate/clauses.h"
#include "flow/run/problem/written.h"
#include "lang/parse.h"

namespace solstice::flow {
namespace {

Status check_program_options(bool resumed, const OptimizeOptions& options) {
  if (!options.module.of.empty()) return success();
  if (options.place.detached)
    return fail(Code::bad_argument,
                fmt::format("{} is a program, which names no inputs that another machine could measure with",
                            options.module.file.string()),
                resumed
                    ? "`solstice optimize --resume` goes on with its run"
                    : fmt::format("name the module that it computes, --of FILE.py; `solstice torch {0}` prints one, "
                                  "and `solstice optimize {0}` needs none",
                                  options.module.file.string()));
  if (options.module.mode.empty()) return success();
  return fail(
      Code::bad_argument,
      fmt::format("--{} is of no use for {}: a program of equations has no mode", options.module.mode,
                  options.module.file.string()),
      fmt::format("leave --{} out, or name the module that the program computes: --of FILE.py", options.module.mode));
}

}  // namespace

Status resolve_program(const std::string& source, bool resumed, OptimizeOptions& options) {
  SOLSTICE_CHECK(check_program_options(resumed, options));
  const std::string file = options.module.file.string();
  SOLSTICE_TRY(const Written written, written_problem(source, file));
  const ir::Program& program = written.problem.program;
  if (!resumed && options.left_out.contains("--numerics") && !program.numerics.empty())
    options.terms.numerics = program.numerics;
  if (!resumed && options.place.machine.empty()) options.place.machine = program.target;
  Diagnostics diagnostics;
  evaluate::check_clauses(lang::parse(source, diagnostics), options.terms.numerics, nullptr, diagnostics);
  return diagnostics.has_errors() ? Status(refusal(diagnostics, source, file)) : success();
}

}  // namespace solstice::flow
