#include "ir/bind/elaborate.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "lang/print.h"

namespace solstice::ir {
namespace {

Op op_of(lang::BinaryOp op) {
  switch (op) {
    case lang::BinaryOp::kOr:
      return Op::kOr;
    case lang::BinaryOp::kAnd:
      return Op::kAnd;
    case lang::BinaryOp::kAdd:
      return Op::kAdd;
    case lang::BinaryOp::kSub:
      return Op::kSub;
    case lang::BinaryOp::kMul:
      return Op::kMul;
    case lang::BinaryOp::kDiv:
      return Op::kDiv;
    case lang::BinaryOp::kFloorDiv:
      return Op::kFloorDiv;
    case lang::BinaryOp::kMod:
      return Op::kMod;
    case lang::BinaryOp::kPow:
      return Op::kPow;
  }
  return Op::kAdd;
}

Op op_of(lang::CompareOp op) {
  switch (op) {
    case lang::CompareOp::kLt:
      return Op::kLt;
    case lang::CompareOp::kLe:
      return Op::kLe;
    case lang::CompareOp::kEq:
      return Op::kEq;
    case lang::CompareOp::kNe:
      return Op::kNe;
    case lang::CompareOp::kGe:
      return Op::kGe;
    case lang::CompareOp::kGt:
      return Op::kGt;
  }
  return Op::kEq;
}

bool has_real_division(const lang::ExprRef& e) {
  if (!e) return false;
  if (e->kind == lang::ExprKind::kBinary && e->binary == lang::BinaryOp::kDiv) return true;
  if (e->kind != lang::ExprKind::kBinary && e->kind != lang::ExprKind::kNeg) return false;
  for (const lang::ExprRef& a : e->args) {
    if (has_real_division(a)) return true;
  }
  return false;
}

// The index with `//` for every `/`.
lang::ExprRef with_floor_division(const lang::ExprRef& e) {
  auto copy = std::make_shared<lang::Expr>(*e);
  if (copy->kind == lang::ExprKind::kBinary && copy->binary == lang::BinaryOp::kDiv) {
    copy->binary = lang::BinaryOp::kFloorDiv;
  }
  for (lang::ExprRef& a : copy->args) a = with_floor_division(a);
  return copy;
}

bool is_whole(Op op) { return op == Op::kFloor || op == Op::kCeil || op == Op::kRound || op == Op::kTrunc; }

void collect_names(const lang::ExprRef& e, std::vector<std::pair<std::string, Span>>& out) {
  if (!e) return;
  if (e->kind == lang::ExprKind::kName) out.emplace_back(e->text, e->span);
  for (const lang::ExprRef& a : e->args) collect_names(a, out);
}

}  // namespace

// What stands in a function's body is reported where the function is called.
Span Elaborator::here(Span span) const { return env_ ? call_ : span; }

void Elaborator::error(std::string_view code, Span span, std::string message, std::string hint) {
  binder_.error(code, here(span), std::move(message), std::move(hint));
}

ExprRef Elaborator::made(Op op, std::vector<ExprRef> args, Span span) {
  for (const ExprRef& a : args) {
    if (!a) return nullptr;
  }
  ExprRef e = make(op, std::move(args));
  std::const_pointer_cast<Expr>(e)->span = here(span);  // just made: nobody shares it yet
  return e;
}

int Elaborator::new_index(const std::string& name, Span span, std::optional<int64_t> extent) {
  const int id = static_cast<int>(draft_.equation.indices.size());
  draft_.equation.indices.push_back({name, extent.value_or(-1), ""});
  draft_.index_spans.push_back(span);
  draft_.given.push_back(extent.has_value());
  names_.emplace_back(name, id);
  return id;
}

// An index may not take the name of a tensor or dim in sight.
bool Elaborator::hides(const std::string& name, Span span) {
  const bool tensor = scope_.symbols.count(name) || binder_.upcoming_.count(name);
  const bool dim = scope_.dims.count(name) > 0;
  if (!tensor && !dim) return false;
  error("E008", span, fmt::format("index `{0}` hides the {1} `{0}`", name, tensor ? "tensor" : "dim"),
        "one name has one meaning in a scope: rename the index");
  return true;
}

std::optional<int64_t> Elaborator::given_extent(const lang::Range& range) {
  const auto extent = binder_.value_of(range.extent, scope_);
  if (!extent || *extent > 0) return extent;
  error("E022", range.span, fmt::format("the range of `{}` is {}; an extent is positive", range.name, *extent));
  return std::nullopt;
}

void Elaborator::left_side(const lang::Equation& equation, Span span) {
  std::map<std::string, const lang::Range*> ranges;
  for (const lang::Range& r : equation.ranges) ranges[r.name] = &r;
  std::vector<std::pair<std::string, Span>> names;
  for (const lang::ExprRef& e : equation.lhs) collect_names(e, names);
  for (const auto& [name, where] : names) {
    bool known = scope_.dims.count(name) > 0 || name == "inf" || name == "pi";
    for (const auto& [other, id] : names_) known |= other == name;
    if (known) continue;
    if (hides(name, where)) draft_.failed = true;
    std::optional<int64_t> extent;
    const auto range = ranges.find(name);
    if (range != ranges.end()) {
      extent = given_extent(*range->second);
      draft_.failed = draft_.failed || !extent;
    }
    const int id = new_index(name, where, extent);
    if (extent) draft_.equation.indices.back().dim = lang::print_tight(binder_.outer(range->second->extent, scope_));
    draft_.equation.free.push_back(id);
    ranges.erase(name);
  }
  for (const auto& [name, range] : ranges) {
    const bool written = std::any_of(names.begin(), names.end(), [&, n = name](const auto& w) { return w.first == n; });
    if (written) continue;
    error("E004", range->span, fmt::format("`{}` has a range but does not stand on the left", name),
          "a range belongs to an index of the left side; a reduced index takes its own: `sum[k<4](...)`");
    draft_.failed = true;
  }
  for (const lang::ExprRef& e : equation.lhs) {
    ExprRef bound = index(e);
    if (bound && !as_affine(bound)) {
      error("E005", e->span.end ? e->span : span, fmt::format("left index `{}` is not affine in the indices", lang::print_tight(e)),
            "a left side places elements: sums of constants times indices, as in `y[n, D*g+k]`");
      bound = nullptr;
    }
    if (!bound) draft_.failed = true;
    draft_.equation.lhs.push_back(bound ? bound : make_int(0));
  }
  reductions_from_ = names_.size();
}

ExprRef Elaborator::value(const lang::ExprRef& e) {
  switch (e->kind) {
    case lang::ExprKind::kInt:
      return make_int(e->integer);
    case lang::ExprKind::kNumber:
      return make_real(std::strtod(e->text.c_str(), nullptr));
    case lang::ExprKind::kName:
      return bare_name(*e);
    case lang::ExprKind::kRead:
      return read(*e);
    case lang::ExprKind::kReduce:
      return reduce(*e);
    case lang::ExprKind::kRank:
      return rank(*e);
    case lang::ExprKind::kApply:
      return apply(*e);
    case lang::ExprKind::kNeg:
      return made(Op::kNeg, {value(e->args[0])}, e->span);
    case lang::ExprKind::kNot:
      return made(Op::kNot, {condition(e->args[0])}, e->span);
    case lang::ExprKind::kCompare:
      return comparison(*e);
    case lang::ExprKind::kBinary:
      return e->binary == lang::BinaryOp::kAnd || e->binary == lang::BinaryOp::kOr ? logical(*e) : arithmetic(*e);
  }
  return nullptr;
}

ExprRef Elaborator::condition(const lang::ExprRef& e) {
  ExprRef c = value(e);
  if (!c || c->kind == ValueKind::kBool) return c;
  error("E021", e->span, fmt::format("`{}` is a number where a condition stands", lang::print(e)),
        fmt::format("compare it: `{} != 0`", lang::print(e)));
  return nullptr;
}

ExprRef Elaborator::index(const lang::ExprRef& e) {
  ExprRef i = value(e);
  if (!i) return nullptr;
  if (is_whole(i->op) && i->kind == ValueKind::kReal) return make_cast(DType::kI64, i);
  if (i->kind != ValueKind::kReal) return i;
  const std::string text = lang::print_tight(e);
  if (has_real_division(e)) {
    error(
        "E013", e->span, fmt::format("index `{}`: `/` is real division", text),
        fmt::format("`{}` rounds down; if only exact multiples count: `where ... % ... == 0`", lang::print_tight(with_floor_division(e))));
  } else {
    error("E013", e->span, fmt::format("index `{}` is real; an index is an integer", text), fmt::format("`i64({})`", text));
  }
  return nullptr;
}

ExprRef Elaborator::bare_name(const lang::Expr& e) {
  if (e.text == "inf") return make_real(std::numeric_limits<double>::infinity());
  if (e.text == "pi") return make_real(std::numbers::pi);
  if (e.text == "true" || e.text == "false") {
    auto literal = std::make_shared<Expr>();
    literal->op = Op::kBool;
    literal->kind = ValueKind::kBool;
    literal->integer = e.text == "true";
    return literal;
  }
  if (env_) {
    const auto argument = env_->find(e.text);
    if (argument != env_->end()) return argument->second;
  } else {
    for (auto it = names_.rbegin(); it != names_.rend(); ++it) {
      if (it->first == e.text) return make_index(it->second);
    }
  }
  const auto dim = scope_.dims.find(e.text);
  if (dim != scope_.dims.end()) return make_int(dim->second.value);
  return unknown_name(e);
}

ExprRef Elaborator::unknown_name(const lang::Expr& e) {
  const auto symbol = scope_.symbols.find(e.text);
  if (symbol != scope_.symbols.end() || binder_.upcoming_.count(e.text)) {
    error("E007", e.span, fmt::format("`{}` is a tensor; an expression takes its elements", e.text),
          fmt::format("write its indices: `{}[...]`", e.text));
    return nullptr;
  }
  std::vector<std::string> known;
  for (const auto& [name, dim] : scope_.dims) known.push_back(name);
  if (env_ || (e.text[0] >= 'A' && e.text[0] <= 'Z')) {
    const std::string near = closest(e.text, known);
    error("E008", e.span, fmt::format("unknown {} `{}`", env_ ? "name" : "dim", e.text),
          near.empty() ? "declare it: `dim " + e.text + " = ...`" : fmt::format("closest: `{}`", near));
    return nullptr;
  }
  if (!draft_.unbound.insert(e.text).second) return nullptr;  // once an equation is enough
  error("E004", e.span, fmt::format("`{}` is used on the right but neither written nor reduced; nothing is summed implicitly", e.text),
        fmt::format("sum over it: `sum[{}](...)`, with every use of it inside the brackets; or write it on the "
                    "left",
                    e.text));
  return nullptr;
}

std::optional<Symbol> Elaborator::find_tensor(const lang::Expr& e) {
  const auto known = scope_.symbols.find(e.text);
  if (known != scope_.symbols.end()) {
    const Symbol& s = known->second;
    const bool loose_local = s.tensor >= 0 && binder_.program_.tensor(s.tensor).kind == TensorKind::kLocal &&
                             binder_.program_.tensor(s.tensor).kernel != binder_.kernel_;
    if (!loose_local) return s;
    error("E011", e.span, fmt::format("`{}` crosses into a kernel but is not declared", e.text),
          fmt::format("`tensor {} : f32[...]` (dtype and order are yours to choose)", e.text));
    return std::nullopt;
  }
  const auto soon = binder_.upcoming_.find(e.text);
  if (soon != binder_.upcoming_.end()) {
    binder_.local(e.text, soon->second, e.span, scope_);
    return scope_.symbols.at(e.text);
  }
  const auto gone = scope_.gone.find(e.text);
  if (gone != scope_.gone.end()) {
    error("E011", e.span, fmt::format("`{}` crosses from kernel `{}` but is not declared", e.text, gone->second),
          fmt::format("`tensor {} : f32[...]` before the kernels (dtype and order are yours to choose)", e.text));
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const auto& [name, symbol] : scope_.symbols) names.push_back(name);
  const std::string near = closest(e.text, names);
  const bool dim = scope_.dims.count(e.text) > 0;
  error("E008", e.span, dim ? fmt::format("`{}` is a dim, not a tensor", e.text) : fmt::format("unknown tensor `{}`", e.text),
        near.empty() ? "declare it, or define it before it is read" : fmt::format("closest: `{}`", near));
  return std::nullopt;
}

ExprRef Elaborator::read(const lang::Expr& e) {
  std::vector<ExprRef> indices;
  bool fine = true;
  for (const lang::ExprRef& a : e.args) {
    indices.push_back(index(a));
    fine = fine && indices.back() != nullptr;
  }
  ExprRef otherwise = e.otherwise ? value(e.otherwise) : nullptr;
  if (e.otherwise && !otherwise) fine = false;
  const std::optional<Symbol> symbol = find_tensor(e);
  if (!symbol) return nullptr;
  const View* view = symbol->view >= 0 ? &binder_.views_[static_cast<size_t>(symbol->view)] : nullptr;
  const auto& shape = view ? view->shape : binder_.program_.tensor(symbol->tensor).shape;
  const size_t rank = shape.size() - symbol->fixed.size();
  if (rank != e.args.size()) {
    std::string extents;
    for (size_t d = symbol->fixed.size(); d < shape.size(); ++d) extents += (extents.empty() ? "" : "x") + std::to_string(shape[d]);
    error("E006", e.span,
          fmt::format("`{}` has rank {}{} but {} ind{}", e.text, rank, rank ? " (" + extents + ")" : "", e.args.size(),
                      e.args.size() == 1 ? "ex" : "ices"),
          "no broadcasting: one index a dimension, 0 where the extent is 1, as in `b[k,0,0]`");
    return nullptr;
  }
  if (!fine) return nullptr;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d]->op == Op::kIndex) draft_.bare.push_back({indices[d]->id, e.text, *symbol, d, e.args[d]->span});
  }
  if (!otherwise) draft_.checks.push_back({e.text, *symbol, -1, indices, facts_, e.span});
  if (view) return read_view(*view, indices, otherwise, e.span);
  return read_tensor(*symbol, std::move(indices), std::move(otherwise), e.span);
}

