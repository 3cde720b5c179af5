#include "codegen/access.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "codegen/linear.h"
#include "ir/walk_distinct.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;

Access access_to(const ir::Program& program, const Interner& indices, int tensor_id, std::vector<ExprRef> args) {
  const ir::Tensor& tensor = program.tensor(tensor_id);
  Access out;
  out.tensor = tensor_id;
  out.offset = ir::Affine{};
  for (size_t d = 0; d < args.size(); ++d) {
    const auto form = linear_form(indices, args[d]);
    if (!form) out.offset.reset();
    if (form && out.offset) out.offset = add(*out.offset, scale(*form, tensor.strides[d]));
    out.tested |= !interval_of(indices, program, args[d]).within(0, tensor.shape[d] - 1);
  }
  out.args = std::move(args);
  return out;
}

// Reads below `root` that were not seen yet.
void collect(const ExprRef& root, std::unordered_set<const ir::Expr*>& seen, std::vector<ExprRef>& reads) {
  if (!seen.insert(root.get()).second) return;
  if (root->op == Op::kRead) reads.push_back(root);
  for (const ExprRef& arg : root->args) collect(arg, seen, reads);
}

// `index` occurs outside the linear arguments of reads.
bool used_as_value(const ir::Program& program, const Interner& indices, const ExprRef& root, int index,
                   std::map<const ir::Expr*, bool>& memo) {
  if (root->op == Op::kIndex) return root->id == index;
  if (const auto found = memo.find(root.get()); found != memo.end()) return found->second;
  bool used = false;
  for (size_t i = 0; i < root->args.size() && !used; ++i) {
    const bool stored = root->op == Op::kRead && root->id < static_cast<int>(program.tensors.size());
    const bool argument = stored && i < program.tensor(root->id).shape.size();
    const bool linear = argument && linear_form(indices, root->args[i]).has_value() &&
                        interval_of(indices, program, root->args[i]).within(0, program.tensor(root->id).shape[i] - 1);
    if (!linear) used = used_as_value(program, indices, root->args[i], index, memo);
  }
  memo.emplace(root.get(), used);
  return used;
}

double points_of(const Interner& indices, const Access& access) {
  std::set<int> used;
  for (const ExprRef& arg : access.args) {
    walk_distinct(arg, [&](const ir::Expr& e) {
      if (e.op == Op::kIndex) used.insert(e.id);
    });
  }
  double points = 1;
  for (const int id : used) points *= static_cast<double>(indices.index(id).extent);
  return points;
}

}  // namespace

bool Access::depends_on(int index) const {
  return std::any_of(args.begin(), args.end(), [&](const ExprRef& arg) { return codegen::depends_on(arg, index); });
}

std::vector<Access> accesses_of(const ir::Program& program, const FlatKernel& flat) {
  std::vector<Access> out;
  std::unordered_set<const ir::Expr*> seen;  // equations share what they inline, all steps of a chain before their own
  for (size_t k = 0; k < flat.equations.size(); ++k) {
    const FlatEquation& equation = flat.equations[k];
    out.push_back(access_to(program, flat.indices, equation.target, equation.lhs));
    out.back().equation = static_cast<int>(k);
    std::vector<ExprRef> reads;
    collect(equation.rhs, seen, reads);
    for (const ExprRef& read : reads) {
      if (read->id >= static_cast<int>(program.tensors.size())) continue;  // an accumulator, not memory
      const auto rank = static_cast<long>(program.tensor(read->id).shape.size());
      out.push_back(access_to(program, flat.indices, read->id, {read->args.begin(), read->args.begin() + rank}));
      out.back().equation = static_cast<int>(k);
      out.back().read = read;
    }
  }
  return out;
}

bool only_in_linear(const ir::Program& program, const FlatKernel& flat, int index) {
  std::map<const ir::Expr*, bool> memo;
  return std::none_of(flat.equations.begin(), flat.equations.end(), [&](const FlatEquation& equation) {
    return used_as_value(program, flat.indices, equation.rhs, index, memo);
  });
}

bool fusible(const ir::Program& program, const FlatKernel& flat, const std::vector<Access>& accesses, int outer,
             int inner, int64_t inner_extent) {
  if (!only_in_linear(program, flat, outer) || !only_in_linear(program, flat, inner)) return false;
  return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    if (!access.depends_on(outer) && !access.depends_on(inner)) return true;
    return access.offset && !access.tested &&
           access.offset->coefficient(outer) == access.offset->coefficient(inner) * inner_extent;
  });
}

std::vector<Loop> fused_loops(const ir::Program& program, const FlatKernel& flat, const std::vector<int>& order) {
  const std::vector<Access> accesses = accesses_of(program, flat);
  std::vector<Loop> inner_first;
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const int64_t extent = flat.indices.index(*id).extent;
    if (extent == 1) continue;
    Loop* inner = inner_first.empty() ? nullptr : &inner_first.back();
    if (inner && fusible(program, flat, accesses, *id, inner->stepping(), inner->extent)) {
      inner->indices.insert(inner->indices.begin(), *id);
      inner->extent *= extent;
    } else {
      inner_first.push_back({{*id}, extent});
    }
  }
  return {inner_first.rbegin(), inner_first.rend()};
}

int64_t alignment_of(const Access& access, const Loop& lane, int64_t limit) {
  if (!access.offset) return 1;
  int64_t width = limit;
  const auto shrink = [&](int64_t step) {
    while (width > 1 && step % width != 0) width /= 2;
  };
  shrink(access.offset->offset);
  for (const auto& [id, coefficient] : access.offset->terms) {
    const bool of_lane = std::find(lane.indices.begin(), lane.indices.end(), id) != lane.indices.end();
    if (!of_lane) shrink(coefficient);
  }
  return width;
}

std::map<int, Bytes> traffic_by_tensor(const ir::Program& program, const FlatKernel& flat) {
  std::map<int, double> elements;
  for (const Access& access : accesses_of(program, flat)) {
    double& touched = elements[access.tensor];
    touched = std::min(touched + points_of(flat.indices, access),
                       static_cast<double>(program.tensor(access.tensor).elements()));
  }
  std::map<int, Bytes> out;
  for (const auto& [tensor, count] : elements) {
    const ir::Tensor& t = program.tensor(tensor);
    out[tensor] = Bytes(count * (t.dtype ? size_of(*t.dtype) : 0));
  }
  return out;
}

Bytes traffic_of(const ir::Program& program, const FlatKernel& flat) {
  Bytes sum;
  for (const auto& [tensor, bytes] : traffic_by_tensor(program, flat)) sum += bytes;
  return sum;
}

}  // namespace solstice::codegen
