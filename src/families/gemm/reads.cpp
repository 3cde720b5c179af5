#include "families/gemm/reads.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/contraction.h"
#include "ir/walk_distinct.h"

namespace solstice::families::gemm {

int64_t OperandRead::coefficient_of(int index) const { return offset.coefficient(index); }

bool OperandRead::gathers_by(int index) const {
  return std::any_of(gathers.begin(), gathers.end(),
                     [&](const Gather& g) { return indices_in(g.at).count(index) > 0; });
}

std::set<int> indices_in(const ir::ExprRef& expression) {
  std::set<int> out;
  ir::walk_distinct(expression, [&](const ir::Expr& e) {
    if (e.op == ir::Op::kIndex) out.insert(e.id);
  });
  return out;
}

Result<OperandRead> operand_read(const ir::Program& program, const ir::Expr& read) {
  const ir::Tensor& tensor = program.tensor(read.id);
  if (read.has_else) return fail(Code::illegal_knobs, fmt::format("`{}` is read with `else`", tensor.name));
  const ir::Access access(read);
  OperandRead out;
  out.tensor = read.id;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const auto& at = access.at[d];
    if (!at) {
      out.gathers.push_back({read.args[d], tensor.strides[d], tensor.shape[d]});
      continue;
    }
    out.offset.offset += at->offset * tensor.strides[d];
    for (const auto& [index, coefficient] : at->terms) {
      const auto known = std::find_if(out.offset.terms.begin(), out.offset.terms.end(),
                                      [id = index](const auto& t) { return t.first == id; });
      if (known != out.offset.terms.end())
        known->second += coefficient * tensor.strides[d];
      else
        out.offset.terms.emplace_back(index, coefficient * tensor.strides[d]);
    }
  }
  return out;
}

}  // namespace solstice::families::gemm
