// Calls of `def`s: dims are bound by matching formals with arguments, then the items are bound at the
// instance's path.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/dtype.h"
#include "ir/bind/binder.h"
#include "lang/parse.h"
#include "lang/prelude.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

constexpr size_t kDeepestCall = 40;

std::string joined(const std::string& prefix, const std::string& rest) {
  if (prefix.empty() || rest.empty()) return prefix + rest;
  return prefix + "." + rest;
}

}  // namespace

bool Binder::bind_statics(const lang::Call& c, const lang::Def& def, Span span, const Scope& outer_scope,
                          Scope& inner) {
  bool fine = true;
  for (const auto& [name, value] : c.statics) {
    const bool known =
        std::any_of(def.statics.begin(), def.statics.end(), [&, n = name](const auto& s) { return s.name == n; });
    if (!known) {
      std::vector<std::string> names;
      for (const lang::Static& s : def.statics) names.push_back(s.name);
      error("E022", span, fmt::format("`{}` has no static `{}`", def.name, name),
            names.empty() ? "it has none" : fmt::format("statics: {}", fmt::join(names, ", ")));
      fine = false;
    }
    const auto v = value_of(value, outer_scope);
    if (!v) return false;
    inner.dims[name] = {*v, outer(value, outer_scope), value->kind == lang::ExprKind::kName ? value->text : ""};
  }
  for (const lang::Static& s : def.statics) {
    if (inner.dims.count(s.name)) continue;
    const auto v = s.value ? value_of(s.value, inner) : std::nullopt;
    if (!s.value)
      error("E022", span, fmt::format("static `{}` of `{}` has no value", s.name, def.name),
            fmt::format("`{}[{}=...](...)`", def.name, s.name));
    if (!v) return false;
    inner.dims[s.name] = {*v, outer(s.value, inner), ""};
  }
  return fine;
}

bool Binder::bind_formal(const lang::CallArg& arg, const lang::Formal& formal, Scope& outer_scope, Scope& inner) {
  const auto found = outer_scope.symbols.find(arg.tensor);
  if (found == outer_scope.symbols.end()) {
    if (lost_.count(arg.tensor)) return false;
    const auto gone = outer_scope.gone.find(arg.tensor);
    if (gone != outer_scope.gone.end()) {
      report_crossing(arg.tensor, gone->second, arg.span);
    } else {
      error("E008", arg.span, fmt::format("unknown tensor `{}`", arg.tensor),
            "declare it, or define it before the call");
    }
    return false;
  }
  Symbol symbol = found->second;
  symbol.read_only = true;
  for (const lang::ExprRef& e : arg.fixed) {
    const auto v = value_of(e, outer_scope);
    if (!v) return false;
    if (symbol.view >= 0 || symbol.dims.empty()) {
      error("E022", arg.span, fmt::format("`{}` has no leading dimension to fix", arg.tensor),
            "pass the tensor itself, or a view of it");
      return false;
    }
    const int64_t extent = extent_of(symbol, 0);
    if (*v < 0 || *v >= extent)
      error("E001", arg.span, fmt::format("`{}[{}]` lies outside 0..{}", arg.tensor, *v, extent - 1),
            "a fixed leading index is one of its dimension");
    symbol.fixed.push_back(*v);
    symbol.dims.erase(symbol.dims.begin());
  }
  const size_t rank = symbol.view >= 0 ? views_[static_cast<size_t>(symbol.view)].shape.size() : symbol.dims.size();
  if (rank != formal.type.extents.size()) {
    error("E006", arg.span,
          fmt::format("`{}` has rank {} but the formal `{}` has {}", arg.tensor, rank, formal.name,
                      formal.type.extents.size()),
          "fix leading indices, `h0[2]`, or pass a view");
    return false;
  }
  bool fine = check_kind(symbol, arg.tensor, formal, "formal", arg.span);
  for (size_t d = 0; d < rank; ++d) {
    const lang::ExprRef& e = formal.type.extents[d];
    const int64_t extent = extent_of(symbol, d);
    if (extent < 0) return false;  // its declaration had a mistake
    const bool unbound = e->kind == lang::ExprKind::kName && !inner.dims.count(e->text);
    std::string outer_text;
    if (symbol.tensor >= 0) outer_text = program_.tensor(symbol.tensor).dims[d + symbol.fixed.size()];
    Diagnostics quiet;
    if (unbound) {
      const lang::ExprRef outer_dim = outer_text.empty() ? nullptr : lang::parse_expression(outer_text, quiet);
      const std::string caller = d < symbol.dims.size() ? symbol.dims[d] : "";
      inner.dims[e->text] = {extent, outer_dim ? outer_dim : lang::integer(extent), caller};
    } else if (const auto wanted = value_of(e, inner); wanted && *wanted != extent) {
      error("E002", arg.span,
            fmt::format("dimension {} of `{}` is {} but `{}` of the formal `{}` is {}", d, arg.tensor, extent,
                        lang::print(e), formal.name, *wanted),
            "dims of the formals bind from left to right; pass a tensor of this shape");
      fine = false;
    }
    if (d < symbol.dims.size()) symbol.dims[d] = e->kind == lang::ExprKind::kName ? e->text : "";
  }
  inner.symbols[formal.name] = symbol;
  return fine;
}

