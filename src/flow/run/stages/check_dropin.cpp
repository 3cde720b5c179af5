// The winner as a drop-in: written, put to KernelBench's check, and timed against the original in one Python process.
#include "flow/run/outcome/dropin.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "flow/run/report/measured.h"
#include "flow/run/state/run.h"
#include "flow/run/stages/headline.h"
#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

Status copy_winner(Session& state) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(state.builds->folder_of(state.winner->node), error)) {
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

Measured kernels_of(const Timing& timing) {
  Measured out = measured_of(timing, &TimingRound::candidate);
  out.clock = run::mean_clock(timing, &TimingRound::candidate_mhz);
  return out;
}

std::string why_failed(const OracleDropinCheck& check) {
  std::string why = check.state_dict == "loads" ? "" : "state_dict: " + check.state_dict;
  for (const OracleTrial& trial : check.trials) {
    if (!trial.passed) why = fmt::format("seed {}: {}", trial.seed, trial.reason);
  }
  return check.fallbacks.empty() ? why : "the drop-in fell back: " + check.fallbacks[0];
}

// What only the drop-in can be blamed for, or the room that it needs beside the original, is its refusal and no end of
// the run.
Result<std::string> declined_or_error(Session& state, const Error& error) {
  if (error.code == Code::candidate_failed || error.code == Code::too_large) return decline(state, error.message);
  return error;
}

constexpr run::RoundsRequest kTry{run::kHeadlineRepetitions, 3, run::kHeadlineRounds};

// The oracle says after each block that it is done; the clocks are read at once.
Result<std::vector<TimingRound>> compare_once(Session& state, const std::string& path) {
  std::vector<ClockReading> clocks;
  state.oracle->on_progress([&](const OracleProgress& news) {
    if (news.stage == "timed") clocks.push_back(state.judge->clocks());
  });
  const Result<OracleComparison> found = state.oracle->time_dropin(path, "trial", kTry);
  state.oracle->on_progress(nullptr);
  if (!found.ok()) return found.error();
  std::vector<std::string>& warnings = state.report.warnings;
  const std::string stale =
      "no other inputs in every repetition of the headline: there is no memory for them, or there are none";
  if (!found->fresh_content && std::find(warnings.begin(), warnings.end(), stale) == warnings.end())
    warnings.push_back(stale);
  return headline_rounds(*found, clocks);
}

void fill_headline(Session& state, const Timing& timing) {
  Headline& h = state.report.headline;
  h.original = measured_of(timing, &TimingRound::baseline);
  h.replacement = measured_of(timing, &TimingRound::candidate);
  h.original->clock = run::mean_clock(timing, &TimingRound::baseline_mhz);
  h.replacement->clock = run::mean_clock(timing, &TimingRound::candidate_mhz);
  h.speedup = timing.speedup;
  h.speedup_low = timing.interval999[0];
  h.speedup_high = timing.interval999[1];
  h.agreement = disagreement(*state.winner->timing, timing);
}

void warn(Session& state, std::string_view of, const Timing& timing) {
  if (!timing.note.empty()) state.report.warnings.push_back(fmt::format("{}: {}", of, timing.note));
}

std::string conclude_headline(Session& state, const Timing& timing) {
  warn(state, "the finalists' timing", *state.winner->timing);
  warn(state, "the headline's timing", timing);
  if (const std::string why = objection(timing); !why.empty()) {
    return decline(state, "the drop-in was not compared with the original: " + why);
  }
  fill_headline(state, timing);
  if (const std::string why = state.sol ? sol::violation(*state.sol, timing.candidate, sol::Cache::kWarm) : "";
      !why.empty()) {
    return decline(state, "the drop-in: " + why);
  }
  const std::string figure =
      fmt::format("{:.3g}x [{:.3g}, {:.3g}]", timing.speedup, timing.interval999[0], timing.interval999[1]);
  if (!timing.win) {
    return decline(state, fmt::format("the best verified candidate is {} of the original: no win beyond noise{}",
                                      figure, settled(timing) ? "" : "; " + run::clock_text(timing)));
  }
  state.report.outcome = RunOutcome::kFaster;
  return figure;
}

}  // namespace

std::filesystem::path dropin_path(const Session& state) {
  return state.fresh / (state.problem->subject.file ? "model_new.py" : "dropin.json");
}

Status check_dropin(Session& state) {
  if (!state.winner) return success();
  return stage(state, "drop-in", "the drop-in against the original", [&]() -> Result<std::string> {
    SOLSTICE_CHECK(copy_winner(state));
    const DropinParts parts{state.problem->graph, state.problem->imported, state.problem->subject, state.machine->arch,
                            state.options.frozen};
    SOLSTICE_CHECK(write_dropin(parts, state.fresh, state.out));
    state.report.headline.kernels = kernels_of(*state.winner->timing);
    state.report.headline.span = state.winner->span;
    state.report.headline.activities = state.winner->activities;
    state.report.headline.by_kernel = state.winner->by_kernel;
    const std::string path = dropin_path(state).string();
    const Result<OracleDropinCheck> check = state.oracle->check_dropin(path, state.options.numerics);
    if (!check.ok()) return declined_or_error(state, check.error());
    if (!check->passed || !check->fallbacks.empty())
      return decline(state, "the drop-in fails KernelBench's check: " + why_failed(*check));
    if (!check->strict) {
      state.report.warnings.push_back(
          fmt::format("the drop-in passes KernelBench's check with its tolerance of reduced precision (1e-2), "
                      "as `--numerics {}` asks, but not with that of fp32 (1e-4)",
                      state.options.numerics));
    }
    const Result<Timing> headline = time_in_tries([&] { return compare_once(state, path); });
    if (!headline.ok()) return declined_or_error(state, headline.error());
    return conclude_headline(state, *headline);
  });
}

}  // namespace solstice::flow
