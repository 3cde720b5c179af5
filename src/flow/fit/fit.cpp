#include "flow/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "families/family.h"
#include "flow/fit/record_lines.h"
#include "ir/bind.h"
#include "machine/machine.h"
#include "store/store.h"

namespace solstice::flow {
namespace {

constexpr const char* kSeveral = "programs";
constexpr double kNear = 1.05;

std::string schedule_of(const ir::Program& program) {
  std::vector<std::string> out;
  for (const ir::Kernel& kernel : program.kernels)
    out.push_back(fmt::format("{}({})", kernel.family, ir::to_text(kernel.knobs)));
  return fmt::format("{}", fmt::join(out, " "));
}

Result<families::Cost> cost_of(const ir::Program& program, const ir::Kernel& kernel, const machine::Machine& machine) {
  const families::Family* const family = families::find_family(kernel.family);
  if (!family || !family->cost) return fail(Code::not_yet, fmt::format("family `{}` has no cost model", kernel.family));
  return family->cost({program, machine, program.numerics.empty() ? "reference" : program.numerics, false}, kernel);
}

void add_terms(const families::Cost& cost, FitPoint& to) {
  for (const auto& [name, time] : cost.terms) {
    const auto same =
        std::find_if(to.terms.begin(), to.terms.end(), [&name = name](const auto& term) { return term.first == name; });
    if (same == to.terms.end()) {
      to.terms.emplace_back(name, time);
    } else {
      same->second += time;
    }
  }
}

Result<FitPoint> judge_one(const KernelTime& time, const machine::Machine& machine) {
  Diagnostics diagnostics;
  SOLSTICE_TRY(const ir::Program program, ir::load_program(time.program, time.problem, diagnostics));
  if (program.kernels.empty()) return fail(Code::bad_argument, "it has no schedule");
  FitPoint out;
  out.time = time;
  out.family = program.kernels.front().family;
  out.schedule = schedule_of(program);
  out.net = time.measured - std::max(time.empty - machine.launch_time(), Seconds(0));
  for (const ir::Kernel& kernel : program.kernels) {
    SOLSTICE_TRY(const families::Cost cost, cost_of(program, kernel, machine));
    out.predicted += cost.time;
    out.form = cost.form;
    add_terms(cost, out);
  }
  if (program.kernels.size() > 1) {
    out.family = kSeveral;
    out.form = fmt::format("{} kernels", program.kernels.size());
  }
  return out;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

FitRatios ratios_of(std::string family, std::string form, const std::vector<const FitPoint*>& all) {
  FitRatios out;
  out.family = std::move(family);
  out.form = std::move(form);
  out.count = static_cast<int>(all.size());
  std::vector<double> ratios, errors;
  double sum = 0, farthest = -1;
  for (const FitPoint* one : all) {
    const double ratio = one->ratio(), error = std::fabs(std::log(ratio));
    ratios.push_back(ratio);
    errors.push_back(error);
    sum += std::log(ratio);
    if (error <= farthest) continue;
    farthest = error;
    out.worst = ratio;
    out.problem = one->time.problem;
    out.schedule = one->schedule;
  }
  std::sort(ratios.begin(), ratios.end());
  std::sort(errors.begin(), errors.end());
  out.mean = std::exp(sum / static_cast<double>(all.size()));
  out.low = quantile(ratios, 0.1), out.middle = quantile(ratios, 0.5), out.high = quantile(ratios, 0.9);
  out.error = std::exp(quantile(errors, 0.5)) - 1;
  return out;
}

std::vector<FitRatios> all_ratios(const std::vector<FitPoint>& judged) {
  std::map<std::string, std::map<std::string, std::vector<const FitPoint*>>> sorted;
  for (const FitPoint& one : judged) sorted[one.family][one.form].push_back(&one);
  std::vector<FitRatios> out;
  for (const auto& [family, forms] : sorted) {
    std::vector<const FitPoint*> all;
    for (const auto& [form, some] : forms) all.insert(all.end(), some.begin(), some.end());
    out.push_back(ratios_of(family, "", all));
    for (const auto& [form, some] : forms) out.push_back(ratios_of(family, form, some));
  }
  return out;
}

const FitPoint& least_predicted(const std::vector<const FitPoint*>& from) {
  return **std::min_element(from.begin(), from.end(),
                            [](const FitPoint* a, const FitPoint* b) { return a->predicted < b->predicted; });
}

// One problem's programs to choose from.
void add_choice(const std::vector<const FitPoint*>& from, FitChoices& out) {
  const FitPoint& chosen = least_predicted(from);
  const FitPoint& fastest = **std::min_element(from.begin(), from.end(), [](const FitPoint* a, const FitPoint* b) {
    return a->time.measured < b->time.measured;
  });
  const double loss = chosen.time.measured / fastest.time.measured;
  ++out.problems;
  out.near += loss <= kNear;
  out.loss += loss - 1;
  if (out.problems > 1 && loss - 1 <= out.worst) return;
  out.worst = loss - 1;
  out.problem = chosen.time.problem;
  out.chosen = chosen.schedule;
  out.fastest = fastest.schedule;
}

// Schedules of the planner's cut compete with each other; so do the best schedules of several cuts.
std::vector<FitChoices> all_choices(const std::vector<FitPoint>& judged) {
  std::map<std::string, std::map<Cut, std::vector<const FitPoint*>>> problems;
  for (const FitPoint& one : judged) problems[one.time.problem + one.time.device][one.time.cut].push_back(&one);
  std::map<std::string, FitChoices> found;
  FitChoices cuts;
  cuts.family = "cuts";
  for (const auto& [problem, by_cut] : problems) {
    std::vector<const FitPoint*> best;
    for (const auto& [cut, some] : by_cut) {
      best.push_back(&least_predicted(some));
      if (some.size() < 2 || cut != Cut::kPlanned) continue;
      const std::string& family = best.back()->family;
      found[family].family = family;
      add_choice(some, found[family]);
    }
    if (best.size() > 1) add_choice(best, cuts);
  }
  std::vector<FitChoices> out;
  for (auto& [family, choices] : found) out.push_back(choices);
  if (cuts.problems > 0) out.push_back(cuts);
  for (FitChoices& choices : out) choices.loss /= choices.problems;
  return out;
}

}  // namespace

Result<std::vector<KernelTime>> read_kernel_times(const std::filesystem::path& file) {
  return read_record_lines<KernelTime>(file, "`solstice bench families --out FILE` writes such files");
}

Result<std::vector<KernelTime>> kernel_times_of_trials(const std::filesystem::path& folder) {
  SOLSTICE_TRY(store::Store store, store::Store::open(folder));
  SOLSTICE_TRY(const std::vector<store::ListedRun> runs, store.list(1000));
  std::vector<KernelTime> out;
  for (const store::ListedRun& listed : runs) {
    if (!listed.run.ok() || listed.run->device != "gpu") continue;
    SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(listed.id));
    for (const TrialRecord& trial : loaded.trials) {
      if (!trial.measured || trial.state != TrialState::kVerified) continue;
      KernelTime time;
      time.problem = fmt::format("{} of run {}", loaded.run.problem, listed.id);
      time.program = trial.program;
      time.machine = loaded.run.machine;
      time.device = loaded.run.machine;
      time.date = trial.started;
      time.predicted = trial.predicted.value_or(Seconds(0));
      time.measured = time.low = time.high = *trial.measured;
      out.push_back(std::move(time));
    }
  }
  return out;
}

Result<Fit> judge_models(const std::vector<KernelTime>& times) {
  std::map<std::string, machine::Machine> machines;
  Fit out;
  for (const KernelTime& time : times) {
    if (!machines.contains(time.machine)) {
      SOLSTICE_TRY(machines[time.machine], machine::load_machine(time.machine));
    }
    Result<FitPoint> one = judge_one(time, machines.at(time.machine));
    if (one.ok()) {
      out.points.push_back(std::move(one).value());
    } else {
      out.dropped.push_back(fmt::format("{}: {}", time.problem, one.error().message));
    }
  }
  out.ratios = all_ratios(out.points);
  out.choices = all_choices(out.points);
  return out;
}

}  // namespace solstice::flow
