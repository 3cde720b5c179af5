#include "families/gemm/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "families/emission.h"
#include "families/gemm/grouped.h"
#include "families/gemm/prologue.h"

namespace solstice::families::gemm {
namespace {

bool is_built(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 || is_fp8(dtype);
}

bool same_indices(std::vector<int> a, std::vector<int> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// What all equations do with an element, and what it costs to take it into each reduction: a selection, an operation
// and a share of the shuffles.
double instructions_of_element(const RowResults& results, const codegen::EpilogueRows& rows) {
  constexpr double kReduced = 2.5;
  codegen::FlatKernel all = rows.flat;
  for (const ir::ExprRef& e : rows.elements) all.equations.push_back({-1, -1, {}, {}, e});
  const double element =
      instructions_of(all, [&](const ir::ExprRef& e) { return results.shape.along_row(e) ? 1.0 : 0.0; });
  return element + kReduced * static_cast<double>(results.findings.size());
}

// What all equations do with an element; sweeps compute some of it again.
double instructions_of_element(const WholeRows& rows, const codegen::WholeEpilogue& whole) {
  constexpr double kReduced = 2.5;
  const double element =
      instructions_of(whole.flat, [&](const ir::ExprRef& e) { return rows.shape.along_row(e) ? 1.0 : 0.0; });
  return element + kReduced * static_cast<double>(rows.finding_count());
}

Status refuse_reduced(const std::string& name) {
  return fail(Code::not_yet,
              fmt::format("`{}` reduces along a part of the product's rows or columns, or a batch: an epilogue "
                          "reduces along all of its rows or all of its columns; store the product, and reduce it in a "
                          "kernel `by rows` or `by reduce`",
                          name));
}

// The epilogue of `out.product`. Where its reductions run along M, it is not written, and `turn` is set.
Status set_epilogue(const ir::Program& program, const ir::Kernel& kernel, Problem& out, bool& turn) {
  const Contraction& c = out.product;
  const auto terms = [&](const codegen::EpilogueRows& rows) -> Result<std::vector<ir::ExprRef>> {
    const std::string& name = program.tensor(rows.flat.equations.front().target).name;
    if (is_grouped(out))
      return fail(Code::not_yet, fmt::format("`{}` reduces over the result of a grouped product", name));
    if (is_dual(out))
      return fail(Code::not_yet, fmt::format("`{}` reduces over the result of two sums of products", name));
    turn = same_indices(rows.reduced, c.m_indices);
    if (turn) return std::vector<ir::ExprRef>();
    if (!same_indices(rows.reduced, c.n_indices)) return refuse_reduced(name).error();
    SOLSTICE_TRY(out.rows, row_results(program, c, rows));
    out.epilogue_instructions = instructions_of_element(*out.rows, rows);
    return out.rows->terms;
  };
  codegen::EpilogueRequest request{
      c.equation, c.node, {{"batch", c.batch_indices}, {"m", c.m_indices}, {"n", c.n_indices}}};
  if (c.second)
    request.second = {
        c.second->equation, c.second->node, {c.second->batch_indices, c.second->m_indices, c.second->n_indices}};
  request.terms = terms;
  request.whole_rows = !is_grouped(out) && !is_dual(out);
  SOLSTICE_TRY(out.epilogue, codegen::emit_epilogue(program, kernel, request));
  if (!out.epilogue.whole) return success();
  if (c.a.made || c.b.made)
    return fail(Code::not_yet,
                "elements that need their row's result, of a product whose operand is computed in the same kernel");
  const codegen::WholeEpilogue& whole = *out.epilogue.whole;
  turn = same_indices(whole.reduced, c.m_indices);
  if (turn) return success();
  if (!same_indices(whole.reduced, c.n_indices))
    return refuse_reduced(program.tensor(whole.flat.equations.front().target).name);
  SOLSTICE_TRY(out.whole, whole_rows(program, c, whole));
  out.epilogue.reads = out.whole->reads;
  out.epilogue.names = out.whole->names;
  out.epilogue_instructions = instructions_of_element(*out.whole, whole);
  return success();
}

// Columns of the result lie contiguously.
bool by_columns(const Problem& problem) {
  if (problem.epilogue.stores.empty()) return false;
  const auto& strides = problem.epilogue.stores.front().strides;
  return strides && (*strides)[1] == 1 && (*strides)[2] != 1 && problem.product.m > 1;
}

Status check_outputs(const ir::Program& program, const codegen::EpilogueCode& code) {
  for (const codegen::EpilogueStore& store : code.stores) {
    const ir::Tensor& tensor = program.tensor(store.tensor);
    const DType dtype = tensor.dtype.value_or(DType::kF32);
    if (is_built(dtype)) continue;
    return fail(Code::not_yet, fmt::format("`{}` is {}; this family stores f32, f16, bf16, e4m3 and e5m2", tensor.name,
                                           name_of(dtype)));
  }
  return success();
}

Status require_built(const ir::Kernel& kernel) {
  if (kernel.knobs.name_or("backend", "lean") == "cutlass")
    return fail(Code::not_yet, "`backend=cutlass` is not built yet; `backend=lean` is");
  return success();
}

Status require_format(const ir::Program& program, const OperandAccess& operand) {
  if (is_built(operand.dtype)) return success();
  const bool has_instruction = size_of(operand.dtype) == 1 && operand.dtype != DType::kBool;
  return fail(has_instruction ? Code::not_yet : Code::illegal_knobs,
              fmt::format("operand `{}` is {}; this family multiplies f32, f16, bf16, e4m3 and e5m2",
                          program.tensor(operand.tensor).name, name_of(operand.dtype)));
}

// What does not vary with k, once for each element.
Result<double> instructions_behind(const ir::Program& program, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const codegen::FlatKernel flat, codegen::flatten(program, kernel));
  std::set<int> summed;
  for (const codegen::FlatEquation& equation : flat.equations) {
    ir::walk(equation.rhs, [&](const ir::Expr& e) { summed.insert(e.binders.begin(), e.binders.end()); });
  }
  return instructions_of(flat, [&](const ir::ExprRef& e) {
    const bool inside =
        std::any_of(summed.begin(), summed.end(), [&](int binder) { return codegen::depends_on(e, binder); });
    return inside || e->op == ir::Op::kReduce ? 0.0 : 1.0;
  });
}

// With the operands in the order that makes the result's rows contiguous.
Result<Problem> problem_by_rows(const ir::Program& program, const ir::Kernel& kernel) {
  SOLSTICE_CHECK(require_built(kernel));
  Problem out;
  SOLSTICE_TRY(out.product, find_contraction(program, kernel));
  SOLSTICE_CHECK(require_format(program, out.product.a));
  SOLSTICE_CHECK(require_format(program, out.product.b));
  if (is_dual(out) && (is_fp8(out.product.a.dtype) || is_fp8(out.product.b.dtype)))
    return fail(Code::not_yet, "two sums of products of fp8 operands in one kernel are not built yet");
  SOLSTICE_CHECK(require_grouping(program, kernel, out.product));
  SOLSTICE_TRY(out.epilogue_instructions, instructions_behind(program, kernel));
  bool turn = false;
  SOLSTICE_CHECK(set_epilogue(program, kernel, out, turn));
  SOLSTICE_CHECK(check_outputs(program, out.epilogue));
  const auto reduced = [&] { return out.rows || out.whole; };
  if (reduced() && by_columns(out))
    return fail(Code::not_yet, "a product that is stored by columns and reduced along its rows");
  const bool may_turn = out.product.grouping.kind != Grouped::kRows;  // B has the matrices there
  if (!turn && (reduced() || !may_turn || !by_columns(out))) return out;
  if (is_dual(out))
    return fail(
        Code::not_yet,
        fmt::format("two sums of products, whose results are contiguous along the rows of `{}`, which they share",
                    program.tensor(out.product.a.tensor).name));
  out.product = exchanged(out.product);
  SOLSTICE_CHECK(set_epilogue(program, kernel, out, turn));
  if (reduced() && by_columns(out))
    return fail(Code::not_yet, "a product that is stored by rows and reduced along its columns");
  return out;
}

}  // namespace

Result<Problem> make_problem(const ir::Program& program, const ir::Kernel& kernel) {
  SOLSTICE_TRY(Problem out, problem_by_rows(program, kernel));
  SOLSTICE_CHECK(write_prologues(program, out.product));
  return out;
}

Major major_of(const OperandAccess& operand, int64_t lines, int64_t k) {
  if (operand.k == 1 || k == 1) return Major::kK;
  if (operand.line == 1 || lines == 1) return Major::kMN;
  return Major::kNone;
}

int vector_of(const OperandAccess& operand, Major major, int limit) {
  const int64_t across = major == Major::kK ? operand.line : operand.k;
  int vector = limit;
  while (vector > 1 && (operand.offset % vector || across % vector || operand.batch % vector)) vector /= 2;
  return vector;
}

bool is_fp8(DType dtype) { return dtype == DType::kE4M3 || dtype == DType::kE5M2; }

bool copies_directly(const OperandAccess& operand, Major major) {
  if (operand.made) return false;
  const int piece = 16 / size_of(operand.dtype);
  const bool has_instruction = operand.dtype != DType::kF32 && (!is_fp8(operand.dtype) || major == Major::kK);
  return has_instruction && major != Major::kNone && vector_of(operand, major, piece) == piece;
}

bool has_half_plane(const Problem& problem) {
  constexpr int64_t kMost = INT32_MAX / 4;  // the device counts in int, up to a tile beyond the result
  const auto& domain = problem.epilogue.domain;
  if (!domain || domain->coefficients[0] != 0) return false;
  const auto size = [](int64_t coefficient, int64_t extent) {
    return std::abs(coefficient) > kMost ? kMost : std::abs(coefficient) * (extent + 512);
  };
  return size(domain->coefficients[1], problem.product.m) + size(domain->coefficients[2], problem.product.n) +
             std::abs(domain->base) <
         kMost;
}

bool stores_by_copy_engine(const ir::Program& program, const Problem& problem) {
  if (problem.epilogue.stores.empty()) return false;
  const codegen::EpilogueStore& store = problem.epilogue.stores.front();
  if (!store.strides) return false;
  const int64_t unit = 16 / size_of(*program.tensor(store.tensor).dtype);
  const auto& s = *store.strides;
  const bool aligned = store.base % unit == 0 && s[0] % unit == 0 && s[1] % unit == 0;
  // The copy engine writes whole units: behind a row that ends within one there would have to be room.
  return s[2] == 1 && aligned && s[1] >= problem.product.n && problem.product.n % unit == 0;
}

}  // namespace solstice::families::gemm
