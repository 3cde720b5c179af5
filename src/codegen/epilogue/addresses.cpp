#include "codegen/epilogue/addresses.h"

namespace solstice::codegen {

std::vector<int> bind_variables(Emitter& emitter, const ir::Program& program, const EpilogueEquations& equations,
                                const EpilogueRequest& request) {
  std::vector<int> out;
  for (size_t v = 0; v < request.variables.size(); ++v)
    out.push_back(bind_variable(emitter, program, equations.flat, request.variables[v].name, equations.digits[v], 0));
  return out;
}

void set_strides(const ir::Program& program, const EpilogueEquations& equations, const FlatEquation& equation,
                 const std::vector<int>& steps, EpilogueStore& store) {
  ir::Affine offset;
  const ir::Tensor& target = program.tensor(equation.target);
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    const auto form = linear_form(equations.flat.indices, equation.lhs[d]);
    if (!form) return;
    offset = add(offset, scale(*form, target.strides[d]));
  }
  std::vector<int64_t> strides;
  for (const int step : steps) {
    if (step == kSeveralSteps) return;
    strides.push_back(step == kNoStep ? 0 : offset.coefficient(step));
  }
  store.base = offset.offset;
  store.strides = std::move(strides);
}

}  // namespace solstice::codegen
