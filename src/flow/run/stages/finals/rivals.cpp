#include "flow/run/stages/finals/rivals.h"

#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "flow/run/report/measured.h"
#include "flow/run/stages/prepare/start_rivals.h"

namespace solstice::flow {
namespace {

Baseline baseline_of(const OracleRival& rival, const OracleRival& eager) {
  Baseline row;
  row.name = rival.name;
  row.error = rival.error;
  row.note = rival.note;
  if (rival.seconds.empty()) return row;
  row.time = measured_of(rival.seconds);
  if (!eager.seconds.empty()) row.speedup = measured_of(eager.seconds).median / row.time->median;
  return row;
}

// The row of eager where the opponents were not timed.
Baseline eager_alone(const Measurable& measurable, const Chosen& chosen) {
  Baseline row;
  row.name = "PyTorch eager";
  row.speedup = 1;
  if (chosen.winner) {
    row.time = measured_of(*chosen.winner->timing, &TimingRound::baseline);
    row.note = "in turn with the finalists, under the judge's protocol";
  } else {
    row.time.emplace();
    row.time->median = measurable.inputs.original.time;
    row.note = "one block before the search, under the judge's protocol";
  }
  return row;
}

}  // namespace

std::string time_rivals(Run& run, const Baseline& eager) {
  const bool known = run.rivals_started || run.original.empty();
  const Status begun = known ? success() : start_rivals(run);
  // They are gone before the opponents are compiled.
  if (run.engine.judge && !run.options.several) run.engine.judge->dismiss_spares();
  const Result<OracleRivals> found =
      begun.ok() ? run.engine.oracle->rivals({10, 3, 4}) : Result<OracleRivals>(begun.error());
  if (!found.ok()) {
    run.report.baselines.push_back(eager);
    run.report.warnings.push_back("the other baselines were not measured: " + found.error().message);
    return found.error().message;
  }
  std::string text;
  for (const OracleRival& rival : found->rivals) {
    run.report.baselines.push_back(baseline_of(rival, found->rivals[0]));
    const Baseline& row = run.report.baselines.back();
    if (row.time)
      text += fmt::format("{}{} {:.4g} ms", text.empty() ? "" : ", ", row.name, row.time->median.value * 1e3);
  }
  return text;
}

Status time_rivals(Run& run, const Measurable& measurable, const Chosen& chosen) {
  if (measurable.inputs.original.time.value <= 0) return success();
  const Baseline eager = eager_alone(measurable, chosen);
  if (!times_rivals(run) || interrupted()) {
    run.report.baselines.push_back(eager);
    return success();
  }
  return stage(run, "baselines", kRivalsDetail, [&]() -> Result<std::string> { return time_rivals(run, eager); });
}

}  // namespace solstice::flow
