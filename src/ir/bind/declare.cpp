// Dims, declarations, functions and opaque operations.
#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"
#include "base/integer.h"
#include "ir/bind.h"
#include "ir/bind/binder.h"
#include "ir/bind/elaborate.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

TensorKind kind_of(lang::DeclKind kind) {
  switch (kind) {
    case lang::DeclKind::kParam:
      return TensorKind::kParam;
    case lang::DeclKind::kBuffer:
      return TensorKind::kBuffer;
    case lang::DeclKind::kInput:
      return TensorKind::kInput;
    case lang::DeclKind::kOutput:
      return TensorKind::kOutput;
    case lang::DeclKind::kTensor:
      return TensorKind::kTensor;
    case lang::DeclKind::kRandom:
      return TensorKind::kRandom;
  }
  return TensorKind::kTensor;
}

std::vector<int64_t> row_major(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) {
    if (__builtin_mul_overflow(strides[d], shape[d], &strides[d - 1])) strides[d - 1] = 0;  // check_size has said it
  }
  return strides;
}

// The first reduction or ranking, null if there is none.
const lang::Expr* reduction_in(const lang::ExprRef& e) {
  if (!e || e->kind == lang::ExprKind::kReduce || e->kind == lang::ExprKind::kRank) return e.get();
  for (const lang::ExprRef& a : e->args) {
    if (const lang::Expr* found = reduction_in(a)) return found;
  }
  return reduction_in(e->otherwise);
}

bool is_dim_name(const lang::ExprRef& e) { return e->kind == lang::ExprKind::kName; }

}  // namespace

std::optional<int64_t> Binder::value_of(const lang::ExprRef& e, const Scope& scope) {
  using lang::BinaryOp;
  if (e->kind == lang::ExprKind::kInt) return e->integer;
  if (e->kind == lang::ExprKind::kName) {
    const auto dim = scope.dims.find(e->text);
    if (dim != scope.dims.end()) return dim->second.known ? std::optional(dim->second.value) : std::nullopt;
    if (lost_.count(e->text)) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& [name, entry] : scope.dims) names.push_back(name);
    const std::string near = closest(e->text, names);
    error("E008", e->span, fmt::format("unknown dim `{}`", e->text),
          near.empty() ? fmt::format("declare it before its first use: `dim {} = ...`", e->text)
                       : fmt::format("closest: `{}`", near));
    return std::nullopt;
  }
  if (e->kind == lang::ExprKind::kNeg) {
    const auto v = value_of(e->args[0], scope);
    return v ? std::optional(-*v) : std::nullopt;
  }
  if (e->kind == lang::ExprKind::kBinary && e->binary >= BinaryOp::kAdd && e->binary != BinaryOp::kDiv) {
    const auto a = value_of(e->args[0], scope);
    const auto b = a ? value_of(e->args[1], scope) : std::nullopt;
    if (!b) return std::nullopt;
    if (e->binary == BinaryOp::kPow) {
      if (const auto power = integer_power(*a, *b)) return power;
      error("E013", e->span, fmt::format("`{}` is no integer of 64 bits", lang::print(e)), "an exponent is 0 or more");
      return std::nullopt;
    }
    static const std::map<BinaryOp, Op> ops = {{BinaryOp::kAdd, Op::kAdd},
                                               {BinaryOp::kSub, Op::kSub},
                                               {BinaryOp::kMul, Op::kMul},
                                               {BinaryOp::kFloorDiv, Op::kFloorDiv},
                                               {BinaryOp::kMod, Op::kMod}};
    const ExprRef folded = make(ops.at(e->binary), {make_int(*a), make_int(*b)});
    if (folded->op == Op::kInt) return folded->integer;
    error("E013", e->span, fmt::format("`{}` divides by {} or overflows", lang::print(e), *b),
          "dims are integers of 64 bits");
    return std::nullopt;
  }
  error("E013", e->span, fmt::format("`{}` is not an integer expression of dims", lang::print(e)),
        "dims combine with `+`, `-`, `*`, `//`, `%`, `**`");
  return std::nullopt;
}

lang::ExprRef Binder::outer(const lang::ExprRef& e, const Scope& scope) const {
  if (e->kind == lang::ExprKind::kName) {
    const auto dim = scope.dims.find(e->text);
    return dim != scope.dims.end() && dim->second.outer ? dim->second.outer : e;
  }
  if (e->args.empty()) return e;
  auto copy = std::make_shared<lang::Expr>(*e);
  for (lang::ExprRef& a : copy->args) a = outer(a, scope);
  return copy;
}

