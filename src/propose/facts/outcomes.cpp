#include "propose/facts/outcomes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "ir/bind.h"
#include "ir/knobs.h"
#include "propose/facts/facts.h"
#include "record/diagnosis/finding.h"
#include "search/gain.h"

namespace solstice::propose {
namespace {

struct WrittenKernel {
  std::map<std::string, std::string> knobs;
  std::set<std::string> targets;  // of its equations
  bool once = false;
};
using WrittenKernels = std::map<std::string, WrittenKernel>;

// None of a text that is no legal program.
WrittenKernels written_kernels(const std::string& program) {
  Diagnostics diagnostics;
  WrittenKernels out;
  const Result<ir::Program> bound = ir::load_program(program, "candidate", diagnostics);
  if (!bound.ok()) return out;
  for (const ir::Kernel& kernel : bound->kernels) {
    WrittenKernel& one = out[kernel.name];
    one.once = kernel.once;
    for (const auto& [name, value] : kernel.knobs.items) one.knobs[name] = ir::to_text(value);
    for (const int id : kernel.equations) one.targets.insert(bound->tensor(bound->equation(id).target).name);
  }
  return out;
}

// A candidate as far as actions change it.
struct Written {
  WrittenKernels kernels;
  std::string equations;  // label

  const WrittenKernel* find(const std::string& kernel) const {
    const auto found = kernels.find(kernel);
    return found == kernels.end() ? nullptr : &found->second;
  }
  bool has_knobs(const FindingAction& action) const {
    const WrittenKernel* kernel = find(action.kernel);
    return kernel && std::all_of(action.knobs.begin(), action.knobs.end(), [&](const auto& knob) {
             const auto found = kernel->knobs.find(knob.first);
             return found == kernel->knobs.end() ? knob.second == ir::kAuto : found->second == knob.second;
           });
  }
  // One kernel computes all of this.
  bool in_one(const std::set<std::string>& targets) const {
    return std::any_of(kernels.begin(), kernels.end(), [&](const auto& each) {
      const std::set<std::string>& own = each.second.targets;
      return std::includes(own.begin(), own.end(), targets.begin(), targets.end());
    });
  }
  int times_rewritten(const std::string& rewrite) const {
    int out = 0;
    for (size_t at = equations.find(rewrite); at != equations.npos; at = equations.find(rewrite, at + 1)) ++out;
    return out;
  }
};

bool cut_taken(const FindingAction& action, const Written& before, const Written& after) {
  const WrittenKernel *kernel = before.find(action.kernel), *with = before.find(action.with);
  if (!kernel || after.kernels.empty()) return false;
  if (action.with.empty()) return !after.in_one(kernel->targets);
  if (!with) return false;
  std::set<std::string> both = kernel->targets;
  both.insert(with->targets.begin(), with->targets.end());
  return after.in_one(both);
}

bool is_taken(const FindingAction& action, const Written& before, const Written& after) {
  const WrittenKernel* kernel = after.find(action.kernel);
  switch (action.kind) {
    case ActionKind::kKnobs:
    case ActionKind::kMath:
      return !action.knobs.empty() && after.has_knobs(action) && !before.has_knobs(action);
    case ActionKind::kOnce:
      return kernel && kernel->once && before.find(action.kernel) && !before.find(action.kernel)->once;
    case ActionKind::kCut:
      return cut_taken(action, before, after);
    case ActionKind::kRewrite:
      return !action.rewrite.empty() && after.times_rewritten(action.rewrite) > before.times_rewritten(action.rewrite);
    default:
      return false;
  }
}

bool is_measured(const search::Node& node) {
  return node.measurement && node.measurement->state == TrialState::kVerified;
}

class Outcomes {
 public:
  explicit Outcomes(const search::Tree& tree) : tree_(tree) {}

  void add(const search::Node& node, std::vector<FindingOutcome>& out) {
    const Result<std::vector<Finding>> findings = findings_of_record(node.measurement->record);
    if (!findings.ok()) return;
    const Json& classes = node.measurement->record.at("classes");
    for (const Finding& finding : *findings) {
      FindingOutcome one{
          finding.tool, classes.at(finding.place.kernel).as_string(), "", node.id, finding.gain.program, {}};
      for (const int child : node.children) add_trial(finding, node, tree_.node(child), one);
      out.push_back(std::move(one));
    }
  }

 private:
  const Written& written(const search::Node& node) {
    const auto [at, fresh] = written_.try_emplace(node.id);
    if (fresh) at->second = {written_kernels(node.proposal.program), node.proposal.equations};
    return at->second;
  }

  void add_trial(const Finding& finding, const search::Node& from, const search::Node& to, FindingOutcome& out) {
    if (!is_measured(to) && !(to.failed() && !lacked_room(*to.measurement))) return;
    const auto taken = [&](const FindingAction& action) {
      return action.kind != ActionKind::kText && is_taken(action, written(from), written(to));
    };
    if (std::none_of(finding.actions.begin(), finding.actions.end(), taken)) return;
    ActedOn acted{to.id, to.measurement->state, 0, false};
    if (is_measured(to)) {
      acted.gain = std::log2(from.measurement->time / to.measurement->time);
      acted.hit = search::is_gain(search::timed(from), search::timed(to));
    }
    out.acted.push_back(acted);
  }

  const search::Tree& tree_;
  std::map<int, Written> written_;
};

}  // namespace

std::vector<FindingOutcome> outcomes_of(const search::Tree& tree) {
  std::vector<FindingOutcome> out;
  Outcomes outcomes(tree);
  for (const search::Node& node : tree.nodes()) {
    if (node.id > 0 && is_measured(node)) outcomes.add(node, out);
  }
  return out;
}

}  // namespace solstice::propose
