#include "ir/rewrite/excerpt.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/rewrite/edit.h"
#include "ir/rewrite/text.h"
#include "ir/to_tree.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

class Extractor {
 public:
  Extractor(const Program& whole, const Definitions& definitions, const std::vector<int>& equations, const Needs& needs)
      : whole_(whole), definitions_(definitions), equations_(equations), needs_(needs) {
    for (const int e : equations) written_.insert(whole.equation(e).target);
  }

  Excerpt run() {
    out_.program.name = "excerpt";
    for (const int id : equations_) {
      Equation equation = whole_.equation(id);
      equation.target = tensor(equation.target);
      equation.rhs = changed(equation.rhs, [&](const ExprRef& e) -> ExprRef {
        if (e->op != Op::kRead) return nullptr;
        auto copy = std::make_shared<Expr>(*e);
        copy->id = tensor(e->id);
        return copy;
      });
      for (Index& index : equation.indices) index.dim.clear();
      Item item;
      item.equation = static_cast<int>(out_.program.equations.size());
      out_.program.equations.push_back(std::move(equation));
      out_.program.items.push_back(item);
    }
    return std::move(out_);
  }

 private:
  int tensor(int id) {
    const auto [place, fresh] = ids_.emplace(id, static_cast<int>(out_.program.tensors.size()));
    if (!fresh) return place->second;
    const Tensor& from = whole_.tensor(id);
    Tensor to;
    to.name = "t" + std::to_string(place->second);
    to.value = from.value;
    to.shape = from.shape;
    to.strides = from.strides;
    to.kind = kind_of(id);
    const bool local = from.kind == TensorKind::kLocal && to.kind == TensorKind::kLocal;
    if (!local) to.dtype = definitions_.dtype(id);
    const auto part = needs_.find(id);
    if (to.kind == TensorKind::kOutput && part != needs_.end()) out_.needs[place->second] = part->second;
    out_.program.tensors.push_back(std::move(to));
    return place->second;
  }

  TensorKind kind_of(int id) const {
    if (!written_.count(id)) return TensorKind::kInput;
    if (is_needed_elsewhere(id)) return TensorKind::kOutput;
    return whole_.tensor(id).kind == TensorKind::kLocal ? TensorKind::kLocal : TensorKind::kTensor;
  }

  bool is_needed_elsewhere(int id) const {
    const Tensor& t = whole_.tensor(id);
    if (t.kind == TensorKind::kOutput || t.into >= 0 || definitions_.read_by_opaque(id)) return true;
    const std::vector<int>& readers = definitions_.readers(id);
    return std::any_of(readers.begin(), readers.end(),
                       [&](int e) { return !std::binary_search(equations_.begin(), equations_.end(), e); });
  }

  const Program& whole_;
  const Definitions& definitions_;
  const std::vector<int>& equations_;
  const Needs& needs_;
  std::set<int> written_;
  std::map<int, int> ids_;  // in the excerpt
  Excerpt out_;
};

lang::DeclKind decl_kind(TensorKind kind) {
  if (kind == TensorKind::kInput) return lang::DeclKind::kInput;
  return kind == TensorKind::kOutput ? lang::DeclKind::kOutput : lang::DeclKind::kTensor;
}

}  // namespace

Excerpt excerpt(const Program& whole, const Definitions& definitions, const std::vector<int>& equations,
                const Needs& needs) {
  return Extractor(whole, definitions, equations, needs).run();
}

std::string text_of(const Excerpt& part) {
  lang::Program tree;
  tree.name = part.program.name;
  for (const Tensor& t : part.program.tensors) {
    if (t.kind == TensorKind::kLocal) continue;
    lang::Decl decl;
    decl.kind = decl_kind(t.kind);
    decl.name = t.name;
    decl.type.dtype = std::string(name_of(*t.dtype));
    for (const int64_t extent : t.shape) decl.type.extents.push_back(lang::integer(extent));
    tree.items.emplace_back(std::move(decl));
  }
  for (const Equation& e : part.program.equations) {
    tree.items.emplace_back(to_tree(part.program, with_own_names(part.program, e), Extents::kNumbers));
  }
  return lang::print(tree);
}

}  // namespace solstice::ir
