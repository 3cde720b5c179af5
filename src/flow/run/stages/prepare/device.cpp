#include "flow/run/stages/prepare/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "evaluate/gpu_device.h"
#include "evaluate/model_device.h"
#include "flow/run/gpu/memory.h"
#include "flow/run/problem/scaled.h"
#include "flow/run/stages/prepare/compiler.h"
#include "flow/run/stages/prepare/inputs.h"
#include "search/counts.h"

namespace solstice::flow {
namespace {

constexpr int kRepetitions = 12;  // timed a trial

// The judge of a GPU that broke is not used again: the next run of the engine starts another.
void leave_out(Run& run, int ordinal, const Error& why) {
  warn_now(run, fmt::format("GPU {} takes no further part in the search: {}", ordinal, why.text()));
  if (why.code == Code::too_large) return;
  for (FurtherGpu& gpu : run.engine.further) {
    if (gpu.ordinal == ordinal) gpu.judge.reset();
  }
}

std::vector<evaluate::FleetGpu> gpus_of_fleet(Run& run) {
  std::vector<evaluate::FleetGpu> out = {{run.engine.judge_request.ordinal, run.engine.judge}};
  for (const FurtherGpu& gpu : run.engine.further) {
    if (gpu.judge)
      out.push_back({gpu.ordinal, gpu.judge});
    else
      warn_now(run, fmt::format("GPU {} takes no part in the search: {}", gpu.ordinal, gpu.why));
  }
  return out;
}

Status open_fleet(Run& run, const evaluate::GpuMeterOptions& meter, Measurable& out) {
  const std::vector<evaluate::FleetGpu> gpus = gpus_of_fleet(run);
  const MemoryNeed need = memory_need(out.imported.problem.program);
  const evaluate::GpuFleetOptions options{meter, need.given + need.results, &run.engine};
  std::vector<int> ordinals;
  for (const evaluate::FleetGpu& gpu : gpus) ordinals.push_back(gpu.ordinal);
  auto fleet = evaluate::make_gpu_fleet(
      *out.builds, gpus, out.inputs.cases, options,
      [&run, ordinals](const evaluate::LeftOut& left) { leave_out(run, ordinals[left.device], left.why); });
  SOLSTICE_CHECK(fleet->open());
  out.fleet = fleet.get();
  out.device = std::move(fleet);
  return success();
}

// A prompt that shows counters as they are shows all of them.
evaluate::DiagnosisOptions diagnosis_of(const RunOptions& options) {
  evaluate::DiagnosisOptions out = options.diagnosis;
  out.all_counters |= options.agent.wanted() && options.agent.terms.feedback == agents::Feedback::kRaw;
  return out;
}

evaluate::GpuMeterOptions meter_of(const Run& run, const Measurable& measurable) {
  return {repetitions_for(measurable.imported.problem, kRepetitions), &measurable.bounds.sol,
          diagnosis_of(run.options)};
}

// Further cases are the oracle's, which serves one thread.
void open_first_gpu(Run& run, Measurable& out) {
  evaluate::GpuMeterOptions options = meter_of(run, out);
  options.further = [&run, &out](const Verdict& passed) {
    return verify_scaled(*run.engine.oracle, *run.engine.judge, out.imported.problem, *out.inputs.first, passed);
  };
  out.device = std::make_unique<evaluate::GpuDevice>(
      *out.builds, evaluate::GpuMeter(*out.builds, *run.engine.judge, out.inputs.cases, std::move(options)),
      [&run] { return is_asked(run.search_is_over); });
}

// Candidates are measured on one GPU in this thread, on several in one for each.
Status open_gpus(Run& run, Measurable& out) {
  out.builds = std::make_unique<evaluate::TrialBuilds>(setting_of(run, out.opened, out.imported), *run.engine.compiler,
                                                       run.folders.fresh / "trials",
                                                       [&run] { return search::fastest_measured(run.tree); });
  if (!run.engine.further.empty() && !run.options.search.searched) return open_fleet(run, meter_of(run, out), out);
  open_first_gpu(run, out);
  return success();
}

std::string gpus_text(const Measurable& measurable) {
  if (!measurable.fleet) return "";
  return fmt::format("; {} GPUs measure candidates", measurable.fleet->size());
}

Status open_model(Run& run, Measurable& out) {
  SOLSTICE_CHECK(fits(memory_need(out.imported.problem.program), out.opened.machine));
  evaluate::Setting setting = setting_of(run, out.opened, out.imported);
  setting.stop = [&run] { return is_asked(run.search_is_over); };
  out.device = std::make_unique<evaluate::ModelDevice>(std::move(setting), run.engine.compiler.get(),
                                                       run.options.diagnosis, &out.bounds.sol);
  return success();
}

}  // namespace

Result<std::unique_ptr<Measurable>> open_device(Run& run, Opened& opened, Imported& imported, const Bounds& bounds) {
  std::unique_ptr<Measurable> out(new Measurable{opened, imported, bounds});
  const char* detail = opened.gpu ? "inputs, float64 oracle, baseline" : "model";
  const Status done = stage(run, "device", detail, [&]() -> Result<std::string> {
    SOLSTICE_CHECK(open_compiler(run, opened));
    if (!opened.gpu) {
      SOLSTICE_CHECK(open_model(run, *out));
      return std::string("candidates are checked and compiled, times are predicted");
    }
    if (!imported.inputs.first) {
      SOLSTICE_TRY(imported.inputs, prepare_inputs(run, imported));
    }
    out->inputs = std::exchange(imported.inputs, {});
    out->inputs.warnings = run.report.warnings;
    // A run before this one may have prepared them under `reference`.
    for (run::JudgeCase& test : out->inputs.cases) {
      SOLSTICE_CHECK(measure_tf32(*run.engine.oracle, *run.engine.judge, imported.problem, test, run.report.warnings));
    }
    SOLSTICE_CHECK(open_gpus(run, *out));
    return "PyTorch eager takes " + time_text(out->inputs.original.time) + gpus_text(*out);
  });
  if (done.ok()) return out;
  imported.inputs = std::move(out->inputs);
  return done.error();
}

void close_fleet(Run& run, Measurable* measurable) {
  for (FurtherGpu& gpu : run.engine.further) gpu.why.clear();
  if (!measurable || !measurable->fleet) return;
  measurable->fleet->end();
  measurable->fleet = nullptr;
  open_first_gpu(run, *measurable);
  for (const FurtherGpu& gpu : run.engine.further) {
    if (gpu.judge && !run.options.several) gpu.judge->dismiss_spares();
  }
}

int repetitions_for(const Problem& problem, int usual) {
  constexpr double kEasy = 4e9;  // bytes of a problem that a repetition handles in about ten milliseconds
  const double share = kEasy / std::max(memory_need(problem.program).total().value, 1.0);
  return std::clamp(static_cast<int>(usual * share), 3, usual);
}

Standing standing_of(const Run& run, const Measurable& measurable) {
  Standing s;
  s.trials = trials_done(run.tree);
  s.trials_allowed = run.options.search.trials;
  if (measurable.inputs.original.time.value > 0) s.baseline = measurable.inputs.original.time;
  if (measurable.bounds.practical().value > 0) s.sol = measurable.bounds.practical();
  if (const search::Node* best = run.tree.best()) s.best = best->measurement->time;
  s.predicted = !measurable.opened.gpu;
  return s;
}

}  // namespace solstice::flow
