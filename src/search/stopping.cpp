#include "search/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search/scheduler.h"

namespace solstice::search {
namespace {

// A rule as the trials come in.
class Watch {
 public:
  Watch(const Sequence& sequence, const StopRule& rule)
      : sequence_(sequence), rule_(rule), outlook_(sequence.original, sequence.bound, usual_scheduling()) {}

  bool ends_at(size_t trials) {
    const Point &now = sequence_.points[trials], &before = sequence_.points[trials - 1];
    const bool first = before.best.value <= 0 && now.best.value > 0;
    const bool gained = first || (now.best.value > 0 && now.best < before.best * (1 - kNoise));
    without_gain_ = gained ? 0 : without_gain_ + 1;
    outlook_.add(1, now.best);
    if (rule_.trials && trials >= static_cast<size_t>(*rule_.trials)) return true;
    if (rule_.seconds && now.spent.seconds >= *rule_.seconds) return true;
    if (trials < static_cast<size_t>(rule_.least)) return false;
    if (rule_.roi && outlook_.gain() < *rule_.roi) return true;
    return sequence_.beats_original(now) && (near(now) || (rule_.window && without_gain_ >= *rule_.window));
  }

 private:
  bool near(const Point& now) const { return rule_.eps && sequence_.bound.value > 0 && now.best <= sequence_.bound * (1 + *rule_.eps); }

  const Sequence& sequence_;
  const StopRule& rule_;
  Outlook outlook_;
  int without_gain_ = 0;
};

std::optional<double> saved(double cost, double fixed) { return fixed > 0 ? std::optional(1 - cost / fixed) : std::nullopt; }

}  // namespace

std::string text_of(const StopRule& rule) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (rule.eps) add(fmt::format("eps {:g}", *rule.eps));
  if (rule.window) add(fmt::format("window {}", *rule.window));
  if (rule.roi) add(fmt::format("roi {:g}", *rule.roi));
  if (rule.trials) add(fmt::format("{} trials", *rule.trials));
  if (rule.seconds) add(fmt::format("{:g} s", *rule.seconds));
  return out.empty() ? "none" : out;
}

size_t stop_of(const Sequence& sequence, const StopRule& rule) {
  Watch watch(sequence, rule);
  size_t at = 1;
  while (at < sequence.trials() && !watch.ends_at(at)) ++at;
  return std::min(at, sequence.trials());
}

size_t hindsight_stop(const Sequence& sequence) {
  const double enough = sequence.last().speedup * (1 - kNoise);
  const auto found = std::find_if(sequence.points.begin(), sequence.points.end(), [&](const Point& p) {
    const bool something = sequence.original.value > 0 || p.best.value > 0 || sequence.last().best.value <= 0;
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
    const char* what = enum_names(currency)[static_cast<size_t>(currency)];
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
