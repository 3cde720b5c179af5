#include "codegen/index_values.h"

#include <fmt/format.h>

#include "codegen/emitter.h"

namespace solstice::codegen {
namespace {

void bind_digits(Emitter& emitter, Interner& indices, const std::vector<int>& digits, const std::string& name) {
  int64_t extent = 1;
  for (const int id : digits) extent *= indices.index(id).extent;
  Value rest = emitter.variable(CType::kI32, name, 0, {0, extent - 1});
  for (size_t k = digits.size(); k-- > 0;) {
    const int64_t by = indices.index(digits[k]).extent;
    Value digit = rest;
    if (k > 0) {
      digit = emitter.define(CType::kI32, fmt::format("{} % {}", rest.text, by), 0, {0, by - 1});
      rest = emitter.define(CType::kI32, fmt::format("{} / {}", rest.text, by), 0, {0, rest.range.hi / by});
    }
    emitter.bind(digits[k], Binding{0, {{digit, 1}}});
  }
}

}  // namespace

Result<IndexValue> emit_index_value(const ir::Program& program, const ir::Equation& equation,
                                    const IndexVariable& variable, const ir::ExprRef& expression) {
  Interner indices;
  std::map<int, ir::ExprRef> renaming;
  std::vector<int> digits;
  for (const int id : variable.indices) {
    const ir::Index& index = equation.indices[static_cast<size_t>(id)];
    digits.push_back(indices.add_index(index.name, index.extent));
    renaming[id] = indices.index_node(digits.back());
  }
  for (size_t id = 0; id < equation.indices.size(); ++id) {
    if (equation.indices[id].extent == 1) renaming.emplace(static_cast<int>(id), indices.integer(0));
  }
  Emitter emitter(program, indices);
  bind_digits(emitter, indices, digits, variable.name);
  SOLSTICE_TRY(const Value value, emitter.emit(indices.substitute(expression, renaming, equation.indices)));
  IndexValue out;
  out.text = emitter.take(0);
  out.value = value.text;
  out.reads = emitter.tensors_read();
  for (const int id : out.reads) out.names.push_back(emitter.pointer_name(id));
  return out;
}

}  // namespace solstice::codegen
