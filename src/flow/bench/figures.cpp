#include "flow/bench/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

// Ratios as they come, which are positive.
class RatioSum {
 public:
  void add(double ratio) {
    sum_ += std::log(ratio);
    least_ = count_++ ? std::min(least_, ratio) : ratio;
  }
  Ratios ratios() const { return {count_, count_ ? std::exp(sum_ / count_) : 0, least_}; }

 private:
  double sum_ = 0, least_ = 0;
  int count_ = 0;
};

bool in_part(const BenchRow& row, const Part& part) {
  return (part.level == 0 || level_of(row) == part.level) && (part.flawed || !row.flaws.flawed());
}

// A verified candidate without a stage of PyTorch's, put to the headline.
bool runs_completely(const BenchVariant& v) { return v.ran() && !v.predicted && v.complete() && v.speedup > 0; }

void count_outcome(const BenchVariant& v, OutcomeCounts& out) {
  ++out.problems;
  if (v.outcome == RunOutcome::kUnsupported) {
    ++out.unsupported;
  } else if (v.failed || v.outcome == RunOutcome::kNone) {
    ++out.failed;
  } else if (v.predicted) {
    ++out.predicted;
  } else {
    ++(v.outcome == RunOutcome::kFaster ? out.faster : out.not_faster);
  }
}

}  // namespace

std::string VariantName::text() const {
  return rewrites.empty() || rewrites == "on" ? numerics : numerics + ", rewrites " + rewrites;
}

std::vector<VariantName> variants_of(const Bench& bench) {
  std::vector<VariantName> out;
  for (const BenchRow& row : bench.rows) {
    for (const BenchVariant& v : row.variants) {
      const VariantName name{v.numerics, v.rewrites};
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

const BenchVariant* find_variant(const BenchRow& row, const VariantName& name) {
  for (const BenchVariant& v : row.variants) {
    if (VariantName{v.numerics, v.rewrites} == name) return &v;
  }
  return nullptr;
}

std::vector<std::string> opponents_of(const Bench& bench) {
  std::vector<std::string> out;
  for (const BenchRow& row : bench.rows) {
    for (const BenchSide& side : row.opponents) {
      if (std::find(out.begin(), out.end(), side.name) == out.end()) out.push_back(side.name);
    }
  }
  return out;
}

const BenchSide* find_opponent(const BenchRow& row, const std::string& name) {
  const auto found =
      std::find_if(row.opponents.begin(), row.opponents.end(), [&](const BenchSide& s) { return s.name == name; });
  return found == row.opponents.end() ? nullptr : &*found;
}

std::optional<double> sol_score(Seconds original, Seconds time, Seconds bound) {
  if (bound.value <= 0 || original <= bound || time.value <= 0) return std::nullopt;
  if (time <= bound) return 1.0;  // other equations may need less work than these
  return 1 / (1 + (time - bound) / (original - bound));
}

std::optional<double> sol_score(const BenchVariant& v) {
  if (!v.ran() || v.predicted) return std::nullopt;
  return sol_score(v.original, v.outcome == RunOutcome::kFaster ? v.replacement : v.original, std::max(v.io, v.work));
}

double delivered(const BenchVariant& v) { return v.outcome == RunOutcome::kFaster && v.speedup > 0 ? v.speedup : 1; }

std::optional<double> delivered_over(const BenchRow& row, const BenchVariant& v, const std::string& opponent) {
  const BenchSide* const other = find_opponent(row, opponent);
  if (row.opponents.empty() || !other || !other->time) return std::nullopt;
  const BenchSide& ours = v.outcome == RunOutcome::kFaster ? v.beside : row.opponents.front();
  if (!ours.time || ours.time->median.value <= 0) return std::nullopt;
  return other->time->median / ours.time->median;
}

Figures figures_of(const Bench& bench, const Part& part) {
  Figures out;
  RatioSum supported, faster, complete, slower;
  std::vector<double> trials;
  for (const BenchRow& row : bench.rows) {
    const BenchVariant* const v = in_part(row, part) ? find_variant(row, part.variant) : nullptr;
    if (!v) continue;
    count_outcome(*v, out.outcomes);
    if (!v->ran() || v->predicted) continue;
    if (v->trial.value > 0) trials.push_back((v->trial + v->verification).value);
    if (runs_completely(*v)) (v->speedup < kKept ? slower : complete).add(v->speedup);
    if (const std::optional<double> score = sol_score(*v)) out.sol.mean += *score, ++out.sol.count;
    const std::optional<double> ratio =
        part.opponent.empty() ? std::optional(delivered(*v)) : delivered_over(row, *v, part.opponent);
    if (!ratio || *ratio <= 0) continue;
    supported.add(*ratio);
    if (v->outcome != RunOutcome::kFaster || *ratio <= 1) continue;
    faster.add(*ratio);
    if (!v->check.empty()) continue;  // no correct one by KernelBench's measure
    out.fast_1 += 1;
    out.fast_2 += *ratio > 2;
  }
  out.supported = supported.ratios();
  out.faster = faster.ratios();
  out.complete = complete.ratios();
  out.slower = slower.ratios();
  if (!trials.empty()) out.trial = Seconds(run::median(trials));
  if (const int all = out.outcomes.problems) out.fast_1 /= all, out.fast_2 /= all;
  if (out.sol.count) out.sol.mean /= out.sol.count;
  return out;
}

int level_of(const BenchRow& row) { return std::atoi(row.id.c_str()); }

std::vector<int> levels_of(const Bench& bench) {
  std::vector<int> out;
  for (const BenchRow& row : bench.rows) {
    if (std::find(out.begin(), out.end(), level_of(row)) == out.end()) out.push_back(level_of(row));
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool flaws_measured(const Bench& bench) {
  return std::any_of(bench.rows.begin(), bench.rows.end(), [](const BenchRow& row) { return row.flaws.measured; });
}

}  // namespace solstice::flow
