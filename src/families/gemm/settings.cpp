#include "families/gemm/settings.h"

#include <algorithm>

#include "numerics/policy.h"

namespace solstice::families::gemm {

DType operand_dtype(const Contraction& c) { return tensor_core::operand_dtype(c.a.dtype, c.b.dtype); }
DType operand_dtype(const Problem& problem) { return operand_dtype(problem.product); }

const std::vector<Math>& allowed_maths(const Context& context, const Problem& problem) {
  const auto policy = numerics::policy_from_name(context.numerics).value_or(numerics::Policy::kReference);
  return numerics::legal_maths(policy, operand_dtype(problem));
}

bool is_scaled(Math math, const Problem& problem) {
  const bool halves = problem.product.a.dtype == DType::kF16 && problem.product.b.dtype == DType::kF16;
  return (math == Math::kFP16 || math == Math::kFP16x3) && !halves;
}

bool needs_planes(const Settings& s, const OperandAccess& operand, Major major) {
  if (s.math == Math::kSimt || s.math == Math::kFP8) return false;  // fp8 is what is stored
  const bool native = !s.scaled && numerics::info(s.math).planes == 1 && element_bytes(s.math) == 2 &&
                      operand.dtype == (s.math == Math::kFP16 ? DType::kF16 : DType::kBF16);
  return !(native && copies_directly(operand, major));
}

bool is_packed(const ir::Program& program, const Settings& s, const OperandAccess& operand) {
  const auto is_weight = [&](int tensor) { return program.tensor(tensor).kind == ir::TensorKind::kParam; };
  return s.prepack && (operand.made ? std::all_of(operand.made->reads.begin(), operand.made->reads.end(), is_weight)
                                    : is_weight(operand.tensor));
}

std::string_view name_of(Streamed stream) {
  return stream == Streamed::kNone ? "none" : stream == Streamed::kRows ? "rows" : "columns";
}

}  // namespace solstice::families::gemm
