// More products of narrow parts than the accuracy needs: the policy allows a cheaper math, or the error that was seen
// is far inside its limit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/tool.h"
#include "numerics/math.h"

namespace solstice::diagnose {
namespace {

using numerics::MathInfo;

// Products of narrow parts on tensor cores.
const MathInfo* tensor_math(const std::string& name) {
  const auto math = numerics::math_from_name(name);
  const MathInfo* info = math ? &numerics::info(*math) : nullptr;
  return info && info->tensor ? info : nullptr;
}

// Of an operand in the planes of a math; more than those of fp32 are of no use.
int significant_bits(const MathInfo& math) {
  return std::min(numerics::info(numerics::Math::kSimt).significand, math.significand * math.planes);
}

// The math at whose rate the bounds count this kernel's products: the cheapest that the policy allows.
const MathInfo* allowed_math(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource.starts_with("tensor.")) return tensor_math(need.how);
  }
  return nullptr;
}

// Products of operands a second; 0 where the machine lacks the pipe.
double rate_of(const machine::Machine& machine, const MathInfo& math) {
  const auto pipe = machine::pipe_from_name(numerics::pipe_name(math.math));
  if (!pipe || !machine.has(*pipe)) return 0;
  return machine.ceiling(*pipe)->per_second / math.products;
}

// The next faster one that splits operands as well.
const MathInfo* next_math(const machine::Machine& machine, const MathInfo& now) {
  const MathInfo* best = nullptr;
  for (const MathInfo& each : numerics::all_maths()) {
    const bool faster = each.tensor && each.planes > 1 && rate_of(machine, each) > rate_of(machine, now);
    if (faster && (!best || rate_of(machine, each) < rate_of(machine, *best))) best = &each;
  }
  return best;
}

struct Instead {
  const MathInfo &now, &then;
  std::string why;
  Evidence seen;
  Confidence confidence;
};

void add_finding(const Tool& tool, const KernelView& view, const Instead& found, std::vector<Finding>& out) {
  const double before = rate_of(view.machine, found.now), after = rate_of(view.machine, found.then);
  if (before <= 0 || after / before < tool.threshold("gain")) return;
  Finding finding = finding_on(
      tool, view, fmt::format("`{}` takes {} products for each, and {}", found.now.name, found.now.products, found.why),
      view.gain(after / before, fmt::format("by the rates of `{}` and `{}`", found.then.name, found.now.name)));
  finding.evidence.push_back(found.seen);
  finding.evidence.push_back(evidence("products for each", found.now.products, "", "plan"));
  finding.actions.push_back(
      {ActionKind::kMath, "fewer products", view.kernel.kernel, {{"math", std::string(found.then.name)}}, ""});
  finding.confidence = found.confidence;
  out.push_back(std::move(finding));
}

void find_spare(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const MathInfo *now = tensor_math(view.kernel.math), *allowed = allowed_math(view.kernel);
  if (!now) return;
  if (allowed && rate_of(view.machine, *allowed) > rate_of(view.machine, *now)) {
    const std::string why = fmt::format("the policy `{}` allows `{}`", view.facts.numerics, allowed->name);
    const Evidence seen = evidence("products that the policy needs", allowed->products, "", "plan");
    return add_finding(tool, view, {*now, *allowed, why, seen, Confidence::kMedium}, out);
  }
  const MathInfo* next = next_math(view.machine, *now);
  const double error = view.facts.error.value_or(1);
  if (!next || error <= 0) return;
  const double grows = std::exp2(significant_bits(*now) - significant_bits(*next));
  if (error * grows > tool.threshold("error")) return;
  const std::string why =
      fmt::format("the error is {:.0f} % of what the policy allows: `{}` may do", 100 * error, next->name);
  add_finding(tool, view, {*now, *next, why, evidence("error over the limit", error, "x", "trace"), Confidence::kLow},
              out);
}

}  // namespace

extern const Tool solstice_tools_accuracy_to_spare;
const Tool solstice_tools_accuracy_to_spare{
    .name = "accuracy to spare",
    .question = "Would fewer products of narrow parts be accurate enough?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"error", 0.5, "of the limit",
                    "with the bits that the next math loses, by the planes of its operands; half of it is left for "
                    "other inputs"},
                   {"gain", 1.05, "x", "a finding of medium severity"}},
    .of_kernel = find_spare,
};

}  // namespace solstice::diagnose
