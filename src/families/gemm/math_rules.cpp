// The rules on math, and on operands that its instructions take.
#include <algorithm>

#include "families/gemm/config.h"
#include "families/written_math.h"

namespace solstice::families::gemm {
namespace {

Major major_a(const GemmConfig& c) { return major_of(c.product().a, c.product().m, c.product().k); }
Major major_b(const GemmConfig& c) { return major_of(c.product().b, c.product().n, c.product().k); }
bool contiguous(const GemmConfig& c) { return major_a(c) != Major::kNone && major_b(c) != Major::kNone; }
bool along_k(const GemmConfig& c) { return major_a(c) == Major::kK && major_b(c) == Major::kK; }
bool as_stored(const GemmConfig& c, bool first) {
  return copies_directly(first ? c.product().a : c.product().b, first ? major_a(c) : major_b(c));
}

std::vector<Math> allowed(const GemmConfig& c) {
  std::vector<Math> out = allowed_maths(*c.context, *c.problem);
  out.erase(std::remove_if(out.begin(), out.end(), [](Math math) { return !is_built(math); }), out.end());
  return out;
}

bool is_allowed(const GemmConfig& c) {
  const std::vector<Math>& maths = allowed_maths(*c.context, *c.problem);
  return is_built(c.settings.math) && std::find(maths.begin(), maths.end(), c.settings.math) != maths.end();
}

}  // namespace

void add_math_rules(GemmRules& rules) {
  rules.push_back({"lean.math", "E110", Severity::kError,
                   "`math` is at least as accurate as `numerics` asks for the operands' format",
                   [](const GemmConfig& c) { return !is_allowed(c); },
                   [](const GemmConfig& c) {
                     return less_accurate(c.settings.math, allowed(c), operand_dtype(*c.problem), c.context->numerics);
                   },
                   [](GemmConfig& c) { set_math(c, c.fastest(*c.context, *c.problem, allowed(c))); }});
  rules.push_back(
      {"lean.contiguous", "E114", Severity::kError,
       "tensor cores and `stream` need operands that are contiguous along their rows or along k; `math=simt` "
       "reads any strides",
       [](const GemmConfig& c) { return (!is_simt(c) || is_streamed(c)) && !contiguous(c); },
       [](const GemmConfig& c) {
         return fmt::format("`math={}`: operand `{}` is contiguous in neither its rows nor `k`", math_name(c),
                            name_of_operand(c, major_a(c) == Major::kNone));
       },
       [](GemmConfig& c) { set_math(c, Math::kSimt), stop_streaming(c); }});
  rules.push_back(
      {"lean.as_stored", "E114", Severity::kError,
       "`math=fp8` reads both operands in place: contiguous along k, with base, lines and batches at multiples "
       "of 16 bytes",
       [](const GemmConfig& c) {
         return c.settings.math == Math::kFP8 && !(as_stored(c, true) && as_stored(c, false));
       },
       [](const GemmConfig& c) {
         const bool first = !as_stored(c, true);
         const bool turned = (first ? major_a(c) : major_b(c)) != Major::kK;
         return fmt::format("`math=fp8` reads operands in place, and {} of `{}` {}",
                            turned ? "`k`" : "base, lines or batches", name_of_operand(c, first),
                            turned ? "is not contiguous" : "are not at multiples of 16 bytes");
       },
       [](GemmConfig& c) { set_math(c, Math::kSimt), stop_streaming(c); }});
  rules.push_back(
      {"lean.along_k", "E114", Severity::kError, "TF32 takes both operands contiguous along k",
       [](const GemmConfig& c) { return !is_simt(c) && element_bytes(c.settings.math) == 4 && !along_k(c); },
       [](const GemmConfig& c) {
         return fmt::format("`math={}` needs both operands contiguous along `k`; `{}` is not", math_name(c),
                            name_of_operand(c, major_a(c) != Major::kK));
       },
       [](GemmConfig& c) {
         const std::vector<Math> maths = allowed(c);
         const auto other =
             std::find_if(maths.begin(), maths.end(), [](Math m) { return m != Math::kSimt && element_bytes(m) == 2; });
         set_math(c, other == maths.end() ? Math::kSimt : *other);
       }});
}

}  // namespace solstice::families::gemm
