#include "families/tensor_core/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "families/emission.h"
#include "families/tensor_core/tile_config.h"
#include "ir/walk_distinct.h"

namespace solstice::families::tensor_core {
namespace {

bool same_indices(std::vector<int> a, std::vector<int> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// Instructions of all equations, and of adding an element to each reduction: a selection, an operation and a share of
// the shuffles.
double instructions_of_element(const RowResults& results, const codegen::EpilogueRows& rows) {
  constexpr double kReduced = 2.5;
  codegen::FlatKernel all = rows.flat;
  for (const ir::ExprRef& e : rows.elements) all.equations.push_back({-1, -1, {}, {}, e});
  const double element =
      instructions_of(all, [&](const ir::ExprRef& e) { return results.shape.along_row(e) ? 1.0 : 0.0; });
  return element + kReduced * static_cast<double>(results.reductions.size());
}

// Instructions of all equations; sweeps compute some of an element again.
double instructions_of_element(const RowResident& rows, const codegen::ResidentEpilogue& whole) {
  constexpr double kReduced = 2.5;
  const double element =
      instructions_of(whole.flat, [&](const ir::ExprRef& e) { return rows.shape.along_row(e) ? 1.0 : 0.0; });
  return element + kReduced * static_cast<double>(rows.reduction_count());
}

Error refuse_part_of_row(const std::string& name) {
  return fail(Code::not_yet,
              fmt::format("`{}` reduces along a part of the product's rows or columns, or a batch: an epilogue "
                          "reduces along all of its rows or all of its columns",
                          name),
              "store the product, and reduce it in a kernel `by rows` or `by reduce`");
}

// The values of an element that reductions along N need. None where they run along M: `turned`.
Result<std::vector<ir::ExprRef>> terms_of_rows(const ir::Program& program, const Product& product,
                                               const EpilogueScope& scope, const codegen::EpilogueRows& rows,
                                               Epilogue& out, bool& turned) {
  const std::string& name = program.tensor(rows.flat.equations.front().target).name;
  if (!scope.unreduced.empty())
    return fail(Code::not_yet, fmt::format("`{}` reduces over the result of {}", name, scope.unreduced));
  turned = same_indices(rows.reduced, product.m_indices);
  if (turned) return std::vector<ir::ExprRef>();
  if (!same_indices(rows.reduced, product.n_indices)) return refuse_part_of_row(name);
  SOLSTICE_TRY(out.rows, row_results(program, product, rows));
  out.instructions = instructions_of_element(*out.rows, rows);
  return out.rows->terms;
}

Status set_resident(const ir::Program& program, const Product& product, const EpilogueScope& scope, Epilogue& out,
                    bool& turned) {
  if (!scope.not_resident.empty()) return fail(Code::not_yet, std::string(scope.not_resident));
  const codegen::ResidentEpilogue& whole = *out.code.whole;
  turned = same_indices(whole.reduced, product.m_indices);
  if (turned) return success();
  if (!same_indices(whole.reduced, product.n_indices))
    return refuse_part_of_row(program.tensor(whole.flat.equations.front().target).name);
  SOLSTICE_TRY(out.resident, row_resident(program, product, whole));
  out.code.reads = out.resident->reads;
  out.code.names = out.resident->names;
  out.instructions = instructions_of_element(*out.resident, whole);
  return success();
}

}  // namespace

Result<Epilogue> epilogue_of(const ir::Program& program, const ir::Kernel& kernel, const Product& product,
                             const EpilogueScope& scope, bool& turned) {
  Epilogue out;
  out.instructions = scope.instructions;
  codegen::EpilogueRequest request{
      product.equation,
      product.node,
      {{"batch", product.batch_indices}, {"m", product.m_indices}, {"n", product.n_indices}}};
  request.second = scope.second;
  request.terms = [&](const codegen::EpilogueRows& rows) {
    return terms_of_rows(program, product, scope, rows, out, turned);
  };
  request.row_resident = scope.unreduced.empty();
  SOLSTICE_TRY(out.code, codegen::emit_epilogue(program, kernel, request));
  if (out.code.whole) SOLSTICE_CHECK(set_resident(program, product, scope, out, turned));
  return out;
}

Result<double> instructions_after(const ir::Program& program, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const codegen::FlatKernel flat, codegen::flatten(program, kernel));
  std::set<int> summed;
  for (const codegen::FlatEquation& equation : flat.equations) {
    ir::walk_distinct(equation.rhs, [&](const ir::Expr& e) { summed.insert(e.binders.begin(), e.binders.end()); });
  }
  return instructions_of(flat, [&](const ir::ExprRef& e) {
    const bool inside =
        std::any_of(summed.begin(), summed.end(), [&](int binder) { return codegen::depends_on(e, binder); });
    return inside || e->op == ir::Op::kReduce ? 0.0 : 1.0;
  });
}

Status require_outputs(const ir::Program& program, const Epilogue& epilogue) {
  for (const codegen::EpilogueStore& store : epilogue.code.stores) {
    const ir::Tensor& tensor = program.tensor(store.tensor);
    const DType dtype = tensor.dtype.value_or(DType::kF32);
    if (is_built_format(dtype)) continue;
    return fail(Code::not_yet, fmt::format("`{}` is {}; this family stores f32, f16, bf16, e4m3 and e5m2", tensor.name,
                                           name_of(dtype)));
  }
  return success();
}

bool is_stored_by_columns(const Product& product, const Epilogue& epilogue) {
  if (epilogue.code.stores.empty()) return false;
  const auto& strides = epilogue.code.stores.front().strides;
  return strides && (*strides)[1] == 1 && (*strides)[2] != 1 && product.m > 1;
}

bool is_triangular(const Product& product, const Epilogue& epilogue) {
  constexpr int64_t kMost = INT32_MAX / 4;  // the device counts in int, up to a tile beyond the result
  const auto& domain = epilogue.code.domain;
  if (!domain || domain->coefficients[0] != 0) return false;
  const auto size = [](int64_t coefficient, int64_t extent) {
    return std::abs(coefficient) > kMost ? kMost : std::abs(coefficient) * (extent + 512);
  };
  return size(domain->coefficients[1], product.m) + size(domain->coefficients[2], product.n) + std::abs(domain->base) <
         kMost;
}

bool stores_by_copy_engine(const ir::Program& program, const Product& product, const Epilogue& epilogue) {
  if (epilogue.code.stores.empty()) return false;
  const codegen::EpilogueStore& store = epilogue.code.stores.front();
  if (!store.strides) return false;
  const int64_t unit = 16 / size_of(*program.tensor(store.tensor).dtype);
  const auto& s = *store.strides;
  const bool aligned = store.base % unit == 0 && s[0] % unit == 0 && s[1] % unit == 0;
  // The copy engine writes whole units: after a row that ends within one there would have to be room.
  return s[2] == 1 && aligned && s[1] >= product.n && product.n % unit == 0;
}

}  // namespace solstice::families::tensor_core
