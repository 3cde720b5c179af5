// The winner as a drop-in: written, put to KernelBench's check, and timed against the original in one Python process.
#include <fmt/format.h>

#include "base/file.h"
#include "flow/dropin.h"
#include "flow/headline.h"
#include "flow/measured.h"
#include "flow/session.h"
#include "run/timing_stats.h"

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
  Measured out = measured_of(timing, &TimingRound::candidate);
  out.clock = mean_clock(timing);
  return out;
}

std::string why_failed(const OracleDropinCheck& check) {
  std::string why = check.state_dict == "loads" ? "" : "state_dict: " + check.state_dict;
  for (const OracleTrial& trial : check.trials) {
    if (!trial.passed) why = fmt::format("seed {}: {}", trial.seed, trial.reason);
  }
  return check.fallbacks.empty() ? why : "the drop-in fell back: " + check.fallbacks[0];
}

struct Compared {
  OracleComparison found;
  HeadlineClocks clocks;
};

// The oracle says after each block whose it was; the clocks are read at once.
Result<Compared> compare_once(Session& state, const std::string& path) {
  Compared out;
  state.oracle->on_progress([&](const OracleProgress& news) {
    if (news.stage == "timed") out.clocks.add(news.message == "original" ? 0 : 1, state.judge->clocks());
  });
  Result<OracleComparison> found = state.oracle->time_dropin(path, "trial", {10, 3, 6});
  state.oracle->on_progress(nullptr);
  if (!found.ok()) return std::move(found).error();
  out.found = std::move(found).value();
  return out;
}

bool wins(const OracleComparison& found, double clock_ratio) { return run::is_win(found.speedup, found.interval[0], clock_ratio); }

// Whether it does not matter what the clocks did.
bool settled(const Compared& compared) {
  return compared.clocks.objection().empty() && wins(compared.found, compared.clocks.ratio()) == wins(compared.found, 1);
}

// Slowdown and a change of clocks pass; a comparison that they decide is made again.
Result<Compared> compare(Session& state, const std::string& path) {
  constexpr int kAttempts = 3;
  for (int i = 1;; ++i) {
    SOLSTICE_TRY(Compared once, compare_once(state, path));
    if (settled(once) || i == kAttempts) return once;
  }
}

void fill_headline(Session& state, const Compared& compared) {
  const OracleComparison& found = compared.found;
  Headline& h = state.report.headline;
  h.original = measured_of(found.seconds[0]);
  h.replacement = measured_of(found.seconds[1]);
  h.original->clock = compared.clocks.mean(0);
  h.replacement->clock = compared.clocks.mean(1);
  h.speedup = found.speedup;
  h.speedup_low = found.interval[0];
  h.speedup_high = found.interval[1];
  h.agreement = disagreement(*state.winner->timing, found);
  const std::string& note = state.winner->timing->note;
  if (!note.empty()) state.report.warnings.push_back("the finalists' timing: " + note);
  if (const std::string unknown = compared.clocks.unknown(); !unknown.empty()) state.report.warnings.push_back(unknown);
}

std::string conclude_headline(Session& state, const Compared& compared) {
  const OracleComparison& found = compared.found;
  fill_headline(state, compared);
  if (const std::string why = compared.clocks.objection(); !why.empty()) {
    return decline(state, fmt::format("the best verified candidate is {:.3g}x of the original, but {}", found.speedup, why));
  }
  if (state.sol && sol::violates(*state.sol, Seconds(found.medians[1]), sol::Cache::kWarm)) {
    return decline(state, fmt::format("the drop-in's {:.3g} ms are below the io bound with inputs in L2, {:.3g} ms: the work cannot have been done",
                                      found.medians[1] * 1e3, state.sol->io_warm.value * 1e3));
  }
  const std::string difference = compared.clocks.difference(found.speedup);
  if (!difference.empty()) state.report.warnings.push_back(difference);
  if (!wins(found, compared.clocks.ratio())) {
    return decline(state, fmt::format("the best verified candidate is {:.3g}x [{:.3g}, {:.3g}] of the original: no win beyond noise{}",
                                      found.speedup, found.interval[0], found.interval[1], wins(found, 1) ? " and " + difference : ""));
  }
  state.report.outcome = RunOutcome::kFaster;
  return fmt::format("{:.3g}x [{:.3g}, {:.3g}]", found.speedup, found.interval[0], found.interval[1]);
}

}  // namespace

std::filesystem::path dropin_path(const Session& state) {
  return state.fresh / (state.problem->subject.file ? "model_new.py" : "dropin.json");
}

Status check_dropin(Session& state) {
  if (!state.winner) return success();
  return stage(state, "drop-in", "the drop-in against the original", [&]() -> Result<std::string> {
    SOLSTICE_CHECK(copy_winner(state));
    const DropinParts parts{state.problem->graph, state.problem->imported, state.problem->subject, state.hello.flags,
                            state.machine->arch, state.options.frozen};
    SOLSTICE_CHECK(write_dropin(parts, state.fresh, state.out));
    state.report.headline.kernels = kernels_of(*state.winner->timing);
    state.report.headline.span = state.winner->span;
    state.report.headline.activities = state.winner->activities;
    const std::string path = dropin_path(state).string();
    SOLSTICE_TRY(const OracleDropinCheck check, state.oracle->check_dropin(path));
    if (!check.passed || !check.fallbacks.empty()) return decline(state, "the drop-in fails KernelBench's check: " + why_failed(check));
    SOLSTICE_TRY(const Compared headline, compare(state, path));
    return conclude_headline(state, headline);
  });
}

}  // namespace solstice::flow
