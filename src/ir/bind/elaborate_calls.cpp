// Reductions, rankings, functions and views.
#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"
#include "ir/bind.h"
#include "ir/bind/elaborate.h"
#include "ir/bind/views.h"
#include "ir/substitute.h"
#include "lang/print.h"
#include "lang/words.h"

namespace solstice::ir {
namespace {

struct Primitive {
  std::string_view name;
  Op op;
  size_t arity;  // min and max take any number
};

constexpr Primitive kPrimitives[] = {
    {"exp", Op::kExp, 1},
    {"expm1", Op::kExpm1, 1},
    {"log", Op::kLog, 1},
    {"log1p", Op::kLog1p, 1},
    {"sqrt", Op::kSqrt, 1},
    {"rsqrt", Op::kRsqrt, 1},
    {"tanh", Op::kTanh, 1},
    {"erf", Op::kErf, 1},
    {"sin", Op::kSin, 1},
    {"cos", Op::kCos, 1},
    {"pow", Op::kPow, 2},
    {"abs", Op::kAbs, 1},
    {"sign", Op::kSign, 1},
    {"floor", Op::kFloor, 1},
    {"ceil", Op::kCeil, 1},
    {"round", Op::kRound, 1},
    {"trunc", Op::kTrunc, 1},
    {"min", Op::kMin, 2},
    {"max", Op::kMax, 2},
    {"select", Op::kSelect, 3},
    {"isnan", Op::kIsNan, 1},
    {"isfinite", Op::kIsFinite, 1},
    {"fmod", Op::kFmod, 2},
    {"remainder", Op::kRemainder, 2},
    {"floor_divide", Op::kFloorDivide, 2},
    {"atan2", Op::kAtan2, 2},
    {"erfinv", Op::kErfInv, 1},
    {"lgamma", Op::kLgamma, 1},
    {"bit_and", Op::kBitAnd, 2},
};

const Primitive* find_primitive(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kPrimitives), std::end(kPrimitives), [&](const Primitive& p) { return p.name == name; });
  return found == std::end(kPrimitives) ? nullptr : found;
}

Reducer reducer_of(std::string_view name) {
  for (int r = 0; r <= static_cast<int>(Reducer::kArgBot); ++r) {
    if (name_of(static_cast<Reducer>(r)) == name) return static_cast<Reducer>(r);
  }
  return Reducer::kSum;
}

}  // namespace

std::vector<std::string_view> primitive_functions() {
  std::vector<std::string_view> out;
  for (const Primitive& p : kPrimitives) out.push_back(p.name);
  return out;
}

// Brings the binders into sight; the caller takes them out again.
bool Elaborator::bind_indices(const lang::Expr& e, std::vector<int>& binders) {
  bool fine = true;
  const size_t outside = names_.size();
  for (const lang::Range& r : e.binders) {
    if (hides(r.name, r.span)) fine = false;
    for (size_t n = reductions_from_; n < names_.size(); ++n) {
      if (names_[n].first != r.name) continue;
      error("E008", r.span,
            fmt::format("`{}` is bound by {}", r.name,
                        n < outside ? "an enclosing reduction too" : "this reduction twice"),
            "rename one of them: only an index of the left side may be reused");
      fine = false;
    }
    std::optional<int64_t> extent;
    if (r.extent) {
      extent = given_extent(r);
      if (!extent) fine = false;
    }
    binders.push_back(new_index(r.name, r.span, extent));
    if (extent) draft_.equation.indices.back().dim = lang::print_tight(binder_.outer(r.extent, scope_));
  }
  return fine;
}

