// What candidates are measured on: the cost models, the first GPU, or that and others of this host.
#include <fmt/format.h>

#include "base/time_text.h"
#include "flow/run/gpu/memory.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace {

constexpr int kRepetitions = 12;  // timed a trial

void warn_of(Session& state, const std::string& what) {
  state.report.warnings.push_back(what);
  state.progress.message(what);
}

// The judge of what broke is not used again: the next run of the engine starts another.
void leave_out(Session& state, int ordinal, const Error& why) {
  warn_of(state, fmt::format("GPU {} takes no further part in the search: {}", ordinal, why.text()));
  if (why.code == Code::too_large) return;
  for (FurtherGpu& gpu : state.engine.further) {
    if (gpu.ordinal == ordinal) gpu.judge.reset();
  }
}

std::vector<evaluate::FleetGpu> fleet_of(Session& state) {
  std::vector<evaluate::FleetGpu> out = {{state.engine.judge_request.ordinal, state.judge}};
  for (const FurtherGpu& gpu : state.engine.further) {
    if (gpu.judge)
      out.push_back({gpu.ordinal, gpu.judge});
    else
      warn_of(state, fmt::format("GPU {} takes no part in the search: {}", gpu.ordinal, gpu.why));
  }
  return out;
}

Status open_fleet(Session& state, const evaluate::GpuMeterOptions& meter) {
  const std::vector<evaluate::FleetGpu> gpus = fleet_of(state);
  const MemoryNeed need = memory_need(state.problem->program);
  const evaluate::GpuFleetOptions options{meter, need.given + need.results, &state.engine};
  std::vector<int> ordinals;
  for (const evaluate::FleetGpu& gpu : gpus) ordinals.push_back(gpu.ordinal);
  auto fleet = evaluate::make_gpu_fleet(
      *state.builds, gpus, state.trial_cases, options,
      [&state, ordinals](const evaluate::LeftOut& left) { leave_out(state, ordinals[left.device], left.why); });
  SOLSTICE_CHECK(fleet->open());
  state.fleet = fleet.get();
  state.device = std::move(fleet);
  return success();
}

// Candidates are measured on one GPU in this thread, on several in one for each.
Status open_gpus(Session& state) {
  state.builds = std::make_unique<evaluate::TrialBuilds>(state.setting(), *state.compiler, state.fresh / "trials");
  const evaluate::GpuMeterOptions meter{repetitions_for(*state.problem, kRepetitions),
                                        state.sol ? &*state.sol : nullptr};
  if (!state.engine.further.empty() && !state.options.searched) return open_fleet(state, meter);
  state.device = std::make_unique<evaluate::GpuDevice>(
      *state.builds, evaluate::GpuMeter(*state.builds, *state.judge, state.trial_cases, meter));
  return success();
}

std::string gpus_text(const Session& state) {
  if (!state.fleet) return "";
  return fmt::format("; {} GPUs measure candidates", state.fleet->size());
}

}  // namespace

Status open_device(Session& state) {
  return stage(state, "device", state.gpu ? "inputs, float64 oracle, baseline" : "model", [&]() -> Result<std::string> {
    SOLSTICE_CHECK(open_compiler(state));
    if (!state.gpu) {
      SOLSTICE_CHECK(fits(memory_need(state.problem->program), *state.machine));
      state.device = std::make_unique<evaluate::ModelDevice>(state.setting(), state.compiler.get());
      return std::string("no GPU: candidates are checked and compiled, times are predicted");
    }
    if (!state.trial_case) SOLSTICE_CHECK(prepare_trial(state));
    state.prepare_warnings = state.report.warnings;
    // A run before this one may have prepared them under `reference`.
    for (run::JudgeCase& test : state.trial_cases) {
      SOLSTICE_CHECK(measure_tf32(*state.oracle, *state.judge, *state.problem, test, state.report.warnings));
    }
    SOLSTICE_CHECK(open_gpus(state));
    return "PyTorch eager takes " + time_text(state.eager) + gpus_text(state);
  });
}

void close_fleet(Session& state) {
  for (FurtherGpu& gpu : state.engine.further) gpu.why.clear();
  if (!state.fleet) return;
  state.fleet->end();
  state.fleet = nullptr;
  for (const FurtherGpu& gpu : state.engine.further) {
    if (gpu.judge && !state.options.several) gpu.judge->dismiss_spares();
  }
}

}  // namespace solstice::flow
