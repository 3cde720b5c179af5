#include "families/gemm/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/gemm/find_contraction.h"
#include "families/gemm/pair.h"
#include "families/gemm/prologue.h"
#include "families/tensor_core/tile_config.h"
#include "ir/walk_distinct.h"

namespace solstice::families::gemm {
namespace {

Status require_built(const ir::Kernel& kernel) {
  if (kernel.knobs.name_or("backend", "lean") == "cutlass")
    return fail(Code::not_yet, "`backend=cutlass` is not built yet", "`backend=lean` is");
  return success();
}

Status require_format(const ir::Program& program, const OperandAccess& operand) {
  if (is_built_format(operand.dtype)) return success();
  const bool has_instruction = size_of(operand.dtype) == 1 && operand.dtype != DType::kBool;
  return fail(has_instruction ? Code::not_yet : Code::illegal_knobs,
              fmt::format("operand `{}` is {}; this family multiplies f32, f16, bf16, e4m3 and e5m2",
                          program.tensor(operand.tensor).name, name_of(operand.dtype)));
}

constexpr int64_t kMostGroups = 512;  // whose offsets lie in shared memory, with the ring

Error not_yet(const std::string& why) { return fail(Code::not_yet, "grouped products: " + why); }

// Integers that choose rows and matrices are read from memory by the sort.
Status require_stored(const ir::Program& program, const ir::Kernel& kernel, const ir::ExprRef& at) {
  std::string found;
  ir::walk_distinct(at, [&](const ir::Expr& e) {
    if (e.op == ir::Op::kReduce || e.op == ir::Op::kRank) found = "a row's group is computed by a reduction";
    if (e.op != ir::Op::kRead) return;
    const ir::Tensor& tensor = program.tensor(e.id);
    const bool own = std::any_of(kernel.equations.begin(), kernel.equations.end(),
                                 [&](int id) { return program.equation(id).target == e.id; });
    if (!tensor.dtype || own) found = fmt::format("`{}` is computed in the same kernel", tensor.name);
  });
  return found.empty() ? success() : Status(not_yet(found));
}

// Lines are whole 16-byte pieces for the copy engine and for cp.async.
Status require_operand(const ir::Program& program, const OperandAccess& x, Major wanted, Major major) {
  const std::string& name = program.tensor(x.tensor).name;
  if (wanted != Major::kNone && major != wanted)
    return not_yet(
        fmt::format("operand `{}` is not contiguous along its {}", name, wanted == Major::kK ? "`k`" : "columns"));
  if (!copies_directly(x, major)) return not_yet(fmt::format("lines of operand `{}` are not 16-byte aligned", name));
  return success();
}

// Errors, each with its reason: illegal_knobs where `grouped` contradicts the equations, not_yet where no kernel takes
// these operands.
Status require_grouping(const ir::Program& program, const ir::Kernel& kernel, const Contraction& c) {
  const std::string written = kernel.knobs.name_or("grouped", "auto");
  const Grouping& grouping = c.grouping;
  const bool grouped = grouping.kind != Grouped::kNone;
  if (written == "true" && !grouped)
    return fail(
        Code::illegal_knobs,
        "`grouped=true`, but no row chooses a matrix (`w[e[m], n, k]`) or a group of the sum (`where e[m] == g`)");
  if (written == "false" && grouped)
    return fail(Code::illegal_knobs, "`grouped=false`, but each row chooses its matrix: that is a grouped product");
  if (!grouped) return success();
  if (c.a.dtype != c.b.dtype || (c.a.dtype != DType::kF16 && c.a.dtype != DType::kBF16))
    return not_yet(fmt::format("operands are {} and {}; both have to be f16 or both bf16", name_of(c.a.dtype),
                               name_of(c.b.dtype)));
  if (grouping.groups > kMostGroups)
    return not_yet(fmt::format("{} groups; {} are the most", grouping.groups, kMostGroups));
  const bool rows = grouping.kind == Grouped::kRows;
  SOLSTICE_CHECK(require_operand(program, c.a, rows ? Major::kK : Major::kMN,
                                 rows            ? major_of(c.a, c.m, c.k)
                                 : c.a.line == 1 ? Major::kMN
                                                 : Major::kNone));
  SOLSTICE_CHECK(require_operand(program, c.b, rows ? Major::kNone : Major::kMN,
                                 rows            ? major_of(c.b, c.n, c.k)
                                 : c.b.line == 1 ? Major::kMN
                                                 : Major::kNone));
  for (const ir::ExprRef& at : {grouping.of, grouping.a.at, grouping.b.at})
    SOLSTICE_CHECK(require_stored(program, kernel, at));
  return success();
}

// The epilogue of `out.product`. Where its reductions run along M, it is not written, and `turned` is set.
Status set_epilogue(const ir::Program& program, const ir::Kernel& kernel, double instructions, Problem& out,
                    bool& turned) {
  const Contraction& c = out.product;
  EpilogueScope scope;
  scope.instructions = instructions;
  if (c.second)
    scope.second = {
        c.second->equation, c.second->node, {c.second->batch_indices, c.second->m_indices, c.second->n_indices}};
  if (is_grouped(out))
    scope.unreduced = "a grouped product";
  else if (is_dual(out))
    scope.unreduced = "two sums of products";
  if (c.a.made || c.b.made)
    scope.not_resident = "a row-resident epilogue of a product whose operand is computed in the same kernel";
  SOLSTICE_TRY(out.epilogue, epilogue_of(program, kernel, c, scope, turned));
  return success();
}

bool by_columns(const Problem& problem) { return is_stored_by_columns(problem.product, problem.epilogue); }

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
  SOLSTICE_TRY(const double instructions, instructions_after(program, kernel));
  bool turn = false;
  SOLSTICE_CHECK(set_epilogue(program, kernel, instructions, out, turn));
  SOLSTICE_CHECK(require_outputs(program, out.epilogue));
  if (out.epilogue.reduces() && by_columns(out))
    return fail(Code::not_yet, "a product that is stored by columns and reduced along its rows");
  const bool may_turn = out.product.grouping.kind != Grouped::kRows;  // B has the matrices there
  if (!turn && (out.epilogue.reduces() || !may_turn || !by_columns(out))) return out;
  if (is_dual(out))
    return fail(
        Code::not_yet,
        fmt::format("two sums of products, whose results are contiguous along the rows of `{}`, which they share",
                    program.tensor(out.product.a.tensor).name));
  out.product = exchanged(out.product);
  SOLSTICE_CHECK(set_epilogue(program, kernel, instructions, out, turn));
  if (out.epilogue.reduces() && by_columns(out))
    return fail(Code::not_yet, "a product that is stored by rows and reduced along its columns");
  return out;
}

}  // namespace

Result<Problem> make_problem(const ir::Program& program, const ir::Kernel& kernel) {
  SOLSTICE_TRY(Problem out, problem_by_rows(program, kernel));
  SOLSTICE_CHECK(write_prologues(program, out.product));
  return out;
}

}  // namespace solstice::families::gemm
