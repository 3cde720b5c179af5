#include "flow/run/stages/prepare/inputs.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "flow/run/gpu/memory.h"
#include "flow/run/problem/written.h"
#include "flow/run/report/report_text.h"

namespace solstice::flow {
namespace {

// The caller's own tensors lie there already where it is the oracle.
Status check_memory(const Run& run, const MemoryNeed& need) {
  const bool loaded = run.options.module.oracle_fd.has_value();
  run::Judge& judge = *run.engine.judge;
  SOLSTICE_TRY(const Bytes available, loaded ? judge.total_memory() : judge.free_memory());
  return fits(need, available);
}

Result<std::optional<PreparedCase>> prepare(Run& run, const Imported& imported, const CaseRequest& request) {
  return prepare_case(*run.engine.oracle, *run.engine.judge, imported.problem, request);
}

// Prepares other inputs with their results, where memory has room: repetitions then take both in turn.
Status prepare_second(Run& run, const Imported& imported, const MemoryNeed& need, TrialInputs& out) {
  SOLSTICE_TRY(const Bytes free, run.engine.judge->free_memory());
  std::string why = fmt::format("it takes {}, and {} are free", bytes_text(need.another_case()), bytes_text(free));
  if (fits_another_case(need, free)) {
    CaseRequest request;
    request.set = "second trial";
    request.seed = 43;
    Result<std::optional<PreparedCase>> made = prepare(run, imported, request);
    if (!made.ok() && made.error().code != Code::too_large) return std::move(made).error();
    if (made.ok() && *made) {
      out.cases.push_back((*made)->judge);
      out.first->handles.merge((*made)->handles);  // both stay open
      return success();
    }
    if (!made.ok()) why = made.error().message;
  }
  run.report.warnings.push_back("candidates were timed with one set of inputs: memory has no room for a second (" +
                                why + ")");
  return success();
}

Result<OriginalTime> time_original(Run& run) {
  SOLSTICE_TRY(const OracleBlock block, run.engine.oracle->time_eager("trial", {10, 3}));
  if (!block.dispatch_hidden) {
    run.report.warnings.push_back(
        fmt::format("PyTorch's dispatch of the original ({} a call) is too long to be hidden: the judge's "
                    "ratio counts it; the headline compares both with theirs",
                    time_text(block.dispatch)));
  }
  if (!block.fresh_content)
    run.report.warnings.push_back("no memory for fresh inputs in every repetition of the original");
  return OriginalTime{block.median, block.dispatch};
}

}  // namespace

Result<TrialInputs> prepare_inputs(Run& run, const Imported& imported) {
  const MemoryNeed need = memory_need(imported.problem.program);
  SOLSTICE_CHECK(check_memory(run, need));
  TrialInputs out;
  SOLSTICE_TRY(out.first, prepare(run, imported, {}));
  if (!out.first) return fail(Code::internal, "the oracle has no default inputs");
  out.cases = {out.first->judge};
  SOLSTICE_CHECK(prepare_second(run, imported, need, out));
  SOLSTICE_TRY(out.original, time_original(run));
  return out;
}

void keep_prepared(Run& run, Imported& imported, TrialInputs& inputs) {
  const ModuleOptions& module = run.options.module;
  if (!inputs.first || module.file.empty() || is_program(module.file)) return;
  run.engine.prepared.emplace(Prepared{module.file, module.class_name, module.mode, std::move(imported.problem),
                                       std::move(imported.meaning), std::move(inputs)});
}

}  // namespace solstice::flow
