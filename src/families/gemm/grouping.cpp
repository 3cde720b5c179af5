#include "families/gemm/grouping.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::families::gemm {
namespace {

Error not_yet(const std::string& why) { return fail(Code::not_yet, "grouped products: " + why); }

// Integers that choose rows and matrices are read from memory by the sort.
Status require_stored(const ir::Program& program, const ir::Kernel& kernel, const ir::ExprRef& at) {
  std::string found;
  ir::walk(at, [&](const ir::Expr& e) {
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

}  // namespace

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

}  // namespace solstice::families::gemm
