#include <fmt/format.h>

#include "base/time_text.h"
#include "flow/session.h"
#include "sol/sol.h"

namespace solstice::flow {

Status compute_bounds(Session& state) {
  return stage(state, "speed of light", state.machine->title, [&]() -> Result<std::string> {
    sol::SolOptions options;
    options.frozen = state.options.frozen;
    options.matmul_tf32 = state.problem->subject.flags.matmul_tf32;
    options.conv_tf32 = state.problem->subject.flags.cudnn_tf32;
    const std::optional<numerics::Policy> policy = numerics::policy_from_name(state.options.numerics);
    if (!policy) return fail(Code::bad_argument, fmt::format("no numerics policy `{}`", state.options.numerics));
    options.policy = *policy;
    SOLSTICE_TRY(state.sol, sol::analyse(state.problem->program, *state.machine, options));
    const sol::SolReport& report = *state.sol;
    state.bound_io = report.io.time;
    state.bound_practical = report.practical.time;
    state.report.bounds = sol::to_bounds(report);
    return fmt::format("io {}, work {}, practical {} ({})", time_text(report.io.time), time_text(report.work.time),
                       time_text(report.practical.time), report.practical.limited_by);
  });
}

}  // namespace solstice::flow