bool Binder::name_is_free(const std::string& name, const Scope& scope, Span span) {
  if (!scope.dims.count(name) && !scope.symbols.count(name)) return true;
  error("E008", span, fmt::format("`{}` is declared twice", name), "one name has one meaning in a scope");
  return false;
}

void Binder::declare_dims(const lang::Dims& dims, Scope& scope) {
  for (const lang::Dim& d : dims.dims) {
    const auto value = value_of(d.value, scope);
    if (!name_is_free(d.name, scope, d.span)) continue;
    const bool known = value && *value > 0;
    if (value && !known)
      error("E022", d.span, fmt::format("dim `{}` is {}", d.name, *value), "a dim is an extent: 1 or more");
    const auto low = d.low ? value_of(d.low, scope) : value;
    const auto high = d.high ? value_of(d.high, scope) : value;
    if (low && high && d.low && (*low < 1 || *low > *high)) {
      error("E022", d.span, fmt::format("dim `{}` ranges over {}..{}", d.name, *low, *high),
            "a dim is 1 or more: `in 1..64`");
    } else if (value && d.step > 0 && *value % d.step != 0) {
      error("E022", d.span, fmt::format("dim `{}` is {}, no multiple of its step {}", d.name, *value, d.step),
            "the value is an example of the range, whose members are multiples of the step");
    } else if (value && low && high && (*value < *low || *value > *high)) {
      error("E022", d.span, fmt::format("dim `{}` is {}, outside {}..{}", d.name, *value, *low, *high),
            "the value is an example of the range");
    }
    if (d.low && value) {
      program_.not_yet.push_back(
          {fmt::format("a dim with a range: `{}` is {} everywhere, other sizes are neither checked nor "
                       "compiled",
                       d.name, *value),
           d.span});
    }
    scope.dims[d.name] = {known ? *value : 1, scope.instance.empty() ? lang::name(d.name) : outer(d.value, scope), "",
                          known};
    if (scope.instance.empty()) program_.dims.push_back({d.name, known ? *value : 1});
  }
}

std::string Binder::unique_name(const std::string& wanted) {
  std::string name = wanted;
  while (!names_.emplace(name, 1).second) name = fmt::format("{}.{}", wanted, ++names_[wanted]);
  return name;
}

void Binder::give_name(Scope& scope, const std::string& name, const Symbol& symbol) {
  scope.symbols[name] = symbol;
  scope.named.push_back(name);
}

int Binder::add_tensor(Tensor tensor) {
  tensor.name = unique_name(tensor.name);
  if (tensor.strides.empty()) tensor.strides = row_major(tensor.shape);
  program_.tensors.push_back(std::move(tensor));
  states_.emplace_back();
  return static_cast<int>(program_.tensors.size()) - 1;
}

// Adds the tensor and its symbol; -1 after an error (the symbol then exists, poisoned, to keep later lines
// quiet).
int Binder::declare_tensor(const lang::Type& type, const std::string& name, TensorKind kind, Span span, Scope& scope) {
  if (!name_is_free(name, scope, span)) return -1;
  Tensor t;
  t.name = scope.instance.empty() ? name : scope.instance + "." + name;
  t.kind = kind;
  t.span = span;
  const auto dtype = dtype_from_name(type.dtype);
  t.dtype = dtype.value_or(DType::kF32);
  t.value = ir::kind_of(*t.dtype);
  bool fine = dtype.has_value();
  if (!dtype) error("E022", type.span, fmt::format("unknown dtype `{}`", type.dtype));
  Symbol symbol;
  for (const lang::ExprRef& e : type.extents) {
    const auto extent = value_of(e, scope);
    const bool known = extent && *extent > 0;
    if (extent && !known) {
      error("E022", e->span, fmt::format("extent `{}` of `{}` is {}", lang::print(e), name, *extent),
            "an extent is 1 or more");
    }
    fine = fine && known;
    t.shape.push_back(known ? *extent : -1);
    t.dims.push_back(known ? lang::print_tight(outer(e, scope)) : "");
    symbol.dims.push_back(is_dim_name(e) ? e->text : "");
  }
  fine = fine && check_size(name, t.shape, size_of(*t.dtype), span);
  symbol.tensor = add_tensor(std::move(t));
  give_name(scope, name, symbol);
  states_.back().poisoned = !fine || lost_.count(name) > 0;
  return fine ? symbol.tensor : -1;
}

