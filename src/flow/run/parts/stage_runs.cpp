#include "flow/run/parts/stage_runs.h"

#include "flow/run/state/stored_runs.h"

namespace solstice::flow {

Result<StageRuns> stage_runs(store::Store& store, const std::string& run) {
  StageRuns out;
  SOLSTICE_TRY(const std::vector<store::RunSize> all, store.sizes());  // the oldest first
  for (const store::RunSize& each : all) {
    if (!each.part || each.parent != run || each.running) continue;
    SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(each.id));
    const RunRecord& record = loaded.run;
    StageRun& found = out[{record.problem, record.problem_key}];
    found = {record.id, std::nullopt};
    if (record.state == RunState::kFinished) found.over = stop_named(record.summary.at("stop").as_string());
  }
  return out;
}

}  // namespace solstice::flow
