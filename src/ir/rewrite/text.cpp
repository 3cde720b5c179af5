#include "ir/rewrite/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/written_dims.h"
#include "ir/to_tree.h"
#include "lang/parse.h"
#include "lang/words.h"

namespace solstice::ir {
namespace {

bool contains(const lang::Item& item, const Span& span) {
  return item.span.begin <= span.begin && span.begin < item.span.end;
}

// The equation that a bound one was written as; in a definition's body only if `anywhere`.
const lang::Item* item_of(const std::vector<lang::Item>& items, const Span& span, bool anywhere) {
  for (const lang::Item& item : items) {
    if (!contains(item, span)) continue;
    if (std::holds_alternative<lang::Equation>(item.node)) return &item;
    const auto* def = std::get_if<lang::Def>(&item.node);
    if (def && anywhere) return item_of(def->items, span, anywhere);
  }
  return nullptr;
}

void tensors_read(const lang::ExprRef& e, std::set<std::string>& names) {
  if (!e) return;
  if (e->kind == lang::ExprKind::kRead) names.insert(e->text);
  for (const lang::ExprRef& a : e->args) tensors_read(a, names);
  tensors_read(e->otherwise, names);
  tensors_read(e->where, names);
}

Result<lang::Decl> declaration_of(const Program& program, const Tensor& t) {
  static const std::map<TensorKind, lang::DeclKind> kinds = {
      {TensorKind::kParam, lang::DeclKind::kParam},   {TensorKind::kBuffer, lang::DeclKind::kBuffer},
      {TensorKind::kInput, lang::DeclKind::kInput},   {TensorKind::kOutput, lang::DeclKind::kOutput},
      {TensorKind::kTensor, lang::DeclKind::kTensor}, {TensorKind::kRandom, lang::DeclKind::kRandom}};
  lang::Decl decl;
  decl.kind = kinds.at(t.kind);
  decl.name = t.name;
  decl.type.dtype = std::string(name_of(t.dtype.value_or(DType::kF32)));
  for (size_t d = 0; d < t.shape.size(); ++d) {
    Diagnostics diagnostics;
    const bool named = d < t.dims.size() && !t.dims[d].empty();
    decl.type.extents.push_back(named ? lang::parse_expression(t.dims[d], diagnostics) : lang::integer(t.shape[d]));
    if (diagnostics.has_errors()) return fail(Code::internal, "extent `" + t.dims[d] + "` does not parse");
  }
  if (!t.path.empty()) decl.path = t.path;
  if (t.into >= 0) decl.into = program.tensor(t.into).name;
  decl.distribution = t.distribution;
  for (const double argument : t.distribution_args) decl.distribution_args.push_back(lang::number(argument));
  return decl;
}

class RewrittenText {
 public:
  RewrittenText(const lang::Program& tree, const Program& before, const Program& after)
      : tree_(tree), before_(before), after_(after), dims_(tree, before) {}

  Result<lang::Program> run() {
    out_ = tree_;
    out_.items.clear();
    for (const Equation& e : after_.equations) defined_.insert(after_.target_of(e).name);
    for (const Opaque& o : after_.opaques) {
      for (const int r : o.results) defined_.insert(after_.tensor(r).name);
    }
    declarations();
    if (opaques_.size() != after_.opaques.size()) {
      return fail(Code::not_yet,
                  fmt::format("`{}` has opaque operations in definitions; these are not rewritten", after_.name));
    }
    SOLSTICE_CHECK(new_tensors());
    for (const Equation& assumption : after_.assumptions) assume(assumption);
    for (const Item& item : after_.items) SOLSTICE_CHECK(add(item));
    return std::move(out_);
  }

 private:
  void declarations() {
    for (const lang::Item& item : tree_.items) {
      if (std::holds_alternative<lang::Equation>(item.node) || std::holds_alternative<lang::Call>(item.node) ||
          std::holds_alternative<lang::Def>(item.node)) {
        continue;
      }
      if (std::holds_alternative<lang::Opaque>(item.node)) {
        opaques_.push_back(&item);
      } else if (const auto* view = std::get_if<lang::View>(&item.node)) {
        views_[view->equation.target].push_back(&item);
      } else if (const auto* decl = std::get_if<lang::Decl>(&item.node)) {
        declared_.insert(decl->name);
        if (decl->kind != lang::DeclKind::kTensor || defined_.count(decl->name)) out_.items.push_back(item);
      } else {
        out_.items.push_back(item);
      }
    }
    for (const lang::Item* opaque : opaques_) {
      for (const lang::Formal& result : std::get<lang::Opaque>(opaque->node).results) declared_.insert(result.name);
    }
  }

  // Tensors that a rewrite made, and those that the definitions declare.
  Status new_tensors() {
    for (const Tensor& t : after_.tensors) {
      if (t.kind == TensorKind::kLocal || declared_.count(t.name)) continue;
      if (t.kind == TensorKind::kTensor && !defined_.count(t.name)) continue;
      SOLSTICE_TRY(lang::Decl decl, declaration_of(after_, t));
      out_.items.emplace_back(std::move(decl));
    }
    return success();
  }

