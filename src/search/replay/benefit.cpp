#include "search/replay/benefit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "search/tournament.h"

namespace solstice::search {
namespace {

using Runs = std::map<std::string, std::vector<const Record*>>;

Runs by_problem(const std::vector<Record>& records) {
  Runs out;
  for (const Record& record : records) out[record.run().problem].push_back(&record);
  return out;
}

// Speedups of a problem's runs, by one measure for both arms.
class Scale {
 public:
  // Without an original a run's speedups are over its own slowest trial, which says nothing beside another run.
  Scale(const std::vector<const Record*>& without, const std::vector<const Record*>& with) {
    double slowest = 0;
    bool known = true;
    for (const auto* runs : {&without, &with}) {
      for (const Record* run : *runs) {
        const Sequence& sequence = run->sequence();
        known = known && sequence.original.value > 0;
        slowest = std::max(slowest, sequence.last().speedup * sequence.last().best.time.value);
      }
    }
    base_ = known ? 0 : slowest;
  }

  double of(const Point& point) const {
    if (base_ <= 0) return point.speedup;
    return point.best.time.value > 0 ? base_ / point.best.time.value : 1;
  }
  double best(const std::vector<const Record*>& runs) const {
    double out = 1;
    for (const Record* run : runs) out = std::max(out, of(run->sequence().last()));
    return out;
  }
  double last(const std::vector<const Record*>& runs) const {
    double sum = 0;
    for (const Record* run : runs) sum += std::log(of(run->sequence().last()));
    return std::exp(sum / static_cast<double>(runs.size()));
  }

 private:
  double base_ = 0;  // 0: each run's own original
};

// Times in the end over the practical bound, geometric mean; 0: a bound or a time is not known.
double over_practical(const std::vector<const Record*>& runs) {
  double sum = 0;
  for (const Record* run : runs) {
    const Sequence& sequence = run->sequence();
    const Seconds time = sequence.last().best.time;
    if (sequence.bound.value <= 0 || time.value <= 0) return 0;
    sum += std::log(time / sequence.bound);
  }
  return std::exp(sum / static_cast<double>(runs.size()));
}

bool any_predicted(const std::vector<const Record*>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Record* run) {
    const Node* best = run->tree().best();
    return best && best->measurement->state == TrialState::kPredicted;
  });
}

double mean_trials(const std::vector<const Record*>& runs, const Scale& scale, double target, int& unreached) {
  double sum = 0;
  for (const Record* run : runs) {
    const std::vector<Point>& points = run->sequence().points;
    const auto reached =
        std::find_if(points.begin(), points.end(), [&](const Point& point) { return scale.of(point) >= target; });
    if (reached == points.end()) ++unreached;
    sum += static_cast<double>(std::max<size_t>(1, static_cast<size_t>(reached - points.begin())));
  }
  return sum / static_cast<double>(runs.size());
}

Paired pair_of(const std::string& problem, const std::vector<const Record*>& without,
               const std::vector<const Record*>& with, double share) {
  const Scale scale(without, with);
  Paired out{.problem = problem, .target = share * std::max(scale.best(without), scale.best(with))};
  out.without = mean_trials(without, scale, out.target, out.unreached_without);
  out.with = mean_trials(with, scale, out.target, out.unreached_with);
  out.final_without = scale.last(without);
  out.final_with = scale.last(with);
  out.over_practical = over_practical(without);
  out.predicted = any_predicted(without) || any_predicted(with);
  return out;
}

// The geometric mean of these ratios, and the p that they are not above 1.
EndGain gain_of(const std::vector<Paired>& pairs, double above) {
  std::vector<double> logs;
  double sum = 0;
  for (const Paired& pair : pairs) {
    if (above > 0 && pair.over_practical <= above) continue;
    logs.push_back(std::log(pair.final_with / pair.final_without));
    sum += logs.back();
  }
  if (logs.empty()) return {};
  const auto count = static_cast<int>(logs.size());
  return {count, std::exp(sum / count), signed_rank_p(std::move(logs))};
}

}  // namespace

Result<Benefit> benefit_of(const std::vector<Record>& without, const std::vector<Record>& with, double share) {
  const Runs before = by_problem(without), after = by_problem(with);
  Benefit out;
  std::vector<double> differences;
  double logs = 0;
  for (const auto& [problem, runs] : before) {
    const auto other = after.find(problem);
    if (other == after.end()) {
      out.left_out.push_back(problem);
      continue;
    }
    Paired pair = pair_of(problem, runs, other->second, share);
    logs += std::log(pair.with / pair.without);
    differences.push_back(std::log(pair.without / pair.with));
    out.problems.push_back(std::move(pair));
  }
  for (const auto& [problem, runs] : after) {
    if (!before.contains(problem)) out.left_out.push_back(problem);
  }
  if (out.problems.empty()) return fail(Code::bad_argument, "the two sides have no problem in common");
  out.ratio = std::exp(logs / static_cast<double>(out.problems.size()));
  out.p = signed_rank_p(std::move(differences));
  out.end = gain_of(out.problems, 0);
  out.far = gain_of(out.problems, kFarFromPractical);
  return out;
}

}  // namespace solstice::search
