#include "ir/rewrite/subject.h"

#include <algorithm>
#include <set>

#include "ir/count.h"
#include "ir/equal.h"
#include "ir/rewrite/edit.h"

namespace solstice::ir {
namespace {

LoneReduction lone(const Program& program, int id, const ExprRef& node) {
  LoneReduction out{id, node, program.equation(id)};
  out.alone.free.clear();
  out.alone.lhs.clear();
  const IndexSet own = indices_of(node);
  walk(node, [&](const Expr& e) {
    if (e.op != Op::kIndex || !own.count(e.id)) return;
    if (std::find(out.alone.free.begin(), out.alone.free.end(), e.id) != out.alone.free.end()) return;
    out.alone.free.push_back(e.id);
    out.alone.lhs.push_back(make_index(e.id));
  });
  out.alone.rhs = node;
  return out;
}

}  // namespace

Definitions::Definitions(const Program& program) : program_(program), dtypes_(dtypes_of(program)) {
  writers_.resize(program.tensors.size());
  readers_.resize(program.tensors.size());
  opaque_.resize(program.tensors.size());
  for (size_t i = 0; i < program.equations.size(); ++i) {
    const int id = static_cast<int>(i);
    writers_[static_cast<size_t>(program.equations[i].target)].push_back(id);
    const auto note = [&](const Expr& e) {
      if (e.op != Op::kRead) return;
      std::vector<int>& known = readers_[static_cast<size_t>(e.id)];
      if (known.empty() || known.back() != id) known.push_back(id);
    };
    walk(program.equations[i].rhs, note);
  }
  for (const Opaque& opaque : program.opaques) {
    for (const auto& [name, argument] : opaque.arguments) {
      walk(argument, [&](const Expr& e) {
        if (e.op == Op::kRead) opaque_[static_cast<size_t>(e.id)] = true;
      });
    }
  }
}

bool Definitions::narrows(const Equation& equation) const {
  const DType stored = dtype(equation.target);
  const auto is_narrower = [&](DType from) {
    return is_float(from) && (!is_float(stored) || size_of(from) > size_of(stored) ||
                              (size_of(from) == size_of(stored) && from != stored));
  };
  const ExprRef& rhs = equation.rhs;
  const bool copies = rhs->op == Op::kRead && !rhs->has_else && is_float(dtype(rhs->id));
  const bool rounds = program_.target_of(equation).dtype && is_float(stored) && size_of(stored) < size_of(DType::kF32);
  bool narrower = rounds && !copies;
  walk(rhs, [&](const Expr& e) { narrower = narrower || (e.op == Op::kRead && is_narrower(dtype(e.id))); });
  return narrower;
}

const Equation* Definitions::whole(int tensor) const {
  const Tensor& t = program_.tensor(tensor);
  const bool inner = t.kind == TensorKind::kLocal || t.kind == TensorKind::kTensor || t.kind == TensorKind::kOutput;
  if (!inner || writers(tensor).size() != 1 || t.value != ValueKind::kReal) return nullptr;
  const Equation& e = program_.equation(writers(tensor)[0]);
  std::set<int> seen;
  for (size_t d = 0; d < e.lhs.size(); ++d) {
    if (e.lhs[d]->op != Op::kIndex || !seen.insert(e.lhs[d]->id).second) return nullptr;
    if (index_of(e, e.lhs[d]->id).extent != t.shape[d]) return nullptr;
  }
  return e.group < 0 && e.rhs->kind == ValueKind::kReal ? &e : nullptr;
}

const Equation* Definitions::of(int tensor) const {
  const Equation* e = whole(tensor);
  return e && !narrows(*e) ? e : nullptr;
}

Subject::Subject(const Program& program, const WrittenDims* dims)
    : program_(program), dims_(dims), definitions_(program), needed_(needed_tensors(program)) {
  const auto real = [](const Expr& e) { return e.kind == ValueKind::kReal; };
  for (size_t i = 0; i < program.equations.size(); ++i) {
    const int id = static_cast<int>(i);
    reductions_.emplace_back();
    for (const ExprRef& node : reductions_in(program.equations[i].rhs, real))
      reductions_.back().push_back(lone(program, id, node));
  }
  for (const std::vector<LoneReduction>& each : reductions_) {
    for (const LoneReduction& reduction : each) {
      if (program.equation(reduction.equation).group >= 0) continue;
      by_hash_[structural_hash(program, reduction.alone)].push_back(&reduction);
    }
  }
}

const std::vector<const LoneReduction*>& Subject::like(const LoneReduction& reduction) const {
  static const std::vector<const LoneReduction*> none;
  const auto found = by_hash_.find(structural_hash(program_, reduction.alone));
  return found == by_hash_.end() ? none : found->second;
}

}  // namespace solstice::ir