  void assume(const Equation& assumption) {
    const bool written = std::any_of(tree_.items.begin(), tree_.items.end(), [&](const lang::Item& item) {
      return std::holds_alternative<lang::Assume>(item.node) && contains(item, assumption.span);
    });
    if (!written) out_.items.emplace_back(lang::Assume{to_tree(after_, with_own_names(after_, assumption))});
  }

  Status add(const Item& item) {
    if (item.opaque >= 0) {
      if (static_cast<size_t>(item.opaque) >= opaques_.size())
        return fail(Code::internal, "an opaque operation has no text");
      views_of(*opaques_[static_cast<size_t>(item.opaque)]);
      out_.items.push_back(*opaques_[static_cast<size_t>(item.opaque)]);
      return success();
    }
    const Equation& equation = after_.equation(item.equation);
    const lang::Item* source = item_of(tree_.items, equation.span, false);
    if (source && unchanged(equation)) {
      views_of(*source);
      out_.items.push_back(*source);
      return success();
    }
    lang::Equation text = to_tree(after_, with_own_names(after_, equation), Extents::kDims);
    for (lang::ExprRef& e : text.lhs) e = dims_.named(e);
    text.rhs = dims_.named(text.rhs);
    lang::Item fresh(std::move(text));
    fresh.after = comment_of(tree_, equation);
    if (source && commented_.insert(source).second) fresh.before = source->before;
    out_.items.push_back(std::move(fresh));
    return success();
  }

  bool unchanged(const Equation& equation) const {
    return std::any_of(before_.equations.begin(), before_.equations.end(), [&](const Equation& e) {
      return e.span.begin == equation.span.begin && before_.target_of(e).name == after_.target_of(equation).name &&
             same_up_to_names(before_, e, after_, equation);
    });
  }

  // The views that an item reads stand before it.
  void views_of(const lang::Item& item) {
    std::set<std::string> names;
    if (const auto* e = std::get_if<lang::Equation>(&item.node)) tensors_read(e->rhs, names);
    if (const auto* v = std::get_if<lang::View>(&item.node)) tensors_read(v->equation.rhs, names);
    if (const auto* o = std::get_if<lang::Opaque>(&item.node)) {
      for (const lang::OpaqueArg& a : o->args) {
        tensors_read(a.expr, names);
        if (a.expr && a.expr->kind == lang::ExprKind::kName) names.insert(a.expr->text);
      }
    }
    for (const std::string& name : names) {
      const auto found = views_.find(name);
      if (found == views_.end()) continue;
      const std::vector<const lang::Item*> pieces = std::move(found->second);
      views_.erase(found);
      for (const lang::Item* piece : pieces) views_of(*piece);
      for (const lang::Item* piece : pieces) out_.items.push_back(*piece);
    }
  }

  const lang::Program& tree_;
  const Program& before_;
  const Program& after_;
  const WrittenDims dims_;
  lang::Program out_;
  std::set<std::string> defined_, declared_;
  std::vector<const lang::Item*> opaques_;
  std::map<std::string, std::vector<const lang::Item*>> views_;
  std::set<const lang::Item*> commented_;
};

// Names of instances' tensors have dots.
void put_plain_names(Program& program) {
  for (Tensor& t : program.tensors) {
    if (t.name.find('.') == std::string::npos) continue;
    std::string plain = t.name;
    std::replace(plain.begin(), plain.end(), '.', '_');
    t.name = fresh_name(program, plain);
  }
}

}  // namespace

Equation with_own_names(const Program& program, Equation equation) {
  std::set<std::string> taken;
  for (const Tensor& t : program.tensors) taken.insert(t.name);
  for (const Dim& d : program.dims) taken.insert(d.name);
  const auto name = [&](int id) {
    Index& index = equation.indices[static_cast<size_t>(id)];
    const std::string stem = index.name;
    for (int i = 2; lang::is_reserved(index.name) || !taken.insert(index.name).second; ++i)
      index.name = stem + std::to_string(i);
  };
  for (const int id : equation.free) name(id);
  std::set<int> done;
  walk(equation.rhs, [&](const Expr& e) {
    for (const int id : e.binders) {
      if (done.insert(id).second) name(id);
    }
  });
  return equation;
}

Result<lang::Program> rewritten_tree(const lang::Program& tree, const Program& before, const Program& after) {
  return RewrittenText(tree, before, after).run();
}

Result<lang::Program> without_calls(const lang::Program& tree, Program program) {
  put_plain_names(program);
  std::set<std::string> declared;
  for (const lang::Item& item : tree.items) {
    if (const auto* decl = std::get_if<lang::Decl>(&item.node)) declared.insert(decl->name);
  }
  for (Tensor& t : program.tensors) {
    if (!declared.count(t.name)) t.dims.clear();
  }
  for (Equation& e : program.equations) {
    if (item_of(tree.items, e.span, false)) continue;
    for (Index& index : e.indices) index.dim.clear();
  }
  return rewritten_tree(tree, program, program);
}

std::string comment_of(const lang::Program& tree, const Equation& equation) {
  const lang::Item* item = item_of(tree.items, equation.span, true);
  return item ? item->after : "";
}

}  // namespace solstice::ir