// The storage of a real or an integer is the tensor's own business; the signature says which of the two it is.
bool Binder::check_kind(const Symbol& symbol, const std::string& name, const lang::Formal& formal, const char* role,
                        Span span) {
  const auto dtype = dtype_from_name(formal.type.dtype);
  const bool view = symbol.view >= 0;
  if (!dtype || (!view && states_[static_cast<size_t>(symbol.tensor)].poisoned)) return true;
  const ValueKind kind = view ? views_[static_cast<size_t>(symbol.view)].kind : program_.tensor(symbol.tensor).value;
  if (kind == kind_of(*dtype)) return true;
  constexpr std::array<const char*, 3> kKinds = {"conditions", "integers", "reals"};
  error("E022", span,
        fmt::format("`{}` holds {} but the {} `{}` is {}", name, kKinds.at(static_cast<size_t>(kind)), role,
                    formal.name, formal.type.dtype),
        "the two hold values of one kind: change one dtype, or convert the values in an equation of their own");
  return false;
}

// A result is a tensor of the caller: declared there (an output, say), or made here with the signature's
// type.
bool Binder::bind_result(const std::string& name, const lang::Formal& formal, Span span, Scope& outer_scope,
                         Scope& inner) {
  const auto existing = outer_scope.symbols.find(name);
  if (existing == outer_scope.symbols.end()) {
    const std::string instance = inner.instance;
    inner.instance = outer_scope.instance;  // it belongs to the caller
    const auto numbered = names_.find(joined(outer_scope.instance, formal.name));
    const int last = numbered == names_.end() ? 0 : numbered->second;
    const int id = declare_tensor(formal.type, formal.name, TensorKind::kTensor, span, inner);
    inner.instance = instance;
    if (id < 0) return false;
    Tensor& t = program_.tensors[static_cast<size_t>(id)];
    names_.erase(t.name);  // which was the formal's
    if (last > 0) names_[joined(outer_scope.instance, formal.name)] = last;
    t.name = unique_name(joined(outer_scope.instance, name));
    Symbol symbol = inner.symbols.at(formal.name);
    for (std::string& dim : symbol.dims) dim = dim.empty() ? "" : inner.dims.at(dim).caller;
    give_name(outer_scope, name, symbol);
    return true;
  }
  if (!check_target(name, existing->second, span)) return false;
  Symbol symbol = existing->second;
  bool fits = symbol.dims.size() == formal.type.extents.size();
  for (size_t d = 0; fits && d < symbol.dims.size(); ++d) {
    const auto wanted = value_of(formal.type.extents[d], inner);
    if (!wanted) return false;
    fits = *wanted == extent_of(symbol, d);
    symbol.dims[d] = formal.type.extents[d]->kind == lang::ExprKind::kName ? formal.type.extents[d]->text : "";
  }
  if (!fits) {
    error("E022", span, fmt::format("`{}` has another shape than the result `{}`", name, formal.name),
          "declare it with the shape that the definition gives, or leave its declaration out");
  }
  fits = fits && check_kind(symbol, name, formal, "result", span);
  inner.symbols[formal.name] = symbol;
  return fits;
}

// A module may be called twice: same path (and parameters of the same path), another instance.
std::string Binder::unique_instance(const std::string& wanted) {
  std::string instance = wanted;
  while (!instances_.emplace(instance, 1).second) instance = fmt::format("{}.{}", wanted, ++instances_[wanted]);
  return instance;
}

