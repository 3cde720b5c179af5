// The opponents beside plain eager: eager with TF32 allowed, and torch.compile. They are timed in one process, in
// blocks in turn with eager, under the protocol of the headline.
#include <fmt/format.h>

#include <thread>

#include "base/process/interrupt.h"
#include "flow/run/report/measured.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace {

bool wanted(const Session& state) { return state.gpu && state.options.baselines; }

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

// What is known of eager where the opponents were not timed.
Baseline eager_alone(const Session& state) {
  Baseline row;
  row.name = "PyTorch eager";
  row.speedup = 1;
  if (state.winner) {
    row.time = measured_of(*state.winner->timing, &TimingRound::baseline);
    row.note = "in turn with the finalists, under the judge's protocol";
  } else {
    row.time.emplace();
    row.time->median = state.eager;
    row.note = "one block before the search, under the judge's protocol";
  }
  return row;
}

// Opponents that the oracle cannot start ahead are prepared when they are asked for, and fail there if they must. An
// oracle that is gone, or was given up, is another matter.
Status begin_rivals(Session& state) {
  const Status started = state.oracle->start_rivals(state.options.file.string(), state.options.class_name);
  state.rivals = true;
  if (started.ok()) return success();
  for (const Code gone : {Code::interrupted, Code::deadline, Code::process_failed}) {
    if (started.error().code == gone) return started;
  }
  state.report.warnings.push_back("the other baselines could not be prepared beside: " + started.error().message);
  return success();
}

}  // namespace

Status start_rivals(Session& state) {
  constexpr unsigned kFewProcessors = 4;  // with fewer, importing a compiler would be felt in what is timed meanwhile
  if (!wanted(state) || state.options.file.empty() || std::thread::hardware_concurrency() < kFewProcessors)
    return success();
  return begin_rivals(state);
}

// What cannot be measured is a row that says so.
Status time_rivals(Session& state) {
  if (state.eager.value <= 0) return success();
  if (!wanted(state) || interrupted()) {
    state.report.baselines.push_back(eager_alone(state));
    return success();
  }
  return stage(state, "baselines", "eager, TF32, torch.compile", [&]() -> Result<std::string> {
    const Status begun = state.rivals || state.options.file.empty() ? success() : begin_rivals(state);
    if (!state.options.several) state.judge->dismiss_spares();  // they are gone before the opponents are compiled
    const Result<OracleRivals> found =
        begun.ok() ? state.oracle->rivals({10, 3, 4}) : Result<OracleRivals>(begun.error());
    if (!found.ok()) {
      state.report.baselines.push_back(eager_alone(state));
      state.report.warnings.push_back("the other baselines were not measured: " + found.error().message);
      return found.error().message;
    }
    std::string text;
    for (const OracleRival& rival : found->rivals) {
      state.report.baselines.push_back(baseline_of(rival, found->rivals[0]));
      const Baseline& row = state.report.baselines.back();
      if (row.time)
        text += fmt::format("{}{} {:.4g} ms", text.empty() ? "" : ", ", row.name, row.time->median.value * 1e3);
    }
    return text;
  });
}

}  // namespace solstice::flow
