#include "ir/rewrite/merge.h"

#include "ir/analysis/reads.h"
#include "ir/rewrite/edit.h"

namespace solstice::ir {
namespace {

class StrideFinder {
 public:
  StrideFinder(int i, int j) : i_(i), j_(j) {}

  void visit(const ExprRef& e) {
    if (e->op == Op::kIndex && (e->id == i_ || e->id == j_)) stride = 0;
    if (e->op != Op::kRead) {
      for (const ExprRef& a : e->args) visit(a);
      return;
    }
    for (const ExprRef& index : read_indices(*e)) position(index);
    if (e->has_else) visit(e->args.back());
  }

  int64_t stride = -1;  // -1: not met yet, 0: none

 private:
  void position(const ExprRef& index) {
    if (!depends(index, {i_, j_})) return;
    const std::optional<Affine> form = as_affine(index);
    const int64_t a = form ? form->coefficient(i_) : 0;
    const int64_t b = form ? form->coefficient(j_) : 0;
    const bool multiple = b != 0 && a % b == 0 && a / b > 0;
    if (!multiple || (stride >= 0 && stride != a / b)) {
      stride = 0;
    } else {
      stride = a / b;
    }
  }

  int i_, j_;
};

}  // namespace

int64_t stride_between(const std::vector<ExprRef>& roots, int i, int j) {
  StrideFinder finder(i, j);
  for (const ExprRef& root : roots) {
    finder.visit(root);
    if (finder.stride == 0) return 0;
  }
  return finder.stride > 0 ? finder.stride : 0;
}

ExprRef to_expr(const Affine& affine) {
  ExprRef out;
  for (const auto& [id, coefficient] : affine.terms) {
    const int64_t size = coefficient < 0 ? -coefficient : coefficient;
    const ExprRef term = size == 1 ? make_index(id) : make(Op::kMul, {make_int(size), make_index(id)});
    if (!out) {
      out = coefficient < 0 ? make(Op::kNeg, {term}) : term;
    } else {
      out = make(coefficient < 0 ? Op::kSub : Op::kAdd, {out, term});
    }
  }
  if (!out) return make_int(affine.offset);
  if (affine.offset == 0) return out;
  return affine.offset < 0 ? make(Op::kSub, {out, make_int(-affine.offset)})
                           : make(Op::kAdd, {out, make_int(affine.offset)});
}

ExprRef with_merged(const ExprRef& root, int i, int j, int merged) {
  return changed(root, [&](const ExprRef& e) -> ExprRef {
    if (e->op != Op::kRead) return nullptr;
    auto copy = std::make_shared<Expr>(*e);
    const size_t count = read_indices(*e).size();
    for (size_t d = 0; d < count; ++d) {
      if (!depends(copy->args[d], {i, j})) continue;
      const std::optional<Affine> form = as_affine(copy->args[d]);
      Affine merged_form{form->offset, {}};
      for (const auto& [id, coefficient] : form->terms) {
        if (id == j) merged_form.terms.emplace_back(merged, coefficient);
        if (id != i && id != j) merged_form.terms.emplace_back(id, coefficient);
      }
      copy->args[d] = to_expr(merged_form);
    }
    return copy;
  });
}

}  // namespace solstice::ir
