// Expressions, by descending precedence: or, and, not, comparison, + -, * / // %, unary -, **.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/dtype.h"
#include "lang/parser.h"
#include "lang/words.h"

namespace solstice::lang {
namespace {

constexpr std::string_view kLeastMagnitude = "9223372036854775808";  // of an i64: only behind a minus

std::optional<CompareOp> compare_op(const Token& token) {
  if (token.kind != TokenKind::kSymbol) return std::nullopt;
  if (token.text == "<") return CompareOp::kLt;
  if (token.text == "<=") return CompareOp::kLe;
  if (token.text == "==") return CompareOp::kEq;
  if (token.text == "!=") return CompareOp::kNe;
  if (token.text == ">=") return CompareOp::kGe;
  if (token.text == ">") return CompareOp::kGt;
  return std::nullopt;
}

std::optional<BinaryOp> sum_op(const Token& token) {
  if (token.kind != TokenKind::kSymbol) return std::nullopt;
  if (token.text == "+") return BinaryOp::kAdd;
  if (token.text == "-") return BinaryOp::kSub;
  return std::nullopt;
}

std::optional<BinaryOp> product_op(const Token& token) {
  if (token.kind != TokenKind::kSymbol) return std::nullopt;
  if (token.text == "*") return BinaryOp::kMul;
  if (token.text == "/") return BinaryOp::kDiv;
  if (token.text == "//") return BinaryOp::kFloorDiv;
  if (token.text == "%") return BinaryOp::kMod;
  return std::nullopt;
}

}  // namespace

// A long sum leans to the left: it is as high as it has terms, though parsing it does not recurse.
ExprRef Parser::finished(std::shared_ptr<Expr> e, int begin) {
  e->span = since(begin);
  const auto count = [&](const ExprRef& child) {
    if (child) e->height = std::max(e->height, child->height + 1);
  };
  for (const ExprRef& arg : e->args) count(arg);
  for (const Range& binder : e->binders) count(binder.extent);
  count(e->otherwise);
  count(e->where);
  if (e->height > kDeepest) too_deep("an expression");
  return e;
}

ExprRef Parser::with_span(ExprRef e, int begin) { return finished(std::make_shared<Expr>(*e), begin); }

ExprRef Parser::binary_node(BinaryOp op, ExprRef left, ExprRef right, int begin) {
  return with_span(binary(op, std::move(left), std::move(right)), begin);
}

ExprRef Parser::expr() {
  const Nesting nesting(*this, "an expression");
  const int begin = begin_of_next();
  ExprRef left = conj();
  while (accept("or")) left = binary_node(BinaryOp::kOr, left, conj(), begin);
  return left;
}

ExprRef Parser::conj() {
  const int begin = begin_of_next();
  ExprRef left = inv();
  while (accept("and")) left = binary_node(BinaryOp::kAnd, left, inv(), begin);
  return left;
}

ExprRef Parser::inv() {
  const int begin = begin_of_next();
  if (!accept("not")) return comp();
  const Nesting nesting(*this, "an expression");
  return with_span(logical_not(inv()), begin);
}

ExprRef Parser::comp() {
  const int begin = begin_of_next();
  ExprRef first = arith();
  if (!compare_op(peek())) return first;
  auto chain = std::make_shared<Expr>();
  chain->kind = ExprKind::kCompare;
  chain->args.push_back(std::move(first));
  while (const auto op = compare_op(peek())) {
    next();
    chain->compares.push_back(*op);
    chain->args.push_back(arith());
  }
  return finished(std::move(chain), begin);
}

ExprRef Parser::arith() {
  const int begin = begin_of_next();
  ExprRef left = term();
  while (const auto op = sum_op(peek())) {
    next();
    left = binary_node(*op, left, term(), begin);
  }
  return left;
}

ExprRef Parser::term() {
  const int begin = begin_of_next();
  ExprRef left = factor();
  while (const auto op = product_op(peek())) {
    next();
    left = binary_node(*op, left, factor(), begin);
  }
  return left;
}

ExprRef Parser::factor() {
  const int begin = begin_of_next();
  if (accept("-")) {
    if (peek().text == kLeastMagnitude && !at("**", 1)) {
      next();
      return with_span(integer(std::numeric_limits<int64_t>::min()), begin);
    }
    const Nesting nesting(*this, "an expression");
    return with_span(negate(factor()), begin);
  }
  ExprRef base = atom();
  if (!accept("**")) return base;
  const Nesting nesting(*this, "an expression");
  return binary_node(BinaryOp::kPow, base, factor(), begin);
}

ExprRef Parser::atom() {
  const Token token = peek();
  const int begin = token.span.begin;
  if (token.kind == TokenKind::kInt) {
    next();
    return with_span(integer(to_int(token)), begin);
  }
  if (token.kind == TokenKind::kNumber) {
    next();
    auto e = std::make_shared<Expr>();
    e->kind = ExprKind::kNumber;
    e->text = std::string(token.text);
    return with_span(e, begin);
  }
  if (accept("(")) {
    ExprRef inner = expr();
    expect(")", "after the expression");
    return inner;
  }
  if (token.kind == TokenKind::kWord) return word_atom();
  fail_missing("an expression");
  return integer(0);
}

ExprRef Parser::word_atom() {
  const Token token = peek();
  const std::string_view word = token.text;
  if (is_ranker(word)) return rank_expr();
  if (is_reducer(word)) {
    if (at("[", 1)) return reduce_expr();
    if (at("(", 1)) return word == "min" || word == "max" ? apply_expr() : reduction_as_call();
  }
  const bool constant = word == "inf" || word == "pi" || word == "true" || word == "false";
  if (constant) return with_span(name(std::string(next().text)), token.span.begin);
  if (at("(", 1) && (!is_reserved(word) || dtype_from_name(word))) return apply_expr();
  if (is_reserved(word)) {
    if (token.first_on_line)
      fail_missing("an expression");
    else
      fail(token, fmt::format("expected an expression, found the reserved word `{}`", word));
    return integer(0);
  }
  if (at("[", 1)) return read_expr();
  next();
  return with_span(name(std::string(word)), token.span.begin);
}

ExprRef Parser::read_expr() {
  const int begin = begin_of_next();
  std::string tensor = std::string(next().text);
  next();  // [
  std::vector<ExprRef> indices;
  ExprRef otherwise;
  if (!at("]")) {
    do indices.push_back(expr());
    while (accept(","));
    if (accept("else")) otherwise = expr();
  }
  expect("]", "after the indices");
  return with_span(read(std::move(tensor), std::move(indices), std::move(otherwise)), begin);
}

ExprRef Parser::reduce_expr() {
  const int begin = begin_of_next();
  std::string reducer = std::string(next().text);
  next();  // [
  std::vector<Range> binders;
  do binders.push_back(range(false));
  while (accept(","));
  ExprRef where = accept("where") ? expr() : nullptr;
  expect("]", "after the reduced indices");
  expect("(", "before the reduced expression");
  ExprRef body = expr();
  expect(")", "after the reduced expression");
  return with_span(reduce(std::move(reducer), std::move(binders), std::move(body), std::move(where)), begin);
}

ExprRef Parser::rank_expr() {
  const int begin = begin_of_next();
  std::string ranker = std::string(next().text);
  expect("[", "after the ranking's name");
  Range binder = range(false);
  expect(";", "between the ranked index and the rank");
  ExprRef order = expr();
  expect("]", "after the rank");
  expect("(", "before the ranked expression");
  ExprRef body = expr();
  expect(")", "after the ranked expression");
  return with_span(rank(std::move(ranker), std::move(binder), std::move(order), std::move(body)), begin);
}

ExprRef Parser::apply_expr() {
  const int begin = begin_of_next();
  std::string function = std::string(next().text);
  next();  // (
  std::vector<ExprRef> args;
  do args.push_back(expr());
  while (accept(","));
  expect(")", "after the arguments");
  return with_span(apply(std::move(function), std::move(args)), begin);
}

// `sum(x[m,k], dim=1)`: the arguments are read past so that the rest of the item is still checked.
ExprRef Parser::reduction_as_call() {
  const int begin = begin_of_next();
  std::string reducer = std::string(next().text);
  next();  // (
  std::vector<ExprRef> args;
  do {
    if (peek().kind == TokenKind::kWord && at("=", 1)) {
      next();
      next();
    }
    args.push_back(expr());
  } while (accept(","));
  expect(")", "after the arguments");
  if (!broken_) {
    diagnostics_.error("E009", since(begin),
                       fmt::format("`{}(...)` names no index; a reduction names its index", reducer),
                       fmt::format("`{}[k](...)` reduces over the index `k` of its body", reducer));
  }
  return with_span(apply(std::move(reducer), std::move(args)), begin);
}

Range Parser::range(bool needs_extent) {
  Range r;
  const int begin = begin_of_next();
  r.name = expect_name("an index");
  if (needs_extent) {
    expect("<", "between the index and its extent");
    r.extent = arith();
  } else if (accept("<")) {
    r.extent = arith();
  }
  r.span = since(begin);
  return r;
}

}  // namespace solstice::lang