ExprRef Elaborator::reduce(const lang::Expr& e) {
  const Reducer reducer = reducer_of(e.text);
  const size_t in_sight = names_.size();
  std::vector<int> binders;
  bool fine = bind_indices(e, binders);
  ExprRef where;
  if (e.where) {
    where = condition(e.where);
    fine = fine && where;
  }
  if (where) facts_.push_back({where, true});
  ExprRef body = value(e.args[0]);
  if (where) facts_.pop_back();
  names_.resize(in_sight);
  if (!body || !fine) return nullptr;
  const bool positional = reducer == Reducer::kArgMax || reducer == Reducer::kArgMin;
  if (positional && binders.size() != 1) {
    error("E022", e.span, fmt::format("`{}` takes one index, not {}", e.text, binders.size()),
          "its result is a position along that index");
    return nullptr;
  }
  if ((reducer == Reducer::kAny || reducer == Reducer::kAll) && body->kind != ValueKind::kBool) {
    error("E021", e.span, fmt::format("`{}` reduces conditions, not numbers", e.text), "compare: `... != 0`");
    return nullptr;
  }
  ExprRef out = make_reduce(reducer, std::move(binders), std::move(body), std::move(where));
  std::const_pointer_cast<Expr>(out)->span = here(e.span);
  return out;
}

ExprRef Elaborator::rank(const lang::Expr& e) {
  ExprRef order = index(e.args[1]);
  const size_t in_sight = names_.size();
  std::vector<int> binders;
  const bool fine = bind_indices(e, binders);
  ExprRef body = value(e.args[0]);
  names_.resize(in_sight);
  if (!order || !body || !fine) return nullptr;
  draft_.checks.push_back({e.text, Symbol{}, binders[0], {order}, facts_, e.span});
  auto out = std::const_pointer_cast<Expr>(make_reduce(reducer_of(e.text), std::move(binders), std::move(body)));
  out->args.push_back(std::move(order));
  out->span = here(e.span);
  return out;
}

ExprRef Elaborator::select(const lang::Expr& e) {
  ExprRef c = condition(e.args[0]);
  if (c) facts_.push_back({c, true});
  ExprRef then = value(e.args[1]);
  if (c) facts_.back().holds = false;
  ExprRef otherwise = value(e.args[2]);
  if (c) facts_.pop_back();
  return made(Op::kSelect, {c, then, otherwise}, e.span);
}

ExprRef Elaborator::apply(const lang::Expr& e) {
  if (lang::is_reducer(e.text) && e.text != "min" && e.text != "max") {
    error("E009", e.span, fmt::format("`{}(...)` names no index; a reduction names its index", e.text),
          fmt::format("`{}[k](...)` reduces over the index `k` of its body", e.text));
    return nullptr;
  }
  const Primitive* primitive = find_primitive(e.text);
  if (primitive && primitive->op == Op::kSelect && e.args.size() == 3) return select(e);
  const int64_t nodes = nodes_;
  std::vector<Argument> given;
  for (const lang::ExprRef& a : e.args) given.push_back(argument(a));
  std::vector<ExprRef> args;
  for (const Argument& a : given) args.push_back(a.value);
  const auto dtype = dtype_from_name(e.text);
  const auto fn = scope_.functions.find({e.text, args.size()});
  const bool cast = dtype && args.size() == 1, own = fn != scope_.functions.end();
  const bool folds = primitive && (primitive->op == Op::kMin || primitive->op == Op::kMax) && args.size() >= 2;
  const bool plain = primitive && primitive->arity == args.size();
  if (!cast && !own && !folds && !plain) return no_function(e);  // said with what is wrong with the arguments
  if (std::find(args.begin(), args.end(), nullptr) != args.end()) return nullptr;
  if (cast) {
    ExprRef out = make_cast(*dtype, args[0]);
    std::const_pointer_cast<Expr>(out)->span = here(e.span);
    return out;
  }
  if (own) {
    nodes_ = nodes;  // the arguments count where they are used
    return call_fn(*fn->second, std::move(given), e.span);
  }
  const bool of_bits = plain && primitive->op == Op::kBitAnd;
  for (size_t i = 0; of_bits && i < args.size(); ++i) {
    if (args[i]->kind != ValueKind::kReal) continue;
    error("E021", e.args[i]->span, fmt::format("`{}` is real, and `bit_and` takes integers", lang::print(e.args[i])),
          "`i64(...)` drops the fraction");
    return nullptr;
  }
  if (!folds) return made(primitive->op, std::move(args), e.span);
  ExprRef out = args[0];
  for (size_t i = 1; i < args.size(); ++i) out = made(primitive->op, {out, args[i]}, e.span);
  return out;
}