ExprRef Elaborator::read_tensor(const Symbol& symbol, std::vector<ExprRef> indices, ExprRef otherwise, Span span) {
  std::vector<ExprRef> all;
  for (const int64_t f : symbol.fixed) all.push_back(make_int(f));
  all.insert(all.end(), indices.begin(), indices.end());
  ExprRef r = make_read(symbol.tensor, binder_.program_.tensor(symbol.tensor).value, std::move(all), std::move(otherwise));
  std::const_pointer_cast<Expr>(r)->span = here(span);
  draft_.reads.push_back({r, facts_, span});
  return r;
}

ExprRef Elaborator::comparison(const lang::Expr& e) {
  std::vector<ExprRef> operands;
  for (const lang::ExprRef& a : e.args) operands.push_back(value(a));
  ExprRef all;
  for (size_t i = 0; i < e.compares.size(); ++i) {
    ExprRef one = made(op_of(e.compares[i]), {operands[i], operands[i + 1]}, e.span);
    if (!one) return nullptr;
    all = all ? made(Op::kAnd, {all, one}, e.span) : one;
  }
  return all;
}

// The right operand is evaluated only where the left one leaves the result open.
ExprRef Elaborator::logical(const lang::Expr& e) {
  ExprRef left = condition(e.args[0]);
  if (left) facts_.push_back({left, e.binary == lang::BinaryOp::kAnd});
  ExprRef right = condition(e.args[1]);
  if (left) facts_.pop_back();
  return made(op_of(e.binary), {left, right}, e.span);
}

ExprRef Elaborator::arithmetic(const lang::Expr& e) {
  ExprRef left = value(e.args[0]);
  ExprRef right = value(e.args[1]);
  const bool division = e.binary == lang::BinaryOp::kFloorDiv || e.binary == lang::BinaryOp::kMod;
  if (division && right && right->op == Op::kInt && right->integer <= 0) {
    error("E013", e.span, fmt::format("`{}` has the divisor {}", lang::print(std::make_shared<lang::Expr>(e)), right->integer),
          "`//` and `%` round down by a positive divisor");
    return nullptr;
  }
  return made(op_of(e.binary), {std::move(left), std::move(right)}, e.span);
}

}  // namespace solstice::ir