void Binder::call(const lang::Call& c, Span span, Scope& scope) {
  const auto poison = [&] {
    for (const std::string& r : c.results) {
      const auto known = scope.symbols.find(r);
      if (known == scope.symbols.end()) lost_.insert(r);
      if (known != scope.symbols.end() && known->second.tensor >= 0)
        states_[static_cast<size_t>(known->second.tensor)].poisoned = true;
    }
  };
  const auto found = std::find_if(defs_.begin(), defs_.end(), [&](const auto& d) { return d.first == c.def; });
  if (found == defs_.end() && lost_.count(c.def)) return poison();
  if (found == defs_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, def] : defs_) names.push_back(name);
    const std::string near = closest(c.def, names);
    error("E008", span, fmt::format("unknown definition `{}`", c.def),
          near.empty() ? "define it above: `def ...`" : fmt::format("closest: `{}`", near));
    return poison();
  }
  const lang::Def& def = *found->second;
  if (def.formals.size() != c.args.size() || def.results.size() != c.results.size()) {
    error("E022", span,
          fmt::format("`{}` takes {} tensors and gives {}; the call passes {} and takes {}", def.name,
                      def.formals.size(), def.results.size(), c.args.size(), c.results.size()),
          "results stand left of `=`, tensors in the brackets");
    return poison();
  }
  if (std::find(calling_.begin(), calling_.end(), &def) != calling_.end()) {
    error("E022", span, fmt::format("`{}` calls itself", def.name), "definitions are expanded: no recursion");
    return poison();
  }
  if (calling_.size() >= kDeepestCall) {
    error("E022", span, fmt::format("calls of definitions are nested more than {} deep here", kDeepestCall),
          "call the inner definitions one after the other");
    return poison();
  }
  Scope inner;
  for (const lang::Fn& fn : lang::prelude()) inner.functions[{fn.name, fn.parameters.size()}] = &fn;
  inner.instance = unique_instance(joined(scope.instance, c.at ? *c.at : c.results[0]));
  inner.path = joined(scope.path, c.at.value_or(""));
  for (const lang::Override& o : c.overrides) inner.overrides[o.kernel] = o.knobs;
  bool fine = bind_statics(c, def, span, scope, inner);
  for (size_t i = 0; fine && i < c.args.size(); ++i) fine = bind_formal(c.args[i], def.formals[i], scope, inner);
  for (size_t i = 0; fine && i < c.results.size(); ++i)
    fine = bind_result(c.results[i], def.results[i], span, scope, inner);
  if (!fine) return poison();
  for (const auto& [name, knobs] : inner.overrides) {
    const bool known = std::any_of(def.items.begin(), def.items.end(), [&, n = name](const lang::Item& i) {
      const auto* k = std::get_if<lang::Kernel>(&i.node);
      return k && k->name == n;
    });
    if (!known)
      error("E022", span, fmt::format("`{}` has no kernel `{}`", def.name, name),
            "`with` names a kernel of the definition");
  }
  bound_defs_.insert(&def);
  if (calling_.empty()) outermost_call_ = span;
  calling_.push_back(&def);
  items(def.items, inner);
  calling_.pop_back();
}

// A definition by itself, its extents made up: all different, so that nothing fits by chance.
void Binder::bind_alone(const lang::Def& def) {
  int64_t extent = 64;
  Scope scope;
  for (const lang::Fn& fn : lang::prelude()) scope.functions[{fn.name, fn.parameters.size()}] = &fn;
  scope.instance = def.name;
  const auto make_up = [&](const std::string& name) { scope.dims[name] = {++extent, lang::name(name), ""}; };
  for (const lang::Static& s : def.statics) make_up(s.name);
  const auto declare_all = [&](const std::vector<lang::Formal>& formals, TensorKind kind) {
    for (const lang::Formal& f : formals) {
      for (const lang::ExprRef& e : f.type.extents) {
        if (kind == TensorKind::kInput && e->kind == lang::ExprKind::kName && !scope.dims.count(e->text))
          make_up(e->text);
      }
      declare_tensor(f.type, f.name, kind, f.span, scope);
    }
  };
  declare_all(def.formals, TensorKind::kInput);
  declare_all(def.results, TensorKind::kTensor);
  items(def.items, scope);
}

// Definitions that no call reaches, because there is none or it has a mistake: what is wrong with them for every
// extent.
void Binder::check_unbound_defs() {
  static const std::set<std::string> kForEveryExtent = {"E004", "E006", "E007", "E008", "E009", "E011", "E014", "E021"};
  for (const auto& [name, def] : defs_) {
    if (bound_defs_.count(def)) continue;
    Diagnostics found;
    Binder alone(source_, found);
    alone.defs_ = defs_;
    alone.lost_ = lost_;
    alone.nodes_ = nodes_;
    alone.items_ = items_;
    alone.bind_alone(*def);
    nodes_ = alone.nodes_;
    items_ = alone.items_;
    if (alone.spent_) return;  // no call asks for so much: it is no mistake, and the rest is not looked at
    for (const Diagnostic& d : found.all()) {
      if (kForEveryExtent.count(d.code)) diagnostics_.add(d);
    }
  }
}

}  // namespace solstice::ir
