// The inputs, results and times that candidates are measured with, and how a run hands them to the next one.
#include <fmt/format.h>

#include <utility>

#include "base/time_text.h"
#include "flow/run/gpu/memory.h"
#include "flow/run/report/report_text.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace {

// The caller's own tensors lie there already where it is the oracle.
Status check_memory(const Session& state) {
  const bool loaded = state.options.oracle_fd.has_value();
  SOLSTICE_TRY(const Bytes available, loaded ? state.judge->total_memory() : state.judge->free_memory());
  return fits(memory_need(state.problem->program), available);
}

// Where memory has room for other inputs with their results, repetitions take both in turn.
Status prepare_second(Session& state) {
  const MemoryNeed need = memory_need(state.problem->program);
  SOLSTICE_TRY(const Bytes free, state.judge->free_memory());
  std::string why = fmt::format("it takes {}, and {} are free", bytes_text(need.another_case()), bytes_text(free));
  if (fits_another_case(need, free)) {
    CaseRequest request;
    request.set = "second trial";
    request.seed = 43;
    Result<std::optional<PreparedCase>> made = prepare_case(*state.oracle, *state.judge, *state.problem, request);
    if (!made.ok() && made.error().code != Code::too_large) return std::move(made).error();
    if (made.ok() && *made) {
      state.trial_cases.push_back((*made)->judge);
      state.trial_case->handles.merge((*made)->handles);  // both stay open
      return success();
    }
    if (!made.ok()) why = made.error().message;
  }
  state.report.warnings.push_back("candidates were timed with one set of inputs: memory has no room for a second (" +
                                  why + ")");
  return success();
}

Status measure_original(Session& state) {
  SOLSTICE_TRY(const OracleBlock block, state.oracle->time_eager("trial", {10, 3}));
  state.eager = block.median;
  state.eager_dispatch = block.dispatch;
  if (!block.dispatch_hidden) {
    state.report.warnings.push_back(
        fmt::format("PyTorch's dispatch of the original ({} a call) is too long to be hidden: the judge's "
                    "ratio counts it; the headline compares both with theirs",
                    time_text(block.dispatch)));
  }
  if (!block.fresh_content)
    state.report.warnings.push_back("no memory for fresh inputs in every repetition of the original");
  return success();
}

}  // namespace

Status prepare_trial(Session& state) {
  SOLSTICE_CHECK(check_memory(state));
  SOLSTICE_TRY(std::optional<PreparedCase> prepared, prepare_case(*state.oracle, *state.judge, *state.problem, {}));
  if (!prepared) return fail(Code::internal, "the oracle has no default inputs");
  state.trial_case.emplace(std::move(*prepared));
  state.trial_cases = {state.trial_case->judge};
  SOLSTICE_CHECK(prepare_second(state));
  return measure_original(state);
}

bool take_prepared(Session& state) {
  std::optional<Prepared> made = std::exchange(state.engine.prepared, std::nullopt);
  if (!made || state.options.file.empty() || made->file != state.options.file ||
      made->class_name != state.options.class_name)
    return false;
  state.problem.emplace(std::move(made->problem));
  state.meaning = std::move(made->meaning);
  state.trial_case = std::move(made->trial_case);
  state.trial_cases = std::move(made->trial_cases);
  state.eager = made->eager;
  state.eager_dispatch = made->eager_dispatch;
  state.report.warnings = std::move(made->warnings);
  return true;
}

void keep_prepared(Session& state) {
  if (!state.problem || !state.trial_case || state.options.file.empty()) return;
  state.engine.prepared.emplace(Prepared{state.options.file, state.options.class_name, std::move(*state.problem),
                                         std::move(state.meaning), std::move(state.trial_case),
                                         std::move(state.trial_cases), state.eager, state.eager_dispatch,
                                         std::move(state.prepare_warnings)});
}

}  // namespace solstice::flow
