// A block: the equations of one kernel, or a run of loose ones.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/binder.h"
#include "ir/bind/elaborate.h"
#include "lang/print.h"

namespace solstice::ir {

void Binder::block(const std::vector<const lang::Item*>& list, int kernel_id, Scope& scope) {
  kernel_ = kernel_id;
  drafts_.clear();
  upcoming_.clear();
  written_.clear();
  read_.clear();
  std::map<std::string, size_t> declared;
  for (const lang::Item* it : list) {
    if (const auto* d = std::get_if<lang::Decl>(&it->node)) declared[d->name] = 0;
    if (const auto* v = std::get_if<lang::View>(&it->node)) declared[v->equation.target] = 0;
    const auto* e = std::get_if<lang::Equation>(&it->node);
    if (e && !scope.symbols.count(e->target) && !declared.count(e->target)) upcoming_[e->target] = e->lhs.size();
  }
  const size_t outside = scope.named.size();
  for (const lang::Item* it : list) {
    if (spent_) return;
    if (const auto* e = std::get_if<lang::Equation>(&it->node)) {
      draft(*e, it->span, scope);
    } else if (const auto* v = std::get_if<lang::View>(&it->node)) {
      solve_pending();
      view(v->equation, it->span, scope);
    } else {
      item(*it, scope);
    }
  }
  solve_pending();
  for (Draft& d : drafts_) check_extents(d);
  for (Draft& d : drafts_) {
    check_kinds(d);
    check_ranges(d);
    note_values(d);
    warn(d);
    if (kernel_id >= 0) check_once(program_.kernels[static_cast<size_t>(kernel_id)], d);
  }
  order(kernel_id);
  upcoming_.clear();
  kernel_ = -1;
  if (kernel_id < 0) return;
  name_tensors(program_.kernels[static_cast<size_t>(kernel_id)].knobs.items, scope);
  for (size_t n = outside; n < scope.named.size(); ++n) {  // what the kernel named is not seen outside it
    const Symbol& symbol = scope.symbols.at(scope.named[n]);
    const bool is_local = symbol.tensor >= 0 && program_.tensor(symbol.tensor).kind == TensorKind::kLocal;
    scope.gone[scope.named[n]] = {program_.kernels[static_cast<size_t>(kernel_id)].name, !is_local};
    scope.symbols.erase(scope.named[n]);
  }
  scope.named.resize(outside);
}

// The tensor of a local; made when it is first written or, in a recurrence, read.
int Binder::local(const std::string& name, size_t rank, Span span, Scope& scope) {
  const auto known = scope.symbols.find(name);
  if (known != scope.symbols.end()) return known->second.tensor;
  Tensor t;
  t.name = scope.instance.empty() ? name : scope.instance + "." + name;
  if (names_.count(t.name) && kernel_ >= 0) {
    t.name = program_.kernels[static_cast<size_t>(kernel_)].name + "." + name;
  }
  t.kind = TensorKind::kLocal;
  t.kernel = kernel_;
  t.span = span;
  t.shape.assign(rank, -1);
  t.dims.assign(rank, "");
  Symbol symbol;
  symbol.tensor = add_tensor(std::move(t));
  symbol.dims.assign(rank, "");
  give_name(scope, name, symbol);
  return symbol.tensor;
}

bool Binder::check_target(const std::string& name, const Symbol& symbol, Span span) {
  const auto refuse = [&](std::string_view what, std::string hint) {
    error("E014", span, fmt::format("`{}` is {} and cannot be written", name, what), std::move(hint));
    return false;
  };
  if (symbol.view >= 0) return refuse("a view", "a view is an index map of another tensor: write that one");
  if (symbol.read_only)
    return refuse("an argument of this definition", "give the value a new name, and return it as a result");
  const Tensor& t = program_.tensor(symbol.tensor);
  switch (t.kind) {
    case TensorKind::kParam:
      return refuse("a param", "give the value a new name");
    case TensorKind::kInput:
      return refuse("an input", "give the value a new name");
    case TensorKind::kRandom:
      return refuse("a random tensor", "it is drawn, once a call");
    case TensorKind::kBuffer:
      return refuse("a buffer",
                    fmt::format("declare its next value, `tensor {0}1 : {1}[...] into {0}`, and write `{0}1`", name,
                                name_of(*t.dtype)));
    default:
      return true;
  }
}

// The id of the tensor that the equation writes, -1 after an error.
int Binder::target_of(const lang::Equation& e, Span span, Scope& scope) {
  if (scope.dims.count(e.target)) {
    error("E008", span, fmt::format("`{}` is a dim", e.target), "one name has one meaning in a scope");
    return -1;
  }
  const auto known = scope.symbols.find(e.target);
  if (known == scope.symbols.end()) {
    for (const lang::ExprRef& i : e.lhs) {
      if (i->kind == lang::ExprKind::kName && !scope.dims.count(i->text)) continue;
      error("E005", i->span,
            fmt::format("undeclared `{}` is a local, whose indices stand alone; found `{}`", e.target,
                        lang::print_tight(i)),
            fmt::format("declare it to define it in pieces: `tensor {} : f32[...]`", e.target));
      upcoming_.erase(e.target);
      lost_.insert(e.target);
      return -1;
    }
    return local(e.target, e.lhs.size(), span, scope);
  }
  if (!check_target(e.target, known->second, span)) return -1;
  const Tensor& t = program_.tensor(known->second.tensor);
  if (t.shape.size() != e.lhs.size()) {
    error("E006", span,
          fmt::format("`{}` has rank {} but {} indices on the left", e.target, t.shape.size(), e.lhs.size()),
          "one index a dimension");
    states_[static_cast<size_t>(known->second.tensor)].poisoned = true;
    return -1;
  }
  return known->second.tensor;
}

void Binder::draft(const lang::Equation& e, Span span, Scope& scope) {
  Draft d;
  d.source = &e;
  d.equation.span = span;
  d.equation.target = target_of(e, span, scope);
  d.failed = d.equation.target < 0;
  Elaborator elaborator(*this, scope, d);
  elaborator.left_side(e, span);
  d.equation.rhs = elaborator.value(e.rhs);
  if (!d.equation.rhs) {
    d.failed = true;
    d.equation.rhs = make_real(0);
  } else if (d.equation.target >= 0) {
    Tensor& t = program_.tensors[static_cast<size_t>(d.equation.target)];
    if (t.kind == TensorKind::kLocal) t.value = std::max(t.value, d.equation.rhs->kind);
    const bool reads_itself = std::any_of(d.reads.begin(), d.reads.end(),
                                          [&](const TensorRead& r) { return r.read->id == d.equation.target; });
    const bool fresh = !written_.count(d.equation.target) && !read_.count(d.equation.target) && !reads_itself;
    if (t.kind == TensorKind::kLocal && fresh) t.value = d.equation.rhs->kind;
  }
  written_.insert(d.equation.target);
  for (const TensorRead& r : d.reads) read_.insert(r.read->id);
  if (d.failed && d.equation.target >= 0) states_[static_cast<size_t>(d.equation.target)].poisoned = true;
  if (!d.failed) solve(d);
  drafts_.push_back(std::move(d));
}

void Binder::report_crossing(const std::string& name, const Scope::Gone& from, Span span) {
  if (from.declared) {
    error("E011", span, fmt::format("`{}` is declared inside kernel `{}` and not seen outside it", name, from.kernel),
          "move its declaration above the kernels");
    return;
  }
  error("E011", span, fmt::format("`{}` crosses from kernel `{}` but is not declared", name, from.kernel),
        fmt::format("`tensor {} : f32[...]` before the kernels (dtype and order are yours to choose)", name));
}

// `once` kernels run when weights are loaded: they may see params, buffers and each other's results.
void Binder::check_once(const Kernel& kernel, const Draft& d) {
  if (!kernel.once) return;
  for (const TensorRead& r : d.reads) {
    const Tensor& t = program_.tensor(r.read->id);
    const bool weight = t.kind == TensorKind::kParam || t.kind == TensorKind::kBuffer;
    const bool made_once = t.kernel >= 0 && program_.kernels[static_cast<size_t>(t.kernel)].once;
    const bool own = t.kernel == kernel_ || written_.count(r.read->id) > 0;
    if (weight || made_once || own) continue;
    const bool input = t.kind == TensorKind::kInput;
    error("E015", r.span,
          fmt::format("kernel `{} once` reads the {} `{}`", kernel.name, input ? "input" : "tensor", t.name),
          "`once` is for params and buffers; drop `once`");
  }
}

}  // namespace solstice::ir
