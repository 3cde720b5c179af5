#include "flow/run/state/program_options.h"

#include <fmt/format.h>

#include "evaluate/clauses.h"
#include "flow/run/problem/written.h"
#include "lang/parse.h"

namespace solstice::flow {
namespace {

Error of_a_module(const OptimizeOptions& options, const std::string& option, const char* what) {
  return fail(Code::bad_argument,
              fmt::format("{} is of no use for {}: a program of equations has no {}", option,
                          options.module.file.string(), what),
              fmt::format("leave {} out", option));
}

Error no_inputs(const OptimizeOptions& options, const std::string& option) {
  const std::string file = options.module.file.string();
  return fail(
      Code::bad_argument,
      fmt::format("{}: {} is a program, which names no inputs to verify and time its kernels with", option, file),
      "name the module that the program computes, --of FILE.py, or use --device model: times are predicted");
}

Status check_program_options(const OptimizeOptions& options) {
  if (options.place.detached)
    return fail(Code::bad_argument,
                fmt::format("{} is a program, which names no inputs that another machine could measure with",
                            options.module.file.string()),
                "`solstice optimize` goes on with its run");
  if (!options.module.of.empty()) return success();
  if (!options.module.mode.empty()) return of_a_module(options, "--" + options.module.mode, "mode");
  if (!options.baselines) return of_a_module(options, "--no-baselines", "original, and so no baselines");
  if (options.place.device == "gpu") return no_inputs(options, "--device gpu");
  if (options.place.gpus.given()) return no_inputs(options, "--devices");
  return options.place.allow_busy ? Status(no_inputs(options, "--allow-busy")) : success();
}

}  // namespace

Status resolve_program(const std::string& source, bool resumed, OptimizeOptions& options) {
  SOLSTICE_CHECK(check_program_options(options));
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
