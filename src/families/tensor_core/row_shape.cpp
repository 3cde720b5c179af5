#include "families/tensor_core/row_shape.h"

#include <algorithm>

namespace solstice::families::tensor_core {

reduction::Shape shape_of_rows(const ir::Program& program, const Product& product, const codegen::FlatKernel& flat,
                               const std::vector<int>& canonical) {
  const auto& order = program.equation(product.equation).free;
  const auto canonical_of = [&](int index) {
    return canonical[static_cast<size_t>(std::find(order.begin(), order.end(), index) - order.begin())];
  };
  reduction::Shape out;
  out.flat = flat;
  std::vector<int> digits;
  for (const auto* indices : {&product.batch_indices, &product.m_indices}) {
    for (const int id : *indices) digits.push_back(canonical_of(id));
  }
  out.rows = codegen::fused_loops(program, out.flat, digits);
  out.row_count = product.batches * product.m;
  for (const int id : product.n_indices)
    out.columns.push_back({{canonical_of(id)}, out.flat.indices.index(canonical_of(id)).extent});
  out.column_count = product.n;
  return out;
}

const ir::ExprRef& without_casts(const ir::ExprRef& e) {
  return e->op == ir::Op::kCast ? without_casts(e->args[0]) : e;
}

}  // namespace solstice::families::tensor_core
