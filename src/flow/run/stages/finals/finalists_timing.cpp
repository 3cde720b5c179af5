#include "flow/run/stages/finals/finalists_timing.h"

#include <fmt/format.h>

#include "evaluate/by_kernel.h"
#include "flow/run/report/measured.h"
#include "flow/run/stages/finals/contest.h"
#include "rt/load.h"

namespace solstice::flow {
namespace {

Contender contender(Run& run, const Measurable& measurable, Finalist& finalist) {
  Contender out;
  out.name = fmt::format("trial {}", finalist.node);
  const std::filesystem::path plan = measurable.builds->plan_of(finalist.node);
  out.slots_for = [&run, plan](int processes) { return run.engine.judge->slots_for(plan, processes); };
  out.hold = [&run, &measurable, &finalist, plan](int slots) -> Result<Verdict> {
    SOLSTICE_TRY(Verdict verdict, run.engine.judge->verify(plan, measurable.inputs.cases, slots));
    if (verdict.passed()) finalist.process = run.engine.judge->held();
    return verdict;
  };
  out.let_go = [&run, &finalist] {
    finalist.process.reset();
    run.engine.judge->release();
  };
  out.time = [&run, &measurable, &finalist](int repetitions) -> Result<std::vector<double>> {
    run.engine.judge->use(finalist.process);
    SOLSTICE_TRY(run::TimedBlock block, run.engine.judge->time_block(measurable.inputs.cases, repetitions));
    if (!block.verdict.passed())
      return fail(Code::candidate_failed, "a timed result is wrong: " + block.verdict.message);
    return std::move(block.seconds);
  };
  return out;
}

Status tell_by_kernel(Run& run, const Measurable& measurable, Finalist& finalist, const run::TimedBlock& block) {
  SOLSTICE_TRY(const rt::LoadedPlan loaded, rt::load_plan(measurable.builds->plan_of(finalist.node)));
  const Json& costs = run.tree.node(finalist.node).measurement->record.at("costs");
  Result<KernelTrace> trace = evaluate::by_kernel(loaded.plan, block, costs);
  if (trace.ok()) {
    finalist.by_kernel = std::move(trace->kernels);
  } else {
    run.report.warnings.push_back(
        fmt::format("trial {} has no times by kernel: {}", finalist.node, trace.error().message));
  }
  return success();
}

// One block under CUPTI, after all that is timed by events: the span without the launch's own latency, and what ran,
// which must be the same in every repetition.
Status trace_span(Run& run, const Measurable& measurable, Finalist& finalist, int repetitions) {
  run.engine.judge->use(finalist.process);
  SOLSTICE_TRY(run::TimedBlock block,
               run.engine.judge->time_block(measurable.inputs.cases, repetitions, run::Tracer::kCupti));
  if (block.verdict.passed()) {
    finalist.span = measured_of(block.seconds);
    SOLSTICE_CHECK(tell_by_kernel(run, measurable, finalist, block));
    finalist.activities = std::move(block.activities);
  } else if (evaluate::only_tracing_failed(block.verdict)) {
    run.report.warnings.push_back(fmt::format("trial {} was not traced: {}", finalist.node, block.verdict.message));
  } else {
    refuse(run.report, finalist, fmt::format("trial {}, traced: {}", finalist.node, block.verdict.message));
  }
  return success();
}

Status trace_spans(Run& run, const Measurable& measurable, const std::vector<Finalist*>& finalists, int repetitions) {
  SOLSTICE_TRY(const RunnerHello runner, run.engine.judge->runner());
  run.report.versions["CUPTI"] = runner.cupti ? runner.cupti_note : "none: " + runner.cupti_note;
  if (!runner.cupti) return success();
  for (Finalist* finalist : finalists) {
    if (finalist->timing && finalist->refused.empty())
      SOLSTICE_CHECK(trace_span(run, measurable, *finalist, repetitions));
  }
  return success();
}

}  // namespace

Status time_in_turn(Run& run, const Measurable& measurable, const std::vector<Finalist*>& finalists) {
  std::vector<Contender> contenders;
  for (Finalist* finalist : finalists) {
    SOLSTICE_CHECK(measurable.builds->build(run.tree.node(finalist->node)));
    contenders.push_back(contender(run, measurable, *finalist));
  }
  const run::TimeBlock original = [&](int repetitions) -> Result<std::vector<double>> {
    SOLSTICE_TRY(OracleBlock block, run.engine.oracle->time_eager("trial", {repetitions, 1}));
    return std::move(block.seconds);
  };
  run::AbbaOptions options;
  const bool to_rank = finalists.size() > 1 || !run.options.several;
  options.budget = Seconds(to_rank ? 1.5 : 0.4);  // it ranks them; the headline is measured on the drop-in
  options.most_rounds = to_rank ? 10 : 4;         // of one alone a bench only asks that its timed results are right
  options.repetitions = repetitions_for(measurable.imported.problem, options.repetitions);
  SOLSTICE_CHECK(hold_contest(
      contenders, run.engine.judge->options().slots, original, [&] { return run.engine.judge->clocks(); }, options));
  for (size_t i = 0; i < finalists.size(); ++i) {
    finalists[i]->timing = std::move(contenders[i].timing);
    if (!contenders[i].refused.empty()) refuse(run.report, *finalists[i], contenders[i].refused);
  }
  SOLSTICE_CHECK(trace_spans(run, measurable, finalists, options.repetitions));
  for (Finalist* finalist : finalists) finalist->process.reset();
  run.engine.judge->release();
  return success();
}

}  // namespace solstice::flow
