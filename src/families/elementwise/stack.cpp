#include "families/elementwise/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/access.h"
#include "families/elementwise/nest.h"

namespace solstice::families::elementwise {
namespace {

using codegen::FlatEquation;
using codegen::FlatKernel;

// Steps of an index that lie within the window which a reduction's own indices span: "2*p + r" with r < 5 reaches 2
// steps further.
double overlap_of(const FlatKernel& flat, const FlatEquation& equation, const codegen::Access& access, int index) {
  const int64_t step = std::abs(access.offset->coefficient(index));
  if (step == 0) return 0;
  double most = 0;
  for (const auto& [id, coefficient] : access.offset->terms) {
    const bool own = std::find(equation.free.begin(), equation.free.end(), id) == equation.free.end();
    const int64_t each = std::abs(coefficient);
    if (!own || each == 0 || step % each != 0) continue;  // they do not run along the same axis
    const auto reach = static_cast<double>((flat.indices.index(id).extent - 1) * each);
    most = std::max(most, reach / static_cast<double>(step));
  }
  return most >= 1 ? most : 0;
}

int innermost_of(const ir::Program& program, const FlatKernel& flat, const FlatEquation& equation) {
  std::vector<int> order = order_of(program, flat, equation);
  std::erase_if(order, [&](int id) { return flat.indices.index(id).extent == 1; });
  return order.empty() ? -1 : order.back();
}

int overlapping_of(const ir::Program& program, const FlatKernel& flat, const FlatEquation& equation) {
  FlatKernel alone;
  alone.indices = flat.indices;
  alone.equations = {equation};
  const int innermost = innermost_of(program, flat, equation);
  int best = -1;
  double most = 0;
  for (const codegen::Access& access : codegen::accesses_of(program, alone)) {
    if (!access.read || !access.offset) continue;
    for (const int id : equation.free) {
      if (id == innermost) continue;
      const double overlap = overlap_of(flat, equation, access, id);
      if (overlap > most) best = id, most = overlap;
    }
  }
  return best;
}

// Row `row` of `rows`, over the index `fewer` in the place of `index`.
FlatEquation row_of(codegen::Interner& indices, const FlatEquation& equation, int index, int fewer, int rows, int row) {
  const auto integer = [&](ir::Op op, ir::ExprRef a, int64_t b) {
    return indices.node(op, ir::ValueKind::kInt, {std::move(a), indices.integer(b)});
  };
  ir::ExprRef at = integer(ir::Op::kMul, indices.index_node(fewer), rows);
  if (row > 0) at = integer(ir::Op::kAdd, at, row);
  const std::map<int, ir::ExprRef> place = {{index, at}};
  FlatEquation out = equation;
  std::replace(out.free.begin(), out.free.end(), index, fewer);
  for (ir::ExprRef& e : out.lhs) e = indices.substitute(e, place);
  out.rhs = indices.substitute(out.rhs, place);
  return out;
}

}  // namespace

std::vector<int> overlapping(const ir::Program& program, const FlatKernel& flat) {
  std::vector<int> out;
  for (const FlatEquation& equation : flat.equations) out.push_back(overlapping_of(program, flat, equation));
  return out;
}

Result<FlatKernel> stacked(const ir::Program& program, FlatKernel flat, int rows) {
  const std::vector<int> along = overlapping(program, flat);
  const std::vector<FlatEquation> equations = std::move(flat.equations);
  flat.equations.clear();
  for (size_t i = 0; i < equations.size(); ++i) {
    const std::string& name = program.tensor(equations[i].target).name;
    if (along[i] < 0) {
      return fail(Code::illegal_knobs,
                  fmt::format("`rows={}`: the windows of neighbouring results of `{}` overlap along no outer index",
                              rows, name));
    }
    const ir::Index& index = flat.indices.index(along[i]);
    if (index.extent % rows != 0) {
      return fail(Code::illegal_knobs, fmt::format("`rows={}` does not divide the {} results of `{}` along `{}`", rows,
                                                   index.extent, name, index.name));
    }
    const int fewer = flat.indices.add_index(index.name, index.extent / rows);
    for (int row = 0; row < rows; ++row) {
      flat.equations.push_back(row_of(flat.indices, equations[i], along[i], fewer, rows, row));
    }
  }
  return flat;
}

}  // namespace solstice::families::elementwise
