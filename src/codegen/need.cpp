#include "codegen/need.h"

#include <unordered_map>

namespace solstice::codegen {
namespace {

using ir::Affine;
using ir::ExprRef;
using ir::Op;

struct Need {
  bool any = false;
  std::optional<Affine> where;  // nothing: everywhere
};

// form >= 0 wherever the condition (or its negation) holds and nowhere else.
std::optional<Affine> form_of(const Interner& indices, const ExprRef& condition, bool negated) {
  if (condition->op == Op::kNot) return form_of(indices, condition->args[0], !negated);
  const bool less = condition->op == Op::kLt || condition->op == Op::kLe,
             greater = condition->op == Op::kGt || condition->op == Op::kGe;
  if (!less && !greater) return std::nullopt;
  const auto left = linear_form(indices, condition->args[0]), right = linear_form(indices, condition->args[1]);
  if (!left || !right) return std::nullopt;
  const bool upwards = greater != negated;  // left - right >= 0, or > 0
  const bool strict = (condition->op == Op::kLt || condition->op == Op::kGt) != negated;
  Affine out = upwards ? add(*left, scale(*right, -1)) : add(*right, scale(*left, -1));
  if (strict) out.offset -= 1;
  return out;
}

class Finder {
 public:
  Finder(const Interner& indices, const std::function<bool(const ir::Expr&)>& value)
      : indices_(indices), value_(value) {}

  Need need(const ExprRef& e) {
    if (const auto found = memo_.find(e.get()); found != memo_.end()) return found->second;
    Need out{true, std::nullopt};
    if (!value_(*e)) out = e->op == Op::kSelect ? of_select(*e) : of_all(e->args);
    memo_.emplace(e.get(), out);
    return out;
  }

 private:
  Need of_all(const std::vector<ExprRef>& args) {
    Need out;
    for (const ExprRef& arg : args) out = joined(out, need(arg));
    return out;
  }
  Need of_select(const ir::Expr& e) {
    const Need condition = need(e.args[0]), branch = need(e.args[1]), otherwise = need(e.args[2]);
    if (condition.any || branch.any == otherwise.any) return joined(condition, joined(branch, otherwise));
    const Need inside = branch.any ? branch : otherwise;
    const auto form = form_of(indices_, e.args[0], otherwise.any);
    return form ? Need{true, form} : inside;  // of two half-spaces the outer one
  }
  static Need joined(const Need& a, const Need& b) {
    if (!a.any || !b.any) return a.any ? a : b;
    return a.where == b.where ? a : Need{true, std::nullopt};
  }

  const Interner& indices_;
  const std::function<bool(const ir::Expr&)>& value_;
  std::unordered_map<const ir::Expr*, Need> memo_;
};

}  // namespace

std::optional<Affine> needed_where(const Interner& indices, const ExprRef& expression,
                                   const std::function<bool(const ir::Expr&)>& value) {
  return Finder(indices, value).need(expression).where;
}

}  // namespace solstice::codegen
