// The winner as a drop-in: written, put to KernelBench's check, and timed against the original in one Python process.
#include <fmt/format.h>

#include "base/file.h"
#include "flow/dropin.h"
#include "flow/measured.h"
#include "flow/session.h"

namespace solstice::flow {
namespace {

Status copy_winner(Session& state) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(state.gpu_device->folder_of(state.winner->node), error)) {
    SOLSTICE_TRY(const std::string bytes, read_file(entry.path()));
    SOLSTICE_CHECK(write_file(state.fresh / entry.path().filename(), bytes));
  }
  if (error) return fail(Code::io_error, "cannot read the winner's folder: " + error.message());
  return success();
}

std::string decline(Session& state, std::string why) {
  std::error_code ignored;  // what is not there need not be removed
  for (const char* name : {"model_new.py", "dropin.json"}) std::filesystem::remove(state.fresh / name, ignored);
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason = std::move(why);
  return state.report.reason;
}

// The judge's speedup and the headline's should agree: the same kernels, two timers.
std::string agreement(const Timing& timing, const OracleComparison& headline) {
  const double ratio = headline.speedup / timing.speedup;
  if (ratio > 0.95 && ratio < 1.05) return "";
  return fmt::format("the judge measured {:.3g}x (cold L2, fresh content, kernels without Python), ModelNew.forward {:.3g}x: "
                     "{:.1f} us of the drop-in's {:.1f} us are outside the kernels",
                     timing.speedup, headline.speedup, (headline.medians[1] - timing.candidate.value) * 1e6,
                     headline.medians[1] * 1e6);
}

// Mean clock over the rounds that count, in Hz.
Hertz mean_clock(const Timing& timing) {
  double sum = 0;
  int rounds = 0;
  for (const TimingRound& round : timing.rounds) {
    if (round.discarded) continue;
    sum += round.candidate_mhz * 1e6;
    ++rounds;
  }
  return Hertz(rounds ? sum / rounds : 0);
}

Measured kernels_of(const Timing& timing) {
  std::vector<double> seconds;
  for (const TimingRound& round : timing.rounds) {
    if (!round.discarded) seconds.insert(seconds.end(), round.candidate.begin(), round.candidate.end());
  }
  Measured out = measured_of(seconds);
  out.clock = mean_clock(timing);
  return out;
}

// A module given as an object has no file to make a drop-in of; solstice.optimize() attaches the kernels to it, and the
// judge's own comparison decides.
std::string judge_alone(Session& state) {
  const Timing& timing = *state.winner->timing;
  Headline& h = state.report.headline;
  h.speedup = timing.speedup;
  h.speedup_low = timing.interval999[0];
  h.speedup_high = timing.interval999[1];
  h.agreement = "measured by the judge; a module without a source file has no model_new.py to time";
  if (!timing.win) return decline(state, fmt::format("the best verified candidate is {:.3g}x of the original: {}", timing.speedup, timing.note));
  state.report.outcome = RunOutcome::kFaster;
  return fmt::format("{:.3g}x", timing.speedup);
}

std::string why_failed(const OracleDropinCheck& check) {
  std::string why = check.state_dict == "loads" ? "" : "state_dict: " + check.state_dict;
  for (const OracleTrial& trial : check.trials) {
    if (!trial.passed) why = fmt::format("seed {}: {}", trial.seed, trial.reason);
  }
  return check.fallbacks.empty() ? why : "the drop-in fell back: " + check.fallbacks[0];
}

std::string conclude_headline(Session& state, const OracleComparison& found) {
  Headline& h = state.report.headline;
  h.original = measured_of(found.seconds[0]);
  h.replacement = measured_of(found.seconds[1]);
  // Read once, right after: both sides ran in turn until then.
  h.original->clock = h.replacement->clock = Hertz(state.judge->clocks().sm_mhz * 1e6);
  h.speedup = found.speedup;
  h.speedup_low = found.interval[0];
  h.speedup_high = found.interval[1];
  h.agreement = agreement(*state.winner->timing, found);
  if (found.interval[0] <= 1.0 || found.speedup < 1.005) {
    return decline(state, fmt::format("the best verified candidate is {:.3g}x [{:.3g}, {:.3g}] of the original: no win beyond noise",
                                      found.speedup, found.interval[0], found.interval[1]));
  }
  state.report.outcome = RunOutcome::kFaster;
  return fmt::format("{:.3g}x [{:.3g}, {:.3g}]", found.speedup, found.interval[0], found.interval[1]);
}

}  // namespace

Status check_dropin(Session& state) {
  if (!state.winner) return success();
  return stage(state, "drop-in", "model_new.py against the original", [&]() -> Result<std::string> {
    SOLSTICE_CHECK(copy_winner(state));
    const DropinParts parts{state.problem->graph, state.problem->imported, state.problem->subject, state.hello.flags,
                            state.machine->arch, state.options.frozen};
    SOLSTICE_CHECK(write_dropin(parts, state.fresh, state.out));
    state.report.headline.kernels = kernels_of(*state.winner->timing);
    if (!state.problem->subject.file) return judge_alone(state);
    const std::string path = (state.fresh / "model_new.py").string();
    SOLSTICE_TRY(const OracleDropinCheck check, state.oracle->check_dropin(path));
    if (!check.passed || !check.fallbacks.empty()) return decline(state, "the drop-in fails KernelBench's check: " + why_failed(check));
    SOLSTICE_TRY(const OracleComparison headline, state.oracle->time_dropin(path, "trial", {10, 3, 6}));
    return conclude_headline(state, headline);
  });
}

}  // namespace solstice::flow