void Binder::declare(const lang::Decl& d, Span span, Scope& scope) {
  const bool interface = d.kind == lang::DeclKind::kInput || d.kind == lang::DeclKind::kOutput;
  if (interface && !scope.instance.empty()) {
    error("E022", span, fmt::format("`{}` is an interface tensor inside a definition", d.name),
          "a definition's tensors come in as formals and leave as results");
  }
  const bool def = scope.instance.empty() &&
                   std::any_of(defs_.begin(), defs_.end(), [&](const auto& f) { return f.first == d.name; });
  if (def)
    error("E008", span, fmt::format("`{}` is the name of a definition too", d.name),
          "one name has one meaning in a scope");
  const int id = declare_tensor(d.type, d.name, kind_of(d.kind), span, scope);
  if (id < 0) return;
  Tensor& t = program_.tensors[static_cast<size_t>(id)];
  if (d.path) declare_path(scope.path.empty() ? *d.path : scope.path + "." + *d.path, id, span);
  declare_storage(d, t, span, scope);
}

// One path is one tensor of the module, however many instances own it.
void Binder::declare_path(const std::string& path, int id, Span span) {
  Tensor& t = program_.tensors[static_cast<size_t>(id)];
  if (t.kind != TensorKind::kParam && t.kind != TensorKind::kBuffer) {
    error("E022", span, fmt::format("`{}` is neither a param nor a buffer and has no path", t.name),
          "leave the string out");
    return;
  }
  t.path = path;
  const Tensor& first = program_.tensor(paths_.emplace(path, id).first->second);
  if (first.kind == t.kind && first.dtype == t.dtype && first.shape == t.shape) return;
  const auto type = [](const Tensor& of) {
    return fmt::format("a {} {}[{}]", of.kind == TensorKind::kParam ? "param" : "buffer", name_of(*of.dtype),
                       fmt::join(of.shape, ", "));
  };
  error("E022", calling_.empty() ? span : outermost_call_,
        fmt::format("`{}` is {}, but at its path `{}` there is already {}", t.name, type(t), path, type(first)),
        "one path is one tensor: give this one, or the call that makes it (`at`), a path of its own");
}

void Binder::declare_fn(const lang::Fn& fn, Span span, Scope& scope) {
  const auto key = std::pair(fn.name, fn.parameters.size());
  if (scope.functions.count(key)) {
    error("E008", span,
          fmt::format("function `{}` of {} parameters is defined twice, or in the prelude", fn.name,
                      fn.parameters.size()),
          "choose another name");
    return;
  }
  const auto primitives = primitive_functions();
  if (std::find(primitives.begin(), primitives.end(), fn.name) != primitives.end()) {
    error("E008", span, fmt::format("function `{}` is one of the language's own", fn.name), "choose another name");
    return;
  }
  for (size_t p = 0; p < fn.parameters.size(); ++p) {
    if (std::find(fn.parameters.begin(), fn.parameters.begin() + static_cast<std::ptrdiff_t>(p), fn.parameters[p]) ==
        fn.parameters.begin() + static_cast<std::ptrdiff_t>(p)) {
      continue;
    }
    error("E008", span, fmt::format("function `{}` has two parameters `{}`", fn.name, fn.parameters[p]),
          "rename one of them");
    lost_.insert(fn.name);
    return;
  }
  if (const lang::Expr* reduction = reduction_in(fn.body)) {
    error("E022", reduction->span,
          fmt::format("function `{}` holds `{}[...]`: a function is a macro over values", fn.name, reduction->text),
          "reduce where it is called, or in an equation of its own, and pass the result");
    lost_.insert(fn.name);
    return;
  }
  scope.functions[key] = &fn;
}

void Binder::declare_opaque(const lang::Opaque& o, Span span, Scope& scope) {
  Opaque out;
  out.op = o.op;
  out.span = span;
  Draft unused;  // arguments are scalars of dims, or whole tensors
  Elaborator elaborator(*this, scope, unused);
  for (const lang::OpaqueArg& a : o.args) {
    out.strings.push_back(a.string.value_or(""));
    ExprRef bound;
    if (a.expr) {
      const auto symbol =
          a.expr->kind == lang::ExprKind::kName ? scope.symbols.find(a.expr->text) : scope.symbols.end();
      const bool tensor = symbol != scope.symbols.end() && symbol->second.tensor >= 0 && symbol->second.fixed.empty();
      bound = tensor ? make_read(symbol->second.tensor, program_.tensor(symbol->second.tensor).value, {})
                     : elaborator.value(a.expr);
    }
    out.arguments.emplace_back(a.keyword, std::move(bound));
  }
  for (const lang::Formal& f : o.results) {
    const int id = declare_tensor(f.type, f.name, TensorKind::kTensor, f.span, scope);
    if (id < 0) continue;
    out.results.push_back(id);
    states_[static_cast<size_t>(id)].writers.push_back(-1);
  }
  Item item;
  item.opaque = static_cast<int>(program_.opaques.size());
  program_.opaques.push_back(std::move(out));
  program_.items.push_back(item);
}

}  // namespace solstice::ir
