#include <fmt/format.h>

#include "base/time_text.h"
#include "flow/run/state/run.h"
#include "sol/sol.h"

namespace solstice::flow {

namespace {

Result<sol::SolReport> bounds_of(const Session& state, const ir::Program& program) {
  sol::SolOptions options;
  options.frozen = state.options.frozen;
  options.matmul_tf32 = state.problem->subject.flags.matmul_tf32;
  options.conv_tf32 = state.problem->subject.flags.cudnn_tf32;
  const std::optional<numerics::Policy> policy = numerics::policy_from_name(state.options.numerics);
  if (!policy) return fail(Code::bad_argument, fmt::format("no numerics policy `{}`", state.options.numerics));
  options.policy = *policy;
  return sol::analyse(program, *state.machine, options);
}

void take_bounds(Session& state) {
  state.bound_io = state.sol->io.time;
  state.bound_practical = state.sol->practical.time;
  state.report.bounds = sol::to_bounds(*state.sol);
}

}  // namespace

Status compute_bounds(Session& state) {
  return stage(state, "speed of light", state.machine->title, [&]() -> Result<std::string> {
    SOLSTICE_TRY(state.sol, bounds_of(state, state.problem->program));
    take_bounds(state);
    const sol::SolReport& report = *state.sol;
    return fmt::format("io {}, work {}, practical {} ({})", time_text(report.io.time), time_text(report.work.time),
                       time_text(report.practical.time), report.practical.limited_by);
  });
}

Status lower_bounds(Session& state, const ir::Program& rewritten) {
  SOLSTICE_TRY(sol::SolReport other, bounds_of(state, rewritten));
  sol::SolReport& report = *state.sol;
  for (sol::SolBound sol::SolReport::*rung : {&sol::SolReport::io, &sol::SolReport::work, &sol::SolReport::practical}) {
    if ((report.*rung).time <= (other.*rung).time) continue;
    report.*rung = std::move(other.*rung);
    (report.*rung).meaning += ", of the rewritten equations";
  }
  report.io_warm = std::min(report.io_warm, other.io_warm);
  take_bounds(state);
  return success();
}

}  // namespace solstice::flow
