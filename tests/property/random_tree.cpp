#include "property/random_tree.h"

namespace solstice::lang::testing {
namespace {

const char* const kWords[] = {"a", "b", "x", "y", "mu", "z_1", "M", "K", "CNT", "h0", "e4", "x2", "_t"};
const char* const kReducers[] = {"sum", "prod", "max", "min", "argmax", "any", "mean", "var", "logsumexp"};
const char* const kFunctions[] = {"exp", "relu", "min", "max", "select", "bf16", "f32", "i64", "foo"};
const char* const kDtypes[] = {"f64", "f32", "f16", "bf16", "e4m3", "i64", "u8", "bool"};
const double kNumbers[] = {0.5, 1e-5, 3.25, 1e30, 0.044715, 2.0, 1e-300};

}  // namespace

std::string RandomTree::word() { return pick(kWords); }

std::vector<std::string> RandomTree::comments() {
  std::vector<std::string> out;
  while (coin(4)) out.push_back(coin(5) ? "" : "about " + word() + " # [" + word() + "]");
  return out;
}

ExprRef RandomTree::arith(int depth) {
  const BinaryOp ops[] = {BinaryOp::kAdd,      BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv,
                          BinaryOp::kFloorDiv, BinaryOp::kMod, BinaryOp::kPow};
  if (depth <= 0) return coin() ? name(word()) : integer(below(1000));
  switch (below(9)) {
    case 0:
      return negate(arith(depth - 1));
    case 1:
      return number(pick(kNumbers));
    case 2:
      return integer(-below(9));
    case 3: {
      const char* const constants[] = {"inf", "pi", "true", "false"};
      return name(pick(constants));
    }
    default:
      return binary(pick(ops), arith(depth - 1), arith(depth - 1));
  }
}

ExprRef RandomTree::condition(int depth) {
  const CompareOp ops[] = {CompareOp::kLt, CompareOp::kLe, CompareOp::kEq, CompareOp::kNe, CompareOp::kGe, CompareOp::kGt};
  if (depth <= 0) return compare(pick(ops), arith(0), arith(0));
  switch (below(5)) {
    case 0:
      return logical_not(condition(depth - 1));
    case 1:
      return binary(coin() ? BinaryOp::kAnd : BinaryOp::kOr, condition(depth - 1), condition(depth - 1));
    case 2: {
      auto chain = std::make_shared<Expr>(*compare(pick(ops), value(depth - 1), value(depth - 1)));
      chain->compares.push_back(pick(ops));
      chain->args.push_back(value(depth - 1));
      return chain;
    }
    default:
      return compare(pick(ops), value(depth - 1), value(depth - 1));
  }
}

ExprRef RandomTree::value(int depth) {
  if (depth <= 0) return arith(0);
  switch (below(8)) {
    case 0:
      return condition(depth - 1);
    case 1: {
      std::vector<ExprRef> indices;
      for (int64_t n = below(4); n > 0; --n) indices.push_back(value(depth - 2));
      const bool otherwise = !indices.empty() && coin();
      return read(word(), std::move(indices), otherwise ? value(depth - 1) : nullptr);
    }
    case 2: {
      std::vector<Range> binders = {range(coin())};
      while (coin(3)) binders.push_back(range(coin()));
      return reduce(pick(kReducers), std::move(binders), value(depth - 1), coin() ? condition(depth - 1) : nullptr);
    }
    case 3:
      return rank(coin() ? "argtop" : "argbot", range(coin()), value(depth - 1), value(depth - 1));
    case 4: {
      std::vector<ExprRef> args = {value(depth - 1)};
      while (coin(3)) args.push_back(value(depth - 1));
      return lang::apply(pick(kFunctions), std::move(args));
    }
    case 5:
      return binary(BinaryOp::kMul, value(depth - 1), value(depth - 1));
    case 6:
      return binary(BinaryOp::kSub, value(depth - 1), value(depth - 1));
    default:
      return arith(depth);
  }
}

std::vector<ExprRef> RandomTree::ariths(int depth, int64_t most) {
  std::vector<ExprRef> out;
  for (int64_t n = below(most + 1); n > 0; --n) out.push_back(arith(depth));
  return out;
}

Range RandomTree::range(bool extent) { return {word(), extent ? arith(1) : nullptr, {}}; }

Type RandomTree::type() { return {pick(kDtypes), ariths(1, 3), {}}; }

Formal RandomTree::formal() { return {word(), type(), {}}; }

KnobValue RandomTree::knob_value(int depth) {
  KnobValue v;
  switch (below(depth > 0 ? 7 : 4)) {
    case 0:
      v.kind = KnobValue::Kind::kSize;
      v.sizes = {below(256), below(64)};
      return v;
    case 1:
      v.kind = KnobValue::Kind::kString;
      v.text = "k.cu";
      return v;
    case 4:
      v.kind = KnobValue::Kind::kTuple;
      v.items = {knob_value(depth - 1), knob_value(depth - 1)};
      return v;
    case 5:
      v.kind = KnobValue::Kind::kStruct;
      v.text = word();
      v.members = {{{word()}, knob_value(depth - 1), {}}};
      return v;
    default:
      v.expr = coin(4) ? name("bf16") : arith(2);
      return v;
  }
}

std::vector<Knob> RandomTree::knobs() {
  std::vector<Knob> out;
  while (coin()) {
    Knob k;
    k.names = {word()};
    if (coin(4)) k.names.push_back(word());
    k.value = knob_value(2);
    if (coin(4)) {
      KnobValue set;
      set.kind = KnobValue::Kind::kSet;
      set.items = {k.value, knob_value(1)};
      k.value = std::move(set);
    }
    out.push_back(std::move(k));
  }
  return out;
}

Equation RandomTree::equation() {
  Equation e;
  e.target = word();
  e.lhs = ariths(2, 3);
  e.rhs = value(5);
  while (coin(3)) e.ranges.push_back(range(true));
  return e;
}

Node RandomTree::decl() {
  Decl d;
  d.kind = static_cast<DeclKind>(below(6));
  d.name = word();
  d.type = type();
  if (coin(4)) d.path = "layers.0.weight";
  if (coin(4)) d.order = {1, 0};
  if (coin(4)) d.strides = {arith(1), arith(1)};
  if (coin(4)) {
    d.same = word();
    d.same_at = ariths(1, 2);
  }
  if (coin(4)) d.into = word();
  if (coin(4)) {
    d.distribution = "bernoulli";
    d.distribution_args = {number(0.9)};
  }
  return d;
}

Node RandomTree::opaque() {
  Opaque o;
  o.results = {formal()};
  o.op = "aten.sort.stable";
  if (coin()) o.args.push_back({"", value(2), std::nullopt});
  if (coin()) o.args.push_back({"dim", integer(1), std::nullopt});
  if (coin()) o.args.push_back({"mode", nullptr, "mean"});
  return o;
}

Node RandomTree::call() {
  Call c;
  c.results = {word()};
  if (coin()) c.results.push_back(word());
  c.def = word();
  if (coin()) c.statics.emplace_back(word(), arith(1));
  while (coin()) c.args.push_back({word(), ariths(1, 2), {}});
  if (coin()) c.at = "layers.1";
  if (coin()) c.overrides.push_back({word(), knobs()});
  return c;
}

Node RandomTree::top_node() {
  switch (below(11)) {
    case 0:
      return Clause{static_cast<Clause::Kind>(below(3)), {word()}, {}};
    case 1:
      return Clause{Clause::Kind::kAllow, {word(), word()}, {}};
    case 2:
      return Dims{{{word(), arith(2), nullptr, nullptr, 0, {}}, {word(), arith(1), integer(1), arith(1), coin() ? 8 : 0, {}}}};
    case 3:
      return Fn{word(), {word()}, value(3)};
    case 4:
      return View{equation()};
    case 5:
      return Assume{equation()};
    case 6:
      return opaque();
    case 7:
      return call();
    case 8:
      return Kernel{word(), coin(), word(), knobs(), items(3, true), comments()};
    case 9:
      return equation();
    default:
      return decl();
  }
}

Item RandomTree::item(Node node) {
  const bool block = std::holds_alternative<Kernel>(node) || std::holds_alternative<Def>(node);
  Item out;
  out.node = std::move(node);
  out.before = comments();
  if (coin(4)) out.after = block ? "header" : "at the end";
  return out;
}

std::vector<Item> RandomTree::items(int count, bool in_kernel) {
  std::vector<Item> out;
  for (int i = 0; i < count; ++i) {
    if (!in_kernel) {
      Node node = top_node();
      while (std::holds_alternative<Clause>(node) || std::holds_alternative<Kernel>(node)) node = top_node();
      out.push_back(item(std::move(node)));
    } else {
      out.push_back(item(coin(3) ? Node(View{equation()}) : coin(3) ? decl() : Node(equation())));
    }
  }
  return out;
}

Program RandomTree::program() {
  Program p;
  p.version = coin() ? 1 : 0;
  p.name = word();
  p.before = comments();
  if (coin(4)) p.after = "name";
  for (int64_t n = below(12); n > 0; --n) p.items.push_back(item(top_node()));
  if (coin()) {
    Def def{word(), {{word(), nullptr}, {word(), arith(1)}}, {formal()}, {formal(), formal()}, items(3, false), comments()};
    p.items.push_back(item(std::move(def)));
  }
  p.tail = comments();
  return p;
}

}  // namespace solstice::lang::testing
