#include "search/replay/stopping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"

namespace solstice::search {
namespace {

bool is_used_up(const TotalBudget& budget, size_t trials, double seconds) {
  return (budget.trials && trials >= static_cast<size_t>(*budget.trials)) ||
         (budget.seconds && seconds >= *budget.seconds);
}

std::optional<double> saved(double cost, double fixed) {
  return fixed > 0 ? std::optional(1 - cost / fixed) : std::nullopt;
}

}  // namespace

std::string text_of(const TotalBudget& budget) {
  std::vector<std::string> parts;
  if (budget.trials) parts.push_back(counted(*budget.trials, "trial"));
  if (budget.seconds) parts.push_back(fmt::format("{:g} s", *budget.seconds));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string text_of(const ReplayRule& rule) {
  std::vector<std::string> parts;
  if (rule.stop.eps) parts.push_back(fmt::format("eps {:g}", *rule.stop.eps));
  if (rule.stop.window) parts.push_back(fmt::format("window {}", *rule.stop.window));
  if (rule.stop.roi) parts.push_back(fmt::format("roi {:g}", *rule.stop.roi));
  if (rule.budget.trials || rule.budget.seconds) parts.push_back(text_of(rule.budget));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

size_t stop_of(const Sequence& sequence, const ReplayRule& rule) {
  const size_t since = sequence.measured_since;
  Watch watch(rule.stop, sequence.original, sequence.bound, sequence.points[since].best);
  for (size_t at = 1; at < sequence.trials(); ++at) {
    const Point& now = sequence.points[at];
    if (at > since) watch.add(now.best);
    if (watch.ends() || is_used_up(rule.budget, at, now.spent.seconds)) return at;
  }
  return sequence.trials();
}

size_t hindsight_stop(const Sequence& sequence) {
  const double enough = sequence.last().speedup * (1 - kNoise);
  const auto found = std::find_if(sequence.points.begin(), sequence.points.end(), [&](const Point& p) {
    const bool something = sequence.original.value > 0 || p.best.time.value > 0 || sequence.last().best.time.value <= 0;
    return something && p.speedup >= enough;
  });
  return static_cast<size_t>(found - sequence.points.begin());
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return values.empty() ? 1 : std::exp(sum / static_cast<double>(values.size()));
}

Result<Judged> judge(const std::vector<Stopped>& runs, Currency currency) {
  Judged out;
  std::vector<double> speedups, retained;
  Spent fixed;
  double optimal = 0, behind = 0;
  for (const Stopped& run : runs) {
    const Point &at = run.point(), &best = run.sequence->points[hindsight_stop(*run.sequence)];
    speedups.push_back(at.speedup);
    retained.push_back(at.speedup / run.fixed->last().speedup);
    out.spent += at.spent;
    fixed += run.fixed->last().spent;
    optimal += best.spent.in(currency);
    behind += std::max(0.0, at.spent.in(currency)-best.spent.in(currency));
  }
  const double cost = out.spent.in(currency);
  if (fixed.in(currency) <= 0) {
    const char* what = enum_name(currency);
    return fail(Code::bad_argument, fmt::format("the recorded trials took no {}: compare them by another cost", what));
  }
  out.speedup = geometric_mean(speedups);
  out.retention = geometric_mean(retained);
  out.saved_trials = saved(out.spent.trials, fixed.trials);
  out.saved_seconds = saved(out.spent.seconds, fixed.seconds);
  out.saved_tokens = saved(out.spent.tokens, fixed.tokens);
  if (cost > 0) out.gain = out.retention * fixed.in(currency) / cost;
  if (optimal > 0) out.over = cost / optimal - 1, out.regret = behind / optimal;
  return out;
}

void mark_front(std::vector<Judged>& rows, Currency currency) {
  for (Judged& row : rows) {
    const double cost = row.spent.in(currency);
    row.front = std::none_of(rows.begin(), rows.end(), [&](const Judged& other) {
      const double its = other.spent.in(currency);
      return its <= cost && other.retention >= row.retention && (its < cost || other.retention > row.retention);
    });
  }
}

}  // namespace solstice::search
