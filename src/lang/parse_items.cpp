// Items: clauses, dims, declarations, functions, views, opaque operations, calls and equations.
#include <fmt/format.h>

#include "base/dtype.h"
#include "lang/parser.h"
#include "lang/words.h"

namespace solstice::lang {
namespace {

std::optional<DeclKind> decl_kind(std::string_view word) {
  if (word == "param") return DeclKind::kParam;
  if (word == "buffer") return DeclKind::kBuffer;
  if (word == "input") return DeclKind::kInput;
  if (word == "output") return DeclKind::kOutput;
  if (word == "tensor") return DeclKind::kTensor;
  if (word == "random") return DeclKind::kRandom;
  return std::nullopt;
}

}  // namespace

Node Parser::clause() {
  Clause c;
  const std::string word(next().text);
  c.kind = word == "target"     ? Clause::Kind::kTarget
           : word == "numerics" ? Clause::Kind::kNumerics
           : word == "launch"   ? Clause::Kind::kLaunch
                                : Clause::Kind::kAllow;
  c.names.push_back(expect_name("a name"));
  if (c.kind == Clause::Kind::kAllow) {
    while (accept(",")) c.names.push_back(expect_name("a name"));
  } else if (c.kind != Clause::Kind::kTarget && accept("(")) {
    c.knobs = knob_list(")");
    expect(")", "after the knobs");
  }
  return c;
}

Node Parser::dims() {
  next();
  Dims d;
  do d.dims.push_back(dim());
  while (accept(","));
  return d;
}

Dim Parser::dim() {
  Dim d;
  const int begin = begin_of_next();
  d.name = expect_name("a dim");
  expect("=", "after the dim's name");
  d.value = arith();
  if (accept("in")) {
    d.low = arith();
    expect("..", "between the dim's bounds");
    d.high = arith();
    if (accept("step")) {
      const Token step = peek();
      d.step = expect_int("the step");
      if (d.step == 0) fail(step, "a step is at least 1");
    }
  }
  d.span = since(begin);
  return d;
}

Node Parser::decl() {
  Decl d;
  d.kind = *decl_kind(next().text);
  d.name = expect_name("a tensor");
  expect(":", "before the type");
  d.type = type();
  attributes(d);
  return d;
}

void Parser::attributes(Decl& d) {
  while (true) {
    if (peek().kind == TokenKind::kString) {
      d.path = expect_string("a module path");
    } else if (accept("order")) {
      expect("(", "after `order`");
      do d.order.push_back(expect_int("a dimension's number"));
      while (accept(","));
      expect(")", "after the order");
    } else if (accept("strides")) {
      expect("(", "after `strides`");
      do d.strides.push_back(arith());
      while (accept(","));
      expect(")", "after the strides");
    } else if (accept("same")) {
      d.same = expect_name("a tensor");
      if (at("[")) d.same_at = bracketed_ariths();
    } else if (accept("into")) {
      d.into = expect_name("a buffer");
    } else if (accept("from")) {
      d.distribution = expect_name("a distribution");
      expect("(", "after the distribution's name");
      do d.distribution_args.push_back(arith());
      while (accept(","));
      expect(")", "after the distribution's arguments");
    } else {
      return;
    }
  }
}

Type Parser::type() {
  Type t;
  const int begin = begin_of_next();
  if (!broken_ && !(peek().kind == TokenKind::kWord && dtype_from_name(peek().text))) {
    fail(peek(), fmt::format("expected a dtype, found `{}`", peek().text),
         "f64 f32 f16 bf16 e4m3 e5m2 i64 i32 i16 i8 u8 bool, as in `f32[M, K]`");
  }
  t.dtype = std::string(next().text);
  t.extents = bracketed_ariths();
  t.span = since(begin);
  return t;
}

std::vector<ExprRef> Parser::bracketed_ariths() {
  std::vector<ExprRef> out;
  expect("[", "before the list");
  if (accept("]")) return out;
  do out.push_back(arith());
  while (accept(","));
  expect("]", "after the list");
  return out;
}

Node Parser::fn() {
  next();
  Fn f;
  f.name = expect_name("a function");
  expect("(", "after the function's name");
  do f.parameters.push_back(expect_name("a parameter"));
  while (accept(","));
  expect(")", "after the parameters");
  expect("=", "before the function's value");
  f.body = expr();
  return f;
}

Node Parser::opaque() {
  next();
  Opaque o;
  do o.results.push_back(formal());
  while (accept(","));
  expect("=", "before the operation");
  o.op = expect_string("the operation's name");
  expect("(", "after the operation's name");
  if (!at(")")) {
    do o.args.push_back(opaque_arg());
    while (accept(","));
  }
  expect(")", "after the arguments");
  return o;
}

Node Parser::source() {
  next();
  Source s;
  s.name = expect_string("the source's name");
  if (!broken_ && peek().kind != TokenKind::kRaw) {
    fail(peek(), "expected `\"\"\"` behind the source's name",
         "its lines follow, and a line that is exactly `\"\"\"` ends them");
  }
  if (!broken_) s.text = std::string(raw_text(next()));
  return s;
}

OpaqueArg Parser::opaque_arg() {
  OpaqueArg a;
  if (peek().kind == TokenKind::kWord && at("=", 1)) {
    a.keyword = std::string(next().text);
    next();
  }
  if (peek().kind == TokenKind::kString) {
    a.string = expect_string("a value");
  } else {
    a.expr = expr();
  }
  return a;
}

Formal Parser::formal() {
  Formal f;
  const int begin = begin_of_next();
  f.name = expect_name("a tensor");
  expect(":", "before the type");
  f.type = type();
  f.span = since(begin);
  return f;
}

Node Parser::call() {
  Call c;
  do c.results.push_back(expect_name("a result"));
  while (accept(","));
  expect("=", "between the results and the definition");
  c.def = expect_name("a definition");
  if (accept("[")) {
    do {
      std::string static_name = expect_name("a static");
      expect("=", "after the static's name");
      c.statics.emplace_back(std::move(static_name), arith());
    } while (accept(","));
    expect("]", "after the statics");
  }
  expect("(", "before the arguments");
  if (!at(")")) {
    do c.args.push_back(call_arg());
    while (accept(","));
  }
  expect(")", "after the arguments");
  if (accept("at")) c.at = expect_string("the module path");
  if (accept("with")) {
    do {
      Override o;
      o.kernel = expect_name("a kernel");
      expect("(", "after the kernel's name");
      o.knobs = knob_list(")");
      expect(")", "after the knobs");
      c.overrides.push_back(std::move(o));
    } while (accept(","));
  }
  return c;
}

CallArg Parser::call_arg() {
  CallArg a;
  const int begin = begin_of_next();
  a.tensor = expect_name("a tensor");
  if (at("[")) a.fixed = bracketed_ariths();
  a.span = since(begin);
  return a;
}

Equation Parser::equation() {
  Equation e;
  e.target = expect_name("a tensor");
  e.lhs = bracketed_ariths();
  expect("=", "between the two sides of the equation");
  e.rhs = expr();
  if (accept("for")) {
    do e.ranges.push_back(range(true));
    while (accept(","));
  }
  return e;
}

Node Parser::node(bool top_level, bool in_kernel, std::string& header_comment) {
  const Token token = peek();
  if (decl_kind(token.text)) return decl();
  if (token.text == "view") {
    next();
    return View{equation()};
  }
  if (at_name() && at("[", 1)) return equation();
  if (in_kernel) {
    fail(token, fmt::format("`{}` cannot stand in a kernel", token.text),
         "a kernel holds equations `y[m,n] = ...`, views and declarations");
    return Equation{};
  }
  if (token.text == "dim") return dims();
  if (token.text == "fn") return fn();
  if (token.text == "opaque") return opaque();
  if (token.text == "kernel") return kernel(header_comment);
  if (at_name() && (at("=", 1) || at(",", 1))) return call();
  if (token.text == "assume") {
    next();
    return Assume{equation()};
  }
  const bool known = token.kind == TokenKind::kWord && starts_item(token.text);
  if (known && top_level && token.text == "source") return source();
  if (known && top_level) return token.text == "def" ? def(header_comment) : clause();
  fail(token,
       known ? fmt::format("`{}` stands only at the top level", token.text)
             : fmt::format("expected an item, found `{}`", token.text),
       known ? ""
             : "an item is a declaration, `dim`, `fn`, `view`, `def`, `kernel`, a call or an equation `y[m] "
               "= ...`");
  return Equation{};
}

}  // namespace solstice::lang
