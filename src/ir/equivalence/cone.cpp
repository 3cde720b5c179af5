#include "ir/equivalence/cone.h"

#include <vector>

namespace solstice::ir {
namespace {

void mark_reads(const ExprRef& root, std::vector<char>& needed, bool& more) {
  walk(root, [&](const Expr& e) {
    if (e.op != Op::kRead || needed[static_cast<size_t>(e.id)]) return;
    needed[static_cast<size_t>(e.id)] = 1;
    more = true;
  });
}

}  // namespace

Program cone(const Program& program, const std::string& wanted, const std::set<std::string>& given) {
  Program out = program;
  std::vector<char> needed(out.tensors.size(), 0), cut(out.tensors.size(), 0);
  for (size_t t = 0; t < out.tensors.size(); ++t) {
    Tensor& tensor = out.tensors[t];
    cut[t] = given.count(tensor.name) ? 1 : 0;
    needed[t] = tensor.name == wanted ? 1 : 0;
    const bool defined = tensor.kind == TensorKind::kOutput || tensor.kind == TensorKind::kTensor || tensor.kind == TensorKind::kLocal;
    if (!defined) continue;
    tensor.kind = needed[t] ? TensorKind::kOutput : cut[t] ? TensorKind::kInput : TensorKind::kLocal;
    tensor.into = tensor.same = -1;
  }
  for (bool more = true; more;) {
    more = false;
    for (const Equation& e : program.equations) {
      const auto t = static_cast<size_t>(e.target);
      if (needed[t] && !cut[t]) mark_reads(e.rhs, needed, more);
    }
  }
  out.equations.clear();
  out.items.clear();
  out.kernels.clear();
  for (const Equation& e : program.equations) {
    const auto t = static_cast<size_t>(e.target);
    if (!needed[t] || cut[t]) continue;
    Item item;
    item.equation = static_cast<int>(out.equations.size());
    out.items.push_back(item);
    out.equations.push_back(e);
  }
  return out;
}

}  // namespace solstice::ir
