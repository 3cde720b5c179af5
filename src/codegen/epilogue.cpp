#include "codegen/epilogue.h"

#include "codegen/epilogue/addresses.h"
#include "codegen/epilogue/elements.h"
#include "codegen/epilogue/equations.h"

namespace solstice::codegen {
namespace {

// The caller writes the sweeps; the copy engine needs the addresses of the stores.
Result<EpilogueCode> resident_epilogue(const ir::Program& program, const EpilogueRequest& request,
                                       EpilogueEquations equations) {
  EpilogueCode out;
  out.dual = request.second.has_value();
  ResidentEpilogue& whole = out.whole.emplace();
  whole.accumulator = equations.accumulator;
  whole.canonical = equations.canonical;
  whole.reduced = equations.anchor_reduced;
  whole.digits = equations.digits;
  Emitter emitter(program, equations.flat.indices);
  const std::vector<int> steps = bind_variables(emitter, program, equations, request);
  for (const FlatEquation& equation : equations.flat.equations) {
    whole.of_rows.push_back(equations.is_row_result(equation));
    if (whole.of_rows.back()) continue;
    EpilogueStore store;
    store.tensor = equation.target;
    store.equation = equation.equation;
    set_strides(program, equations, equation, steps, store);
    if (!store.strides) {
      Emitter own(program, equations.flat.indices);
      bind_variables(own, program, equations, request);
      SOLSTICE_TRY(const Emitter::Place at, own.place(program.tensor(equation.target), equation.lhs));
      store.offset = at.offset.text;
      store.before = own.take(0);
    }
    out.stores.push_back(std::move(store));
  }
  whole.flat = std::move(equations.flat);
  return out;
}

}  // namespace

Result<EpilogueCode> emit_epilogue(const ir::Program& program, const ir::Kernel& kernel,
                                   const EpilogueRequest& request) {
  SOLSTICE_TRY(EpilogueEquations equations, epilogue_equations(program, kernel, request));
  return equations.row_resident ? resident_epilogue(program, request, std::move(equations))
                                : emit_elements(program, request, std::move(equations));
}

}  // namespace solstice::codegen