Elaborator::Argument Elaborator::argument(const lang::ExprRef& e) {
  const int64_t nodes = nodes_;
  const int deepest = deepest_;
  deepest_ = level_;
  Argument out;
  out.value = value(e);
  out.nodes = nodes_ - nodes;
  out.height = deepest_ - level_;
  deepest_ = std::max(deepest, deepest_);
  return out;
}

ExprRef Elaborator::no_function(const lang::Expr& e) {
  if (binder_.lost_.count(e.text)) return nullptr;
  std::vector<std::string> known;
  std::string arities;
  for (const Primitive& p : kPrimitives) known.emplace_back(p.name);
  for (const auto& [key, unused] : scope_.functions) {
    known.push_back(key.first);
    if (key.first == e.text) arities += (arities.empty() ? "" : " or ") + std::to_string(key.second);
  }
  if (const Primitive* primitive = find_primitive(e.text)) arities = std::to_string(primitive->arity);
  if (dtype_from_name(e.text)) arities = "1";
  if (!arities.empty()) {
    error("E008", e.span, fmt::format("`{}` takes {} arguments, not {}", e.text, arities, e.args.size()),
          "separate arguments by commas; functions take values, reductions `sum[k](...)` one value");
  } else {
    const std::string near = closest(e.text, known);
    error("E008", e.span, fmt::format("unknown function `{}`", e.text),
          near.empty() ? "define it: `fn " + e.text + "(x) = ...`" : fmt::format("closest: `{}`", near));
  }
  return nullptr;
}

// A function is a macro over values: its body is elaborated with its parameters bound to the arguments.
ExprRef Elaborator::call_fn(const lang::Fn& fn, std::vector<Argument> args, Span span) {
  if (std::find(calling_.begin(), calling_.end(), &fn) != calling_.end()) {
    error("E008", span, fmt::format("function `{}` calls itself", fn.name), "functions are macros: no recursion");
    return nullptr;
  }
  Env env;
  for (size_t i = 0; i < args.size(); ++i) env[fn.parameters[i]] = std::move(args[i]);
  const Env* outside = env_;
  const Span outside_call = call_;
  call_ = here(span);
  env_ = &env;
  calling_.push_back(&fn);
  ExprRef out = value(fn.body);
  calling_.pop_back();
  env_ = outside;
  call_ = outside_call;
  return out;
}

// A view is never a copy: its read becomes the read (or reads) that it stands for.
ExprRef Elaborator::read_view(const View& view, const std::vector<ExprRef>& indices, const ExprRef& otherwise,
                              Span span) {
  ExprRef out;
  for (size_t p = view.pieces.size(); p-- > 0;) {
    const ViewPiece& piece = view.pieces[p];
    const SolvedPiece solved = solve_piece(piece, view.shape, indices);
    ExprRef condition = out ? solved.condition : nullptr;
    const Size size = size_of(piece.rhs, solved.indices), test = condition ? size_of(condition, {}) : Size{};
    if (!grow(size.nodes + test.nodes, std::max(size.height, test.height) + static_cast<int>(p), span)) return nullptr;
    if (condition) facts_.push_back({condition, true});
    ExprRef value = substitute(piece.rhs, solved.indices);
    walk(value, [&](const Expr& e) {
      if (e.op == Op::kRead) draft_.reads.push_back({std::make_shared<Expr>(e), facts_, span});
    });
    if (condition) facts_.pop_back();
    out = condition ? make(Op::kSelect, {condition, value, out}) : value;
  }
  if (!otherwise || !out) return out;
  const ExprRef inside = within(view.shape, indices);
  return inside ? make(Op::kSelect, {inside, out, otherwise}) : out;
}

}  // namespace solstice::ir
