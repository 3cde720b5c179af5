#include "diagnose/settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace solstice::diagnose {
namespace {

// A cause accounts for a symptom if it can bring half of the symptom's bound, as a power: 1.5x of 2.25x.
constexpr double kMostOf = 0.5;
constexpr double kMostWaiting = 0.95;  // for others, of whom somebody works

// The finding's step, or the only one that works.
const StepFacts* step_of_finding(const KernelView& view, const Finding& finding) {
  const std::vector<const StepFacts*> steps = view.steps();
  for (const StepFacts* step : steps) {
    if (step->step == finding.place.step) return step;
  }
  return finding.place.step.empty() && steps.size() == 1 ? steps[0] : nullptr;
}

// Samples of the tool's reasons among those that do not wait for other warps: who waits at a barrier waits for what the
// others wait for. Nothing of a kernel whose warps have different roles, which wait for each other by design.
std::optional<double> share_of_samples(const Tool& tool, const StepFacts& step) {
  if (tool.shows_as.empty() || !step.counters || step.counters->stalls.empty()) return std::nullopt;
  if (step.sass && count_of(step.sass->mix, "wgmma") > 0) return std::nullopt;
  double share = 0, others = 1;
  for (const std::string& reason : tool.shows_as) share += stall(step, reason).value_or(0);
  if (!is_among(tool.shows_as, "barrier")) others -= std::min(stall(step, "barrier").value_or(0), kMostWaiting);
  return std::min(share / others, 1.0);
}

void hold_to_samples(const Tool& tool, const KernelView& view, Finding& finding) {
  const StepFacts* step = step_of_finding(view, finding);
  const std::optional<double> share = step ? share_of_samples(tool, *step) : std::nullopt;
  if (!share) return;
  const double most = gain_without(*share);
  GainBound held = view.gain_of(*step, most,
                                fmt::format("{}; warps wait for that in {:.0f} % of the samples, so 1 / (1 - {:.2f})",
                                            finding.gain.because, 100 * *share, *share));
  if (!finding.gain.open && held.program >= finding.gain.program) return;
  finding.gain = std::move(held);
}

// Without a measurement nobody knows whether instructions hide behind the memory that the equations need, or which of
// several steps takes the time.
void doubt_unmeasured(const Tool& tool, const KernelView& view, Finding& finding) {
  if (view.kernel.measured) return;
  const bool at_memory = view.limited == Class::kDram || view.limited == Class::kL2;
  const bool of_instructions = !tool.shows_as.empty() && !is_among(tool.shows_as, "long_scoreboard");
  const bool of_one_step = !finding.place.step.empty() && view.steps().size() > 1;
  if ((at_memory && of_instructions) || of_one_step) finding.confidence = Confidence::kLow;
}

void hold_to_practical(const ProgramView& view, GainBound& gain) {
  const BoundFacts& bounds = view.facts.bounds;
  const bool known = view.facts.measured && (bounds.practical || bounds.work);
  const std::optional<double> most = view.over_bound();
  if (!known || !most || gain.program <= *most) return;
  gain.program = *most;
  gain.because +=
      fmt::format(", at most {:.3g}x to the {} bound", gain.program, bounds.practical ? "practical" : "work");
}

void set_severity(const Tool& tool, Finding& finding) {
  finding.severity = std::min(finding.severity, severity_of(finding.gain));
  // A guess is not what one begins with, nor is where time goes while nobody knows why.
  if (tool.says != Says::kCause || finding.confidence == Confidence::kLow)
    finding.severity = std::min(finding.severity, FindingSeverity::kMedium);
}

// What nothing holds down comes before what something does.
constexpr double kOpen = 1e6;
double most_of_program(const GainBound& gain) { return gain.open ? kOpen : gain.program; }

bool before(const Found& a, const Found& b) {
  const auto key = [](const Found& each) {
    const Finding& f = each.finding;
    return std::tuple(-static_cast<int>(f.severity), each.tool->says, -most_of_program(f.gain),
                      -static_cast<int>(f.confidence), f.tool, f.place.kernel, f.place.step, f.place.line, f.cause);
  };
  const auto of_a = key(a), of_b = key(b);
  return of_a != of_b ? of_a < of_b : to_json(a.finding).dump() < to_json(b.finding).dump();
}

// On the same kernel, and on the same step where both name one.
bool same_place(const Finding& a, const Finding& b) {
  const auto agree = [](const std::string& one, const std::string& other) {
    return one.empty() || other.empty() || one == other;
  };
  return a.place.kernel == b.place.kernel && agree(a.place.step, b.place.step);
}

// Of the kernel; of the program where no kernel is to blame.
double gain_at_place(const Finding& finding) {
  if (finding.gain.open) return kOpen;
  return finding.place.kernel.empty() ? finding.gain.program : finding.gain.kernel;
}

bool explains(const Found& cause, const Found& other) {
  if (cause.tool == other.tool || !same_place(cause.finding, other.finding)) return false;
  const bool is_named = is_among(cause.tool->explains, other.tool->name);
  const bool follows = cause.tool->says == Says::kCause && other.tool->says != Says::kCause;
  if (!is_named && (!follows || other.finding.place.kernel.empty())) return false;
  if (cause.finding.severity == FindingSeverity::kNote) return other.finding.severity == FindingSeverity::kNote;
  return std::log(gain_at_place(cause.finding)) >= kMostOf * std::log(gain_at_place(other.finding));
}

void take_in(Finding& other, Finding& cause) {
  for (Evidence& each : other.evidence) cause.evidence.push_back(std::move(each));
  for (std::string& source : other.sources) {
    if (!is_among(cause.sources, source)) cause.sources.push_back(std::move(source));
  }
}

// `found` is sorted: the first that explains a finding is the gravest.
void merge_causes(std::vector<Found>& found) {
  std::vector<size_t> into(found.size());
  std::iota(into.begin(), into.end(), size_t{0});
  std::map<std::string, std::vector<size_t>> on;  // a kernel
  for (size_t i = 0; i < found.size(); ++i) on[found[i].finding.place.kernel].push_back(i);
  for (size_t i = 0; i < found.size(); ++i) {
    for (const size_t j : on[found[i].finding.place.kernel]) {
      if (i == j || into[j] != j || !explains(found[j], found[i])) continue;
      into[i] = j;
      break;
    }
  }
  std::vector<Found> out;
  for (size_t i = 0; i < found.size(); ++i) {
    size_t root = into[i];
    while (into[root] != root) root = into[root];
    if (root != i) take_in(found[i].finding, found[root].finding);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (into[i] == i) out.push_back(std::move(found[i]));
  }
  found = std::move(out);
}

// Of equal parts of the whole, each of which may become faster by its own bound.
double together(double a, double b) {
  const double left = 1 / a + 1 / b - 1;
  return left > 0 ? std::max({a, b, 1 / left}) : std::max(a, b);
}

bool is_move(const FindingAction& action) { return action.kind != ActionKind::kText; }

// A move of each of the kernels; text of one of them says it for all.
void add_moves(Finding& other, Finding& one) {
  for (FindingAction& action : other.actions) {
    if (is_move(action)) one.actions.push_back(std::move(action));
  }
  std::stable_partition(one.actions.begin(), one.actions.end(), is_move);
}

void merge_alike(std::vector<Found>& found) {
  std::vector<Found> out;
  std::map<std::pair<const Tool*, std::string>, size_t> known;  // by tool and cause
  for (Found& each : found) {
    const auto [at, fresh] = known.try_emplace({each.tool, each.finding.cause}, out.size());
    if (fresh) {
      out.push_back(std::move(each));
      continue;
    }
    Finding& one = out[at->second].finding;
    const bool as_grave_as_its_gain = one.severity == severity_of(one.gain);
    const std::string& kernel = each.finding.place.kernel;
    if (kernel != one.place.kernel && !is_among(one.also, kernel)) one.also.push_back(kernel);
    add_moves(each.finding, one);
    one.gain.program = together(one.gain.program, each.finding.gain.program);
    if (as_grave_as_its_gain) one.severity = severity_of(one.gain);
    set_severity(*each.tool, one);
  }
  found = std::move(out);
}

}  // namespace

void hold_to_measurements(const Tool& tool, const ProgramView& view, Finding& finding) {
  if (const KernelView* kernel = view.kernel(finding.place.kernel)) {
    hold_to_samples(tool, *kernel, finding);
    doubt_unmeasured(tool, *kernel, finding);
  }
  hold_to_practical(view, finding.gain);
  set_severity(tool, finding);
}

std::vector<Finding> settle(std::vector<Found> found) {
  std::sort(found.begin(), found.end(), before);
  merge_causes(found);
  merge_alike(found);
  std::sort(found.begin(), found.end(), before);
  std::vector<Finding> out;
  for (Found& each : found) out.push_back(std::move(each.finding));
  return out;
}

}  // namespace solstice::diagnose
