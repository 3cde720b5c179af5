#include "codegen/epilogue/elements.h"

#include <fmt/format.h>

#include "codegen/epilogue/addresses.h"
#include "codegen/need.h"
#include "codegen/short_values.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;

class ElementWriter {
 public:
  ElementWriter(const ir::Program& program, const EpilogueRequest& request, EpilogueEquations equations)
      : program_(program),
        request_(request),
        equations_(std::move(equations)),
        emitter_(program, equations_.flat.indices) {}

  Result<EpilogueCode> write() {
    out_.dual = request_.second.has_value();
    SOLSTICE_TRY(const std::vector<ExprRef> terms, row_terms());
    emitter_.set_short_values(short_values_of(program_, equations_.flat));
    steps_ = bind_variables(emitter_, program_, equations_, request_);
    const int depth = emitter_.push();
    emitter_.set_hook([&](Emitter& e, const ExprRef& node) -> Result<std::optional<Value>> {
      if (!equations_.is_accumulator(*node)) return std::optional<Value>();
      return std::optional(e.variable(CType::kF32, node->id == equations_.accumulator ? "acc" : "acc1", depth));
    });
    for (const FlatEquation& equation : equations_.flat.equations) {
      if (!equations_.is_row_result(equation)) SOLSTICE_CHECK(store(equation));
    }
    for (const ExprRef& term : terms) {
      SOLSTICE_TRY(const Value value, emitter_.emit(term));
      out_.rows->terms.push_back(use(emitter_.convert(value, CType::kF32)));
    }
    out_.domain = domain();
    write_statements(emitter_.take_statements(0), emitter_.take_statements(depth));
    out_.reads = emitter_.tensors_read();
    for (const int id : out_.reads) out_.names.push_back(emitter_.pointer_name(id));
    return std::move(out_);
  }

 private:
  // The values that the caller wants for his reductions.
  Result<std::vector<ExprRef>> row_terms() {
    if (!equations_.reduce) return std::vector<ExprRef>();
    EpilogueRows& rows = out_.rows.emplace();
    rows.flat.indices = equations_.flat.indices;
    rows.canonical = equations_.canonical;
    rows.reduced = equations_.anchor_reduced;
    for (const FlatEquation& equation : equations_.flat.equations) {
      if (equations_.is_row_result(equation))
        rows.flat.equations.push_back(equation);
      else
        rows.elements.push_back(equation.rhs);
    }
    return request_.terms(rows);
  }

  const std::string& use(const Value& value) { return *used_.insert(value.text).first; }

  Status store(const FlatEquation& equation) {
    EpilogueStore out;
    out.tensor = equation.target;
    out.equation = equation.equation;
    SOLSTICE_TRY(const Value value, emitter_.emit(equation.rhs));
    out.value = use(value);
    out.type = value.type;
    set_strides(program_, equations_, equation, steps_, out);
    if (!out.strides) {
      SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(equation.target), equation.lhs));
      out.offset = use(at.offset);
    }
    out_.stores.push_back(std::move(out));
    return success();
  }

  // One for all outputs, over variables of one digit each.
  std::optional<EpilogueDomain> domain() const {
    const auto is_value = [&](const ir::Expr& e) { return equations_.is_accumulator(e); };
    std::optional<ir::Affine> form;
    for (size_t i = 0; i < equations_.flat.equations.size(); ++i) {
      const auto where = needed_where(equations_.flat.indices, equations_.flat.equations[i].rhs, is_value);
      if (!where || (i > 0 && where != form)) return std::nullopt;
      form = where;
    }
    EpilogueDomain out;
    out.base = form->offset;
    size_t terms = 0;
    for (const std::vector<int>& digits : equations_.digits) {
      out.coefficients.push_back(0);
      if (digits.size() != 1) continue;
      out.coefficients.back() = form->coefficient(digits[0]);
      terms += out.coefficients.back() != 0;
    }
    return terms == form->terms.size() ? std::optional(out) : std::nullopt;
  }

  // Values of `load` that `compute` and the stores use become fields: assigned where they are defined.
  void write_statements(const std::vector<Statement>& load, const std::vector<Statement>& compute) {
    add_operands(compute, used_);
    out_.fields = fields_of(load, used_);
    for (const Statement& s : load) {
      out_.load += text_of(s);
      if (!s.name.empty() && used_.contains(s.name)) out_.load += fmt::format("in.{0} = {0};\n", s.name);
    }
    for (const Field& field : out_.fields)
      out_.compute += fmt::format("const {0} {1} = in.{1};\n", field.type, field.name);
    out_.compute += text_of(compute);
  }

  const ir::Program& program_;
  const EpilogueRequest& request_;
  EpilogueEquations equations_;
  Emitter emitter_;
  std::vector<int> steps_;      // by variable: bind_variable()
  std::set<std::string> used_;  // texts of values that `compute` and the stores use
  EpilogueCode out_;
};

}  // namespace

Result<EpilogueCode> emit_elements(const ir::Program& program, const EpilogueRequest& request,
                                   EpilogueEquations equations) {
  return ElementWriter(program, request, std::move(equations)).write();
}

}  // namespace solstice::codegen
