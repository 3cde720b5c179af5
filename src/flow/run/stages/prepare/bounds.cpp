#include "flow/run/stages/prepare/bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "sol/eager/predict.h"

namespace solstice::flow {
namespace {

Result<sol::SolReport> report_of(const Run& run, const Opened& opened, const Imported& imported,
                                 const ir::Program& program) {
  sol::SolOptions options;
  options.frozen = run.options.terms.frozen;
  options.matmul_tf32 = imported.problem.subject.flags.matmul_tf32;
  options.conv_tf32 = imported.problem.subject.flags.cudnn_tf32;
  const std::string& numerics = run.options.terms.numerics;
  const std::optional<numerics::Policy> policy = numerics::policy_from_name(numerics);
  if (!policy) return fail(Code::bad_argument, fmt::format("no numerics policy `{}`", numerics));
  options.policy = *policy;
  return sol::analyse(program, opened.machine, options);
}

// Beside the bounds, for whoever has no GPU to time the original on.
void predict_the_original(Run& run, const Opened& opened, const Problem& problem) {
  const OracleFlags& flags = problem.subject.flags;
  Result<PredictedOriginal> predicted =
      sol::predict_original(problem.called(), opened.machine, {flags.matmul_tf32, flags.cudnn_tf32});
  if (predicted.ok()) {
    run.report.predicted_original = std::move(*predicted);
  } else {
    run.report.warnings.push_back("the time of the original is not predicted: " + predicted.error().message);
  }
}

}  // namespace

Result<Bounds> compute_bounds(Run& run, const Opened& opened, const Imported& imported) {
  Bounds bounds;
  const Status done = stage(run, "speed of light", opened.machine.title, [&]() -> Result<std::string> {
    SOLSTICE_TRY(bounds.sol, report_of(run, opened, imported, imported.problem.program));
    run.report.bounds = sol::to_bounds(bounds.sol);
    const sol::SolReport& report = bounds.sol;
    return fmt::format("io {}, work {}, practical {} ({})", time_text(report.io.time), time_text(report.work.time),
                       time_text(report.practical.time), report.practical.limited_by);
  });
  SOLSTICE_CHECK(done);
  if (!lacks_module(run)) predict_the_original(run, opened, imported.problem);
  return bounds;
}

Status lower_bounds(Run& run, const Opened& opened, const Imported& imported, const ir::Program& rewritten,
                    Bounds& bounds) {
  SOLSTICE_TRY(sol::SolReport other, report_of(run, opened, imported, rewritten));
  sol::SolReport& report = bounds.sol;
  for (sol::SolBound sol::SolReport::*rung : {&sol::SolReport::io, &sol::SolReport::work, &sol::SolReport::practical}) {
    if ((report.*rung).time <= (other.*rung).time) continue;
    report.*rung = std::move(other.*rung);
    (report.*rung).meaning += ", of the rewritten equations";
  }
  report.io_warm = std::min(report.io_warm, other.io_warm);
  run.report.bounds = sol::to_bounds(report);
  return success();
}

}  // namespace solstice::flow
