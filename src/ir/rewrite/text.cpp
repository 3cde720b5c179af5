#include "ir/rewrite/text.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/to_tree.h"
#include "lang/parse.h"
#include "lang/words.h"

namespace solstice::ir {
namespace {

const lang::Item* item_of(const lang::Program& tree, const Span& span) {
  for (const lang::Item& item : tree.items) {
    const bool here = item.span.begin <= span.begin && span.begin < item.span.end;
    if (here && std::holds_alternative<lang::Equation>(item.node)) return &item;
  }
  return nullptr;
}

// Indices of one equation have different names, and none that of a tensor or dim.
Equation with_own_names(const Program& program, Equation equation) {
  std::set<std::string> taken;
  for (const Tensor& t : program.tensors) taken.insert(t.name);
  for (const Dim& d : program.dims) taken.insert(d.name);
  const auto name = [&](int id) {
    Index& index = equation.indices[static_cast<size_t>(id)];
    const std::string stem = index.name;
    for (int i = 2; lang::is_reserved(index.name) || !taken.insert(index.name).second; ++i) index.name = stem + std::to_string(i);
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

void tensors_read(const lang::ExprRef& e, std::set<std::string>& names) {
  if (!e) return;
  if (e->kind == lang::ExprKind::kRead) names.insert(e->text);
  for (const lang::ExprRef& a : e->args) tensors_read(a, names);
  tensors_read(e->otherwise, names);
  tensors_read(e->where, names);
}

// Names of dims in an expression that are values: not indices of a read, not extents.
void dims_as_values(const Program& program, const lang::ExprRef& e, std::map<int64_t, std::string>& out) {
  if (!e) return;
  if (e->kind == lang::ExprKind::kName) {
    for (const Dim& d : program.dims) {
      if (d.name == e->text) out[d.value] = d.name;
    }
  }
  if (e->kind != lang::ExprKind::kRead) {
    for (const lang::ExprRef& a : e->args) dims_as_values(program, a, out);
  }
  dims_as_values(program, e->otherwise, out);
}

// Numbers that are dims again, where the equation was written with these dims.
lang::ExprRef with_dims_named(const lang::ExprRef& e, const std::map<int64_t, std::string>& dims) {
  if (!e) return e;
  if (e->kind == lang::ExprKind::kInt) {
    const auto found = dims.find(e->integer);
    if (found != dims.end()) return lang::name(found->second);
    const auto next = dims.find(e->integer + 1);
    return next == dims.end() || e->integer < 2 ? e : lang::binary(lang::BinaryOp::kSub, lang::name(next->second), lang::integer(1));
  }
  if (e->kind == lang::ExprKind::kRead) return e;
  auto copy = std::make_shared<lang::Expr>(*e);
  for (lang::ExprRef& a : copy->args) a = with_dims_named(a, dims);
  return copy;
}

class RewrittenText {
 public:
  RewrittenText(const lang::Program& tree, const Program& before, const Program& after) : tree_(tree), before_(before), after_(after) {}

  Result<lang::Program> run() {
    out_ = tree_;
    out_.items.clear();
    for (const Equation& e : after_.equations) defined_.insert(after_.target_of(e).name);
    for (const Opaque& o : after_.opaques) {
      for (const int r : o.results) defined_.insert(after_.tensor(r).name);
    }
    SOLSTICE_CHECK(declarations());
    SOLSTICE_CHECK(new_tensors());
    for (const Item& item : after_.items) SOLSTICE_CHECK(add(item));
    return std::move(out_);
  }

 private:
  Status declarations() {
    for (const lang::Item& item : tree_.items) {
      if (std::holds_alternative<lang::Kernel>(item.node) || std::holds_alternative<lang::Call>(item.node)) {
        return fail(Code::not_yet, "programs with kernels or calls of definitions are not rewritten yet");
      }
      if (std::holds_alternative<lang::Opaque>(item.node)) {
        opaques_.push_back(&item);
      } else if (const auto* view = std::get_if<lang::View>(&item.node)) {
        views_[view->equation.target].push_back(&item);
      } else if (std::holds_alternative<lang::Equation>(item.node)) {
        continue;
      } else if (const auto* decl = std::get_if<lang::Decl>(&item.node); decl && decl->kind == lang::DeclKind::kTensor) {
        if (defined_.count(decl->name)) out_.items.push_back(item);
      } else {
        out_.items.push_back(item);
      }
    }
    return success();
  }

  Status new_tensors() {
    for (const Tensor& t : after_.tensors) {
      if (t.kind != TensorKind::kTensor || !defined_.count(t.name) || declared_before(t.name)) continue;
      lang::Decl decl;
      decl.name = t.name;
      decl.type.dtype = std::string(name_of(t.dtype.value_or(DType::kF32)));
      for (size_t d = 0; d < t.shape.size(); ++d) {
        Diagnostics diagnostics;
        const bool named = d < t.dims.size() && !t.dims[d].empty();
        decl.type.extents.push_back(named ? lang::parse_expression(t.dims[d], diagnostics) : lang::integer(t.shape[d]));
        if (diagnostics.has_errors()) return fail(Code::internal, "extent `" + t.dims[d] + "` does not parse");
      }
      out_.items.emplace_back(std::move(decl));
    }
    return success();
  }

  bool declared_before(const std::string& name) const {
    const int id = before_.find_tensor(name);
    return id >= 0 && before_.tensor(id).kind == TensorKind::kTensor;
  }

  Status add(const Item& item) {
    if (item.opaque >= 0) {
      if (static_cast<size_t>(item.opaque) >= opaques_.size()) return fail(Code::internal, "an opaque operation has no text");
      views_of(*opaques_[static_cast<size_t>(item.opaque)]);
      out_.items.push_back(*opaques_[static_cast<size_t>(item.opaque)]);
      return success();
    }
    const Equation& equation = after_.equation(item.equation);
    const lang::Item* source = item_of(tree_, equation.span);
    if (source && unchanged(equation)) {
      views_of(*source);
      out_.items.push_back(*source);
      return success();
    }
    lang::Equation text = to_tree(after_, with_own_names(after_, equation), Extents::kDims);
    std::map<int64_t, std::string> dims;
    if (source) dims_as_values(before_, std::get<lang::Equation>(source->node).rhs, dims);
    if (!dims.empty()) text.rhs = with_dims_named(text.rhs, dims);
    lang::Item fresh(std::move(text));
    if (source) fresh.after = source->after;
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
  lang::Program out_;
  std::set<std::string> defined_;
  std::vector<const lang::Item*> opaques_;
  std::map<std::string, std::vector<const lang::Item*>> views_;
  std::set<const lang::Item*> commented_;
};

}  // namespace

Result<lang::Program> rewritten_tree(const lang::Program& tree, const Program& before, const Program& after) {
  return RewrittenText(tree, before, after).run();
}

std::string comment_of(const lang::Program& tree, const Equation& equation) {
  const lang::Item* item = item_of(tree, equation.span);
  return item ? item->after : "";
}

}  // namespace solstice::ir
