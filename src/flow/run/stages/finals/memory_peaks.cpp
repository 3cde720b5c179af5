#include "flow/run/stages/finals/memory_peaks.h"

#include "flow/run/stages/finals/check_dropin.h"

namespace solstice::flow {

void measure_memory(Run& run, const Problem& problem) {
  if (run.report.outcome != RunOutcome::kFaster) return;
  run::OracleClient& oracle = *run.engine.oracle;
  const Status measured = stage(run, "memory", "peaks of both", [&]() -> Result<std::string> {
    SOLSTICE_TRY(const OracleMemory original, oracle.memory("trial"));
    SOLSTICE_TRY(const OracleMemory replacement, oracle.memory("trial", dropin_path(run, problem).string()));
    run.report.original_peak_memory = original.peak;
    run.report.replacement_peak_memory = replacement.peak;
    return std::string();
  });
  if (!measured.ok()) run.report.warnings.push_back("peak memory was not measured: " + measured.error().message);
}

}  // namespace solstice::flow
