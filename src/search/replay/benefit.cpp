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

double best_of(const std::vector<const Record*>& runs) {
  double out = 1;
  for (const Record* run : runs) out = std::max(out, run->sequence().last().speedup);
  return out;
}

double final_of(const std::vector<const Record*>& runs) {
  double sum = 0;
  for (const Record* run : runs) sum += std::log(run->sequence().last().speedup);
  return std::exp(sum / static_cast<double>(runs.size()));
}

bool any_predicted(const std::vector<const Record*>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Record* run) {
    const Node* best = run->tree().best();
    return best && best->measurement->state == TrialState::kPredicted;
  });
}

double mean_trials(const std::vector<const Record*>& runs, double target, int& unreached) {
  double sum = 0;
  for (const Record* run : runs) {
    const std::optional<size_t> reached = trials_to(run->sequence(), target);
    if (!reached) ++unreached;
    sum += static_cast<double>(reached ? std::max<size_t>(1, *reached) : run->sequence().trials() + 1);
  }
  return sum / static_cast<double>(runs.size());
}

}  // namespace

std::optional<size_t> trials_to(const Sequence& sequence, double speedup) {
  const auto reached = std::find_if(sequence.points.begin(), sequence.points.end(),
                                    [&](const Point& point) { return point.speedup >= speedup; });
  if (reached == sequence.points.end()) return std::nullopt;
  return static_cast<size_t>(reached - sequence.points.begin());
}

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
    Paired pair{.problem = problem, .target = share * std::max(best_of(runs), best_of(other->second))};
    pair.without = mean_trials(runs, pair.target, pair.unreached_without);
    pair.with = mean_trials(other->second, pair.target, pair.unreached_with);
    pair.final_without = final_of(runs);
    pair.final_with = final_of(other->second);
    pair.predicted = any_predicted(runs) || any_predicted(other->second);
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
  return out;
}

}  // namespace solstice::search
