#include "families/written_math.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace solstice::families {
namespace {

using numerics::Math;

struct WrittenMath {
  Math math = Math::kSimt;
  std::vector<Math> legal;
  DType operands = DType::kF32;
  std::string numerics;

  std::vector<std::pair<std::string, std::string>> knobs() const {
    return {{"math", std::string(numerics::info(math).name)}};
  }
};

bool is_too_coarse(const WrittenMath& c) { return std::find(c.legal.begin(), c.legal.end(), c.math) == c.legal.end(); }

std::string reason(const WrittenMath& c) { return less_accurate(c.math, c.legal, c.operands, c.numerics); }

const std::vector<Rule<WrittenMath>>& rules() {
  static const std::vector<Rule<WrittenMath>> table = {
      {"math.accuracy", "E110", Severity::kError,
       "`math` is at least as accurate as `numerics` asks for the operands' format", is_too_coarse, reason,
       [](WrittenMath& c) { c.math = c.legal.front(); }}};
  return table;
}

}  // namespace

std::string less_accurate(Math math, const std::vector<Math>& legal, DType operands, std::string_view numerics) {
  std::vector<std::string_view> names;
  for (const Math each : legal) names.push_back(numerics::info(each).name);
  return fmt::format("`math={}` is less accurate than `numerics {}` allows for {} operands (legal: {})",
                     numerics::info(math).name, numerics, name_of(operands), fmt::join(names, ", "));
}

void check_math(const Context& context, const ir::Kernel& kernel, DType operands, numerics::OwnMath own,
                Diagnostics& diagnostics) {
  const auto math = numerics::math_from_name(kernel.knobs.name_or("math", "auto"));
  if (!math) return;
  const auto policy = numerics::policy_from_name(context.numerics).value_or(numerics::Policy::kReference);
  check_rules(rules(), {*math, numerics::legal_maths(policy, operands, own), operands, context.numerics}, kernel.span,
              diagnostics);
}

std::vector<RuleText> math_rules() { return texts_of(rules()); }

}  // namespace solstice::families
