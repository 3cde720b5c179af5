#include "property/random_tree.h"

#include "base/dtype.h"
#include "lang/words.h"

namespace solstice::lang::testing {
namespace {

const char* const kWords[] = {"a", "b", "x", "y", "mu", "z_1", "M", "K", "CNT", "h0", "e4", "x2", "_t"};
const char* const kFunctions[] = {"exp", "relu", "min", "max", "select", "foo"};
const double kNumbers[] = {0.5, 1e-5, 3.25, 1e30, 0.044715, 2.0, 1e-300};
const char* const kStrings[] = {"layers.0.weight", "", "k.cu", "a # b [c", "\xc2\xb5"};

}  // namespace

std::string RandomTree::word() { return pick(kWords); }

std::string RandomTree::any_word() {
  const char* const reserved[] = {"order", "sum", "by", "bf16", "for", "inf", "where"};
  return coin(3) ? pick(reserved) : word();
}

std::vector<std::string> RandomTree::words(int64_t most) {
  std::vector<std::string> out = {word()};
  for (int64_t n = below(most); n > 0; --n) out.push_back(word());
  return out;
}

std::string RandomTree::dtype() {
  const auto& all = all_dtypes();
  return std::string(name_of(all[static_cast<size_t>(below(static_cast<int64_t>(all.size())))]));
}

std::string RandomTree::reducer() {
  return std::string(reducers()[static_cast<size_t>(below(static_cast<int64_t>(reducers().size())))]);
}

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
  const CompareOp ops[] = {CompareOp::kLt, CompareOp::kLe, CompareOp::kEq,
                           CompareOp::kNe, CompareOp::kGe, CompareOp::kGt};
  if (depth <= 0) return compare(pick(ops), arith(0), arith(0));
  switch (below(5)) {
    case 0:
      return logical_not(condition(depth - 1));
    case 1:
      return binary(coin() ? BinaryOp::kAnd : BinaryOp::kOr, condition(depth - 1), condition(depth - 1));
    case 2: {
      auto chain = std::make_shared<Expr>(*compare(pick(ops), value(depth - 1), value(depth - 1)));
      do {
        chain->compares.push_back(pick(ops));
        chain->args.push_back(value(depth - 1));
      } while (coin(3));
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
      return reduce(reducer(), std::move(binders), value(depth - 1), coin() ? condition(depth - 1) : nullptr);
    }
    case 3:
      return rank(coin() ? "argtop" : "argbot", range(coin()), value(depth - 1), value(depth - 1));
    case 4: {
      std::vector<ExprRef> args = {value(depth - 1)};
      while (coin(3)) args.push_back(value(depth - 1));
      return lang::apply(coin(3) ? dtype() : pick(kFunctions), std::move(args));
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

Type RandomTree::type() { return {dtype(), ariths(1, 3), {}}; }

Formal RandomTree::formal() { return {word(), type(), {}}; }

KnobValue RandomTree::knob_value(int depth) {
  KnobValue v;
  switch (below(depth > 0 ? 7 : 4)) {
    case 0:
      v.kind = KnobValue::Kind::kSize;
      v.sizes = {below(256), below(64)};
      if (coin(3)) v.sizes.push_back(below(64));
      return v;
    case 1:
      v.kind = KnobValue::Kind::kString;
      v.text = pick(kStrings);
      return v;
    case 4:
      v.kind = KnobValue::Kind::kTuple;
      do v.items.push_back(knob_value(depth - 1));
      while (v.items.size() < 2 || coin(3));
      return v;
    case 5:
      v.kind = KnobValue::Kind::kStruct;
      v.text = word();
      v.members = {{{any_word()}, knob_value(depth - 1), {}}};
      while (coin(3)) v.members.push_back(knob(depth - 1));
      return v;
    default:
      v.expr = coin(4) ? name(any_word()) : coin(4) ? lang::apply(word(), {arith(2), arith(1)}) : arith(2);
      return v;
  }
}

Knob RandomTree::knob(int depth) {
  Knob k;
  k.value = knob_value(depth);
  if (coin(8) && k.value.kind == KnobValue::Kind::kString) return k;  // positional
  k.names = {any_word()};
  while (coin(4)) k.names.push_back(any_word());
  if (coin(4)) {
    KnobValue set;
    set.kind = KnobValue::Kind::kSet;
    set.items = {std::move(k.value)};
    while (coin()) set.items.push_back(knob_value(depth - 1));
    k.value = std::move(set);
  }
  return k;
}

std::vector<Knob> RandomTree::knobs() {
  std::vector<Knob> out;
  while (coin()) out.push_back(knob(2));
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
  if (coin(4)) d.path = pick(kStrings);
  if (coin(4)) d.order = {1, 0};
  if (coin(8)) d.order = {0};
  if (coin(4)) d.strides = some_ariths(1);
  if (coin(4)) {
    d.same = word();
    d.same_at = ariths(1, 2);
  }
  if (coin(4)) d.into = word();
  if (coin(4)) {
    d.distribution = word();
    d.distribution_args = some_ariths(1);
  }
  return d;
}

std::vector<ExprRef> RandomTree::some_ariths(int depth) {
  std::vector<ExprRef> out = ariths(depth, 2);
  out.push_back(arith(depth));
  return out;
}

Node RandomTree::opaque() {
  Opaque o;
  do o.results.push_back(formal());
  while (coin(3));
  o.op = "aten.sort.stable";
  while (coin()) {
    const std::string keyword = coin() ? word() : "";
    o.args.push_back(coin(3) ? OpaqueArg{keyword, nullptr, pick(kStrings)}
                             : OpaqueArg{keyword, value(2), std::nullopt});
  }
  return o;
}

Node RandomTree::call() {
  Call c;
  c.results = words(3);
  c.def = word();
  while (coin(3)) c.statics.emplace_back(word(), arith(1));
  while (coin()) c.args.push_back({word(), ariths(1, 2), {}});
  if (coin()) c.at = pick(kStrings);
  while (coin(3)) c.overrides.push_back({word(), knobs()});
  return c;
}

Node RandomTree::dims() {
  Dims out;
  do {
    const bool range = coin(3);
    out.dims.push_back(
        {word(), arith(2), range ? arith(1) : nullptr, range ? arith(1) : nullptr, range && coin() ? 8 : 0, {}});
  } while (coin(3));
  return out;
}

Node RandomTree::source() {
  const char* const texts[] = {"", "int a;\n", "#include <x.h>\n\nchar q = '\"'; // \"\"\" \n",
                               "  \"\"\"\nkernel k by map {\n\n", "\xc2\xb5\r\n"};
  return Source{pick(kStrings), pick(texts)};
}

Node RandomTree::clause() {
  const auto kind = static_cast<Clause::Kind>(below(4));
  if (kind == Clause::Kind::kAllow) return Clause{kind, words(3), {}};
  return Clause{kind, {word()}, kind == Clause::Kind::kTarget ? std::vector<Knob>() : knobs()};
}

Node RandomTree::def() {
  Def d{word(), {}, {}, {formal()}, items(static_cast<int>(below(5)), false), comments()};
  while (coin()) d.statics.push_back({word(), coin() ? arith(1) : nullptr});
  while (coin()) d.formals.push_back(formal());
  while (coin(3)) d.results.push_back(formal());
  return d;
}

Node RandomTree::inner_node() {
  switch (below(8)) {
    case 0:
      return dims();
    case 1:
      return Fn{word(), words(3), value(3)};
    case 2:
      return View{equation()};
    case 3:
      return Assume{equation()};
    case 4:
      return opaque();
    case 5:
      return call();
    case 6:
      return Kernel{word(), coin(), word(), knobs(), items(static_cast<int>(below(4)), true), comments()};
    default:
      return coin() ? Node(equation()) : decl();
  }
}

Item RandomTree::item(Node node) {
  const bool block = std::holds_alternative<Kernel>(node) || std::holds_alternative<Def>(node);
  Item out;
  out.node = std::move(node);
  out.before = comments();
  const bool raw = std::holds_alternative<Source>(out.node);  // nothing may stand behind it
  if (coin(4) && !raw) out.after = block ? "header" : "at the end";
  return out;
}

std::vector<Item> RandomTree::items(int count, bool in_kernel) {
  std::vector<Item> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(item(!in_kernel ? inner_node()
                       : coin(3)  ? Node(View{equation()})
                       : coin(3)  ? decl()
                                  : Node(equation())));
  }
  return out;
}

Program RandomTree::program() {
  Program p;
  p.version = coin() ? 1 : 0;
  p.name = word();
  p.before = comments();
  if (coin(4)) p.after = "name";
  for (int64_t n = below(12); n > 0; --n)
    p.items.push_back(item(coin(6) ? clause() : coin(6) ? def() : coin(8) ? source() : inner_node()));
  p.tail = comments();
  return p;
}

}  // namespace solstice::lang::testing
