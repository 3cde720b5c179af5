#include "families/gemm/pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace solstice::families::gemm {
namespace {

bool is_same(const OperandAccess& x, const OperandAccess& y) {
  const auto source = [](const OperandAccess& operand) { return operand.made ? operand.made->source : operand.tensor; };
  return source(x) >= 0 && source(x) == source(y) && x.tensor == y.tensor && x.offset == y.offset &&
         x.batch == y.batch && x.line == y.line && x.k == y.k;
}

bool walk_alike(const ir::Equation& x, const std::vector<int>& of_x, const ir::Equation& y,
                const std::vector<int>& of_y) {
  return std::equal(of_x.begin(), of_x.end(), of_y.begin(), of_y.end(), [&](int i, int j) {
    return x.indices[static_cast<size_t>(i)].extent == y.indices[static_cast<size_t>(j)].extent;
  });
}

}  // namespace

Contraction exchanged(const Contraction& c) {
  Contraction out = c;
  std::swap(out.a, out.b);
  std::swap(out.m_indices, out.n_indices);
  std::swap(out.m, out.n);
  std::swap(out.grouping.a, out.grouping.b);
  return out;
}

Result<Contraction> paired(const ir::Program& program, Contraction x, Contraction y) {
  if (x.grouping.kind != Grouped::kNone || y.grouping.kind != Grouped::kNone)
    return fail(Code::not_yet,
                "two sums of products, one of them grouped; pairs of grouped products are not built yet");
  const bool by_b = is_same(x.b, y.a) || is_same(x.b, y.b);
  if (!is_same(x.a, y.a) && !is_same(x.a, y.b)) {
    if (!by_b)
      return fail(Code::illegal_knobs,
                  "two sums of products that share no operand in the same role; a kernel computes one of them");
    x = exchanged(x);
  }
  if (!is_same(x.a, y.a)) y = exchanged(y);
  if (x.a.made || x.b.made || y.b.made)
    return fail(Code::not_yet, "two sums of products, of which an operand is computed in the same kernel");
  const ir::Equation &of_x = program.equation(x.equation), &of_y = program.equation(y.equation);
  const bool alike = walk_alike(of_x, x.batch_indices, of_y, y.batch_indices) &&
                     walk_alike(of_x, x.m_indices, of_y, y.m_indices) &&
                     walk_alike(of_x, x.n_indices, of_y, y.n_indices) && x.k == y.k;
  const auto& name = [&](const OperandAccess& operand) { return program.tensor(operand.tensor).name; };
  if (!alike)
    return fail(Code::illegal_knobs,
                fmt::format("two sums of products over `{}` and `{}`, whose extents differ", name(x.b), name(y.b)));
  if (x.b.dtype != y.b.dtype || (x.b.k == 1) != (y.b.k == 1) || (x.b.line == 1) != (y.b.line == 1))
    return fail(Code::not_yet,
                fmt::format("two sums of products over `{}` and `{}`, which differ in format or in what is contiguous",
                            name(x.b), name(y.b)));
  x.second = {y.equation, y.node, y.batch_indices, y.m_indices, y.n_indices, y.b};
  return x;
}

}  // namespace solstice::families::gemm
