#include "flow/run/stages/finals/check_dropin.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "flow/run/outcome/dropin.h"
#include "flow/run/report/measured.h"
#include "flow/run/stages/finals/headline.h"
#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

constexpr run::RoundsRequest kTry{run::kHeadlineRepetitions, 3, run::kHeadlineRounds};

Status copy_winner(Run& run, const std::filesystem::path& trial) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(trial, error)) {
    SOLSTICE_TRY(const std::string bytes, read_file(entry.path()));
    SOLSTICE_CHECK(write_file(run.folders.fresh / entry.path().filename(), bytes));
  }
  if (error) return fail(Code::io_error, "cannot read the winner's folder: " + error.message());
  return success();
}

Measured kernels_of(const Timing& timing) {
  Measured out = measured_of(timing, &TimingRound::candidate);
  out.clock = run::mean_clock(timing, &TimingRound::candidate_mhz);
  return out;
}

void fill_headline(Run& run, const Finalist& winner, const Timing& timing) {
  Headline& h = run.report.headline;
  h.original = measured_of(timing, &TimingRound::baseline);
  h.replacement = measured_of(timing, &TimingRound::candidate);
  h.original->clock = run::mean_clock(timing, &TimingRound::baseline_mhz);
  h.replacement->clock = run::mean_clock(timing, &TimingRound::candidate_mhz);
  h.speedup = timing.speedup;
  h.speedup_low = timing.interval999[0];
  h.speedup_high = timing.interval999[1];
  h.agreement = disagreement(*winner.timing, timing);
}

void warn(Run& run, std::string_view of, const Timing& timing) {
  if (!timing.note.empty()) run.report.warnings.push_back(fmt::format("{}: {}", of, timing.note));
}

std::string conclude_headline(Run& run, const Bounds& bounds, const Finalist& winner, const Timing& timing) {
  warn(run, "the finalists' timing", *winner.timing);
  warn(run, "the headline's timing", timing);
  if (const std::string why = objection(timing); !why.empty()) {
    return decline(run, "the drop-in was not compared with the original: " + why);
  }
  fill_headline(run, winner, timing);
  if (const std::string why = sol::violation(bounds.sol, timing.candidate, sol::Cache::kWarm); !why.empty()) {
    return decline(run, "the drop-in: " + why);
  }
  if (const std::string why = impossible(*winner.timing, timing); !why.empty())
    return decline(run, "the drop-in's time is void: " + why);
  const std::string figure =
      fmt::format("{:.3g}x [{:.3g}, {:.3g}]", timing.speedup, timing.interval999[0], timing.interval999[1]);
  if (!timing.win) {
    return decline(run, fmt::format("the best verified candidate is {} of the original: no win beyond noise{}", figure,
                                    settled(timing) ? "" : "; " + run::clock_text(timing)));
  }
  run.report.outcome = RunOutcome::kFaster;
  return figure;
}

void fill_kernels(Headline& headline, const Finalist& winner) {
  headline.kernels = kernels_of(*winner.timing);
  headline.span = winner.span;
  headline.activities = winner.activities;
  headline.by_kernel = winner.by_kernel;
}

// The check takes the original for the truth. Where that is further from the float64 result than the check allows, and
// the drop-in is not, the policy decides, which the winner met in the full verification.
bool fails_for_original(const OracleDropinCheck& check) {
  return check.state_dict == "loads" && check.fallbacks.empty() &&
         std::all_of(check.trials.begin(), check.trials.end(),
                     [](const OracleTrial& trial) { return trial.passed || trial.for_original(); });
}

void warn_of_constant(Run& run, const OracleDropinCheck& check) {
  if (check.constant.empty()) return;
  const char* in_place = check.constant == "zeros" ? "zeros pass" : "the result for other inputs passes";
  run.report.warnings.push_back(
      fmt::format("flawed: {} KernelBench's check in place of the result, so that the check tells little; a speedup "
                  "may come from work that the result does not need",
                  in_place));
}

}  // namespace

std::string decline(Run& run, std::string why) {
  remove_dropin(run.folders.fresh);
  run.report.outcome = RunOutcome::kNotFaster;
  run.report.reason = std::move(why);
  return run.report.reason;
}

