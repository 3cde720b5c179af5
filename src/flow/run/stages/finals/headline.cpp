#include "flow/run/stages/finals/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "base/time_text.h"
#include "run/round.h"
#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

constexpr size_t kBlocks = 4;  // of a round

bool possible(const OracleTimedBlock& block) {
  return !block.seconds.empty() &&
         std::all_of(block.seconds.begin(), block.seconds.end(), [](double s) { return std::isfinite(s) && s > 0; });
}

size_t timed_results(const OracleComparison& found) {
  size_t out = 0;
  for (const OracleTimedBlock& block : found.blocks) out += block.side == "drop-in" ? block.seconds.size() : 0;
  return out;
}

TimingRound round_of(std::span<const OracleTimedBlock> blocks, std::span<const ClockReading> clocks) {
  TimingRound out;
  for (size_t i = 0; i < kBlocks; ++i) {
    run::add_block(out, blocks[i].side == "original" ? run::Side::kBaseline : run::Side::kCandidate, blocks[i].seconds,
                   clocks[i]);
  }
  return out;
}

}  // namespace

double timed_limit(const OracleDropinCheck& check) {
  constexpr double kMargin = 4;
  double worst = 0;
  for (const OracleTrial& trial : check.trials) worst = std::max(worst, trial.max_excess.value_or(0));
  return std::max(1.0, kMargin * worst);
}

Result<std::vector<TimingRound>> headline_rounds(const OracleComparison& found, const std::vector<ClockReading>& clocks,
                                                 double limit) {
  constexpr const char* kOrder[kBlocks] = {"original", "drop-in", "drop-in", "original"};
  const auto broken = [](std::string what) {
    return fail(Code::process_failed, "the oracle broke its protocol: " + std::move(what));
  };
  if (!found.fallbacks.empty()) {
    return fail(Code::candidate_failed,
                "the drop-in went back to the original while it was timed: " + found.fallbacks[0]);
  }
  const size_t n = found.blocks.size();
  if (n == 0 || n % kBlocks != 0 || clocks.size() != n)
    return broken(fmt::format("{} timed blocks, {} of them announced", n, clocks.size()));
  for (size_t i = 0; i < n; ++i) {
    if (found.blocks[i].side != kOrder[i % kBlocks])
      return broken(fmt::format("timed block {} is not of the {}", i + 1, kOrder[i % kBlocks]));
    if (!possible(found.blocks[i]))
      return broken(fmt::format("timed block {} has no times, or impossible ones", i + 1));
  }
  if (const size_t timed = timed_results(found); found.compared < 0 || static_cast<size_t>(found.compared) != timed)
    return broken(fmt::format("{} timed results of the drop-in, {} of them compared", timed, found.compared));
  if (!(found.excess && *found.excess <= limit)) {
    return fail(Code::candidate_failed,
                fmt::format("what the drop-in returned while it was timed is not the result of the inputs that it was "
                            "given: {} the limit of KernelBench's check; {:.3g} times were allowed",
                            found.excess ? fmt::format("it is {:.3g} times", *found.excess) : "no multiple of", limit));
  }
  std::vector<TimingRound> out;
  for (size_t i = 0; i < n; i += kBlocks)
    out.push_back(round_of(std::span(found.blocks).subspan(i, kBlocks), std::span(clocks).subspan(i, kBlocks)));
  return out;
}

std::string objection(const Timing& headline) {
  const auto dropped = std::count_if(headline.rounds.begin(), headline.rounds.end(),
                                     [](const TimingRound& round) { return round.discarded; });
  if (2 * static_cast<size_t>(dropped) <= headline.rounds.size()) return "";
  return fmt::format("the GPU was throttled in {} of {} rounds ({})", dropped, headline.rounds.size(),
                     fmt::join(headline.throttle, ", "));
}

bool settled(const Timing& headline) {
  return objection(headline).empty() && (headline.win || !run::is_win(headline.speedup, headline.interval999[0], 1));
}

bool noisy(const Timing& headline) {
  return !headline.win && headline.speedup >= run::kLeastEffect && headline.interval999[0] <= 1;
}

Result<Timing> time_in_tries(bool kernels_won, const HeadlineTry& once) {
  constexpr int kForClocks = 3, kForNoise = 6;
  Timing out;
  out.method = "KernelBench";
  for (int made = 1; made <= kForNoise; ++made) {
    SOLSTICE_TRY(std::vector<TimingRound> rounds, once());
    std::move(rounds.begin(), rounds.end(), std::back_inserter(out.rounds));
    run::conclude(out);
    const bool again = (kernels_won && noisy(out)) || (!settled(out) && made < kForClocks);
    if (!again) break;
  }
  return out;
}

std::string impossible(const Timing& judge, const Timing& headline) {
  constexpr double kLeast = 0.9, kGrain = 1e-6;  // launches, repetitions and clocks differ by less
  if (headline.candidate.value + kGrain >= kLeast * judge.candidate.value) return "";
  return fmt::format(
      "it took {}, but its kernels take {} by themselves: with what an earlier call left behind they have less to do",
      time_text(headline.candidate), time_text(judge.candidate));
}

std::string disagreement(const Timing& judge, const Timing& headline) {
  const double ratio = headline.speedup / judge.speedup;
  if (ratio > 0.95 && ratio < 1.05) return "";
  const double original = headline.baseline / judge.baseline, replacement = headline.candidate / judge.candidate;
  const bool first = std::abs(std::log(original)) > std::abs(std::log(replacement));
  return fmt::format(
      "the judge has {} for the original and {} for the kernels ({:.3g}x), Python has {} for `Model.forward` and {} "
      "for "
      "`ModelNew.forward` ({:.3g}x). It is the {} that differs most, by {:+.1f} % in Python, the other by {:+.1f} %",
      time_text(judge.baseline), time_text(judge.candidate), judge.speedup, time_text(headline.baseline),
      time_text(headline.candidate), headline.speedup, first ? "original" : "replacement",
      100 * ((first ? original : replacement) - 1), 100 * ((first ? replacement : original) - 1));
}

}  // namespace solstice::flow
