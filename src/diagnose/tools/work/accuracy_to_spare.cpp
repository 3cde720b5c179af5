// More products of narrow parts than the accuracy needs: the policy allows a cheaper math, or the error that was seen
// is far inside its limit.
#include <fmt/format.h>

#include <algorithm>

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

// The math at whose rate the bounds count this kernel's products: the cheapest that the policy allows.
const MathInfo* allowed_math(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource.starts_with("tensor.")) return tensor_math(need.how);
  }
  return nullptr;
}

// Fewer products, and one class less of accuracy: half as many parts of an operand.
const MathInfo* next_math(const MathInfo& math) {
  const MathInfo* best = nullptr;
  for (const MathInfo& each : numerics::all_maths()) {
    const bool cheaper = each.tensor && each.planes > 1 && each.products < math.products;
    if (cheaper && (!best || each.significand > best->significand)) best = &each;
  }
  return best;
}

void add_finding(const Tool& tool, const KernelView& view, const MathInfo& now, const MathInfo& then,
                 const std::string& why, Evidence seen, std::vector<Finding>& out) {
  const auto before = view.tensor_time(1, 1, 1);
  const double gain = static_cast<double>(now.products) / then.products;
  if (!before || gain <= 1) return;
  Finding finding =
      finding_on(tool, view, fmt::format("`{}` takes {} products for each, and {}", now.name, now.products, why),
                 view.gain(gain, fmt::format("{} products in place of {}", then.products, now.products)));
  finding.evidence.push_back(std::move(seen));
  finding.evidence.push_back(evidence("products for each", now.products, "", "plan"));
  finding.actions.push_back(
      {ActionKind::kMath, "fewer products", view.kernel.kernel, {{"math", std::string(then.name)}}, ""});
  out.push_back(std::move(finding));
}

void find_spare(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const MathInfo *now = tensor_math(view.kernel.math), *allowed = allowed_math(view.kernel);
  if (!now) return;
  if (allowed && allowed->products < now->products) {
    add_finding(tool, view, *now, *allowed,
                fmt::format("the policy `{}` allows `{}`, which takes {}", view.facts.numerics, allowed->name,
                            allowed->products),
                evidence("products that the policy needs", allowed->products, "", "plan"), out);
    return;
  }
  const MathInfo* next = next_math(*now);
  const double error = view.facts.error.value_or(1);
  if (!next || error <= 0 || error > tool.threshold("error")) return;
  add_finding(tool, view, *now, *next,
              fmt::format("the error is {:.0f} % of what the policy allows: `{}` may do", 100 * error, next->name),
              evidence("error over the limit", error, "x", "trace"), out);
  out.back().confidence = Confidence::kLow;
}

}  // namespace

extern const Tool solstice_tools_accuracy_to_spare;
const Tool solstice_tools_accuracy_to_spare{
    .name = "accuracy to spare",
    .question = "Would fewer products of narrow parts be accurate enough?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"error", 0.1, "of the limit", "the next math loses three bits at most (docs/numerics.md)"}},
    .of_kernel = find_spare,
};

}  // namespace solstice::diagnose
