// Standings of the policies in a bench of searches.
#include <algorithm>
#include <cmath>

#include "flow/bench/search_bench.h"
#include "search/tournament.h"

namespace solstice::flow {
namespace {

// Results of one policy on one problem, over seeds, as logarithms.
struct Tally {
  int seeds = 0;
  bool timed = false;  // the original was
  double last = 0;     // of the time in the end
  double early = 0;    // the mean over trials
};

using ByProblem = std::map<std::string, Tally>;

struct Reference {
  Seconds time;
  bool timed = false;  // it is the original's
};

// Denominator of the speedups on a problem, for all its searches: the original's time if one of them knows it, else
// their slowest first candidate that works. A trial before any works counts as that.
Reference reference_of(const SearchBench& bench, const std::string& problem) {
  Seconds original, slowest;
  for (const SearchRow& row : bench.rows) {
    if (row.id != problem || !row.failed.empty()) continue;
    if (original.value <= 0) original = row.original;
    const auto first = std::find_if(row.best.begin(), row.best.end(), [](Seconds s) { return s.value > 0; });
    if (first != row.best.end()) slowest = std::max(slowest, *first);
  }
  return original.value > 0 ? Reference{original, true} : Reference{slowest, false};
}

void add(const SearchRow& row, Reference from, size_t trials, ByProblem& out) {
  if (from.time.value <= 0 || row.best.empty()) return;
  Tally& found = out[row.id];
  found.timed = from.timed;
  double sum = 0, now = 0;
  for (size_t i = 0; i < trials; ++i) {
    const Seconds best = row.best[std::min(i, row.best.size() - 1)];  // a search that ended before keeps what it has
    now = best.value > 0 ? std::log(from.time / best) : 0;
    sum += now;
  }
  ++found.seeds;
  found.last += now;
  found.early += sum / static_cast<double>(trials);
}

std::vector<std::string> policies_of(const SearchBench& bench) {
  std::vector<std::string> out;
  for (const SearchRow& row : bench.rows) {
    if (std::find(out.begin(), out.end(), row.policy) == out.end()) out.push_back(row.policy);
  }
  return out;
}

// The same number of trials for all policies of a problem: that of the one that made the most.
size_t trials_of(const SearchBench& bench, const std::string& problem) {
  size_t out = 0;
  for (const SearchRow& row : bench.rows) {
    if (row.id == problem) out = std::max(out, row.best.size());
  }
  return out;
}

ByProblem found_by(const SearchBench& bench, const std::string& policy) {
  ByProblem out;
  for (const SearchRow& row : bench.rows) {
    if (row.policy == policy && row.failed.empty())
      add(row, reference_of(bench, row.id), trials_of(bench, row.id), out);
  }
  return out;
}

PolicyStanding compared(const ByProblem& mine, const ByProblem& first) {
  PolicyStanding out;
  double last = 0, early = 0;
  bool timed = true;
  std::vector<double> ahead;
  for (const auto& [problem, found] : mine) {
    const auto other = first.find(problem);
    if (other == first.end()) continue;
    timed = timed && found.timed;
    last += found.last / found.seeds;
    early += found.early / found.seeds;
    ahead.push_back(found.last / found.seeds - other->second.last / other->second.seeds);
  }
  out.problems = static_cast<int>(ahead.size());
  if (ahead.empty()) return out;
  double sum = 0;
  for (const double a : ahead) sum += a;
  const double n = static_cast<double>(ahead.size());
  out.timed = timed;
  out.speedup = std::exp(last / n);
  out.early = std::exp(early / n);
  out.ratio = std::exp(sum / n);
  out.p = search::signed_rank_p(ahead);
  for (double& a : ahead) a = -a;
  out.p_worse = search::signed_rank_p(ahead);
  return out;
}

void add_costs(const SearchBench& bench, PolicyStanding& out) {
  Seconds took, measuring;
  size_t trials = 0;
  for (const SearchRow& row : bench.rows) {
    if (row.policy != out.policy || !row.failed.empty()) continue;
    took += row.took;
    measuring += row.measuring;
    trials += row.best.size();
  }
  if (took.value > 0) out.measuring = measuring / took;
  if (trials > 0) out.a_trial = Seconds(took.value / static_cast<double>(trials));
}

}  // namespace

std::vector<PolicyStanding> standings_of(const SearchBench& bench) {
  std::vector<PolicyStanding> out;
  const std::vector<std::string> policies = policies_of(bench);
  for (const std::string& policy : policies) {
    out.push_back(compared(found_by(bench, policy), found_by(bench, policies.front())));
    out.back().policy = policy;
    add_costs(bench, out.back());
  }
  return out;
}

}  // namespace solstice::flow