std::string why_failed(const OracleDropinCheck& check) {
  std::string why = check.state_dict == "loads" ? "" : "state_dict: " + check.state_dict;
  for (const OracleTrial& trial : check.trials) {
    if (trial.passed) continue;
    why = fmt::format("seed {}: {}", trial.seed, trial.reason);
    if (trial.original_off && trial.new_off) {
      why += fmt::format("; from the float64 result the original is {:.2g}, the drop-in {:.2g} times the limit away",
                         *trial.original_off, *trial.new_off);
    }
  }
  return check.fallbacks.empty() ? why : "the drop-in fell back: " + check.fallbacks[0];
}

std::optional<std::string> refusal_of(Run& run, const OracleDropinCheck& check, Verified verified) {
  const std::string& numerics = run.options.terms.numerics;
  warn_of_constant(run, check);
  if (!check.passed || !check.fallbacks.empty()) {
    const std::string why = "KernelBench's check: " + why_failed(check);
    if (verified != Verified::kWhole || !fails_for_original(check)) return "the drop-in fails " + why;
    run.report.headline.check = fmt::format("fails {}: `--numerics {}` decides, and it passed", why, numerics);
    run.report.warnings.push_back("the drop-in " + run.report.headline.check);
  } else if (!check.strict) {
    run.report.warnings.push_back(
        fmt::format("the drop-in passes KernelBench's check with its tolerance of reduced precision (1e-2), "
                    "as `--numerics {}` asks, but not with that of fp32 (1e-4)",
                    numerics));
  }
  return std::nullopt;
}

Result<std::string> declined_or_error(Run& run, const Error& error) {
  if (error.code == Code::candidate_failed || error.code == Code::too_large) return decline(run, error.message);
  return error;
}

// The oracle says after each block that it is done; the clocks are read at once.
Result<std::vector<TimingRound>> compare_once(Run& run, const std::string& path, double limit,
                                              const ReadClocks& clocks) {
  std::vector<ClockReading> read;
  run.engine.oracle->on_progress([&](const OracleProgress& news) {
    if (news.stage == "timed") read.push_back(clocks());
  });
  const Result<OracleComparison> found =
      run.engine.oracle->time_dropin(path, "trial", run.options.terms.numerics, kTry);
  run.engine.oracle->on_progress(nullptr);
  if (!found.ok()) return found.error();
  std::vector<std::string>& warnings = run.report.warnings;
  const std::string stale =
      "no other inputs in every repetition of the headline: there is no memory for them, or there are none";
  if (!found->fresh_content && std::find(warnings.begin(), warnings.end(), stale) == warnings.end())
    warnings.push_back(stale);
  return headline_rounds(*found, read, limit);
}

std::filesystem::path dropin_path(const Run& run, const Problem& problem) {
  return run.folders.fresh / (problem.subject.file ? "model_new.py" : "dropin.json");
}

Status check_dropin(Run& run, const Measurable& measurable, const Chosen& chosen) {
  if (!chosen.winner) return success();
  const Finalist& winner = *chosen.winner;
  return stage(run, "drop-in", "the drop-in against the original", [&]() -> Result<std::string> {
    const Problem& problem = measurable.imported.problem;
    const CandidateTerms& terms = run.options.terms;
    SOLSTICE_CHECK(copy_winner(run, measurable.builds->folder_of(winner.node)));
    DropinParts parts{problem.graph, problem.imported, problem.subject, measurable.opened.machine.arch, terms.frozen};
    parts.left_out = !winner.left_out.empty();
    run.report.left_out = winner.left_out;
    SOLSTICE_CHECK(write_dropin(parts, run.folders.fresh, run.folders.out));
    fill_kernels(run.report.headline, winner);
    const std::string path = dropin_path(run, problem).string();
    const Result<OracleDropinCheck> check = run.engine.oracle->check_dropin(path, terms.numerics);
    if (!check.ok()) return declined_or_error(run, check.error());
    if (std::optional<std::string> why = refusal_of(run, *check, Verified::kWhole))
      return decline(run, std::move(*why));
    const double limit = timed_limit(*check);
    const ReadClocks clocks = [&run] { return run.engine.judge->clocks(); };
    const Result<Timing> headline =
        time_in_tries(winner.timing->win, [&] { return compare_once(run, path, limit, clocks); });
    if (!headline.ok()) return declined_or_error(run, headline.error());
    return conclude_headline(run, measurable.bounds, winner, *headline);
  });
}

}  // namespace solstice::flow
