// Knobs: `tile={128x256x64, 128x128x64}`, `(tile, cluster)={...}`, `args=(x, y)`, `tma=(x(box=64x64))`,
// `"k.cu"`.
#include <charconv>

#include "lang/parser.h"
#include "lang/words.h"

namespace solstice::lang {

std::vector<Knob> Parser::knob_list(std::string_view closing) {
  std::vector<Knob> knobs;
  if ((!closing.empty() && at(closing)) || peek().kind == TokenKind::kEnd) return knobs;
  do knobs.push_back(knob());
  while (accept(","));
  return knobs;
}

Knob Parser::knob() {
  Knob k;
  const int begin = begin_of_next();
  if (peek().kind == TokenKind::kString) {
    k.value = knob_value();
  } else if (accept("(")) {
    do k.names.push_back(knob_name());
    while (accept(","));
    expect(")", "after the tied knobs");
    expect("=", "after the tied knobs");
    k.value = knob_set();
  } else {
    k.names.push_back(knob_name());
    expect("=", "after the knob's name");
    k.value = knob_set();
  }
  k.span = since(begin);
  return k;
}

// Any word, a reserved one too.
std::string Parser::knob_name() {
  if (peek().kind != TokenKind::kWord) fail(peek(), "expected a knob `name=value`");
  return std::string(next().text);
}

KnobValue Parser::knob_set() {
  const int begin = begin_of_next();
  if (!accept("{")) return knob_value();
  KnobValue set;
  set.kind = KnobValue::Kind::kSet;
  do set.items.push_back(knob_value());
  while (accept(","));
  expect("}", "after the knob's set of values");
  set.span = since(begin);
  return set;
}

bool Parser::value_ends(size_t ahead) const {
  return at(",", ahead) || at(")", ahead) || at("}", ahead) || peek(ahead).kind == TokenKind::kEnd;
}

KnobValue Parser::knob_value() {
  const Nesting nesting(*this, "a knob's value");
  KnobValue v;
  const int begin = begin_of_next();
  if (peek().kind == TokenKind::kSize) {
    v.kind = KnobValue::Kind::kSize;
    const Token token = next();
    for (size_t from = 0; from <= token.text.size();) {
      const size_t to = std::min(token.text.find('x', from), token.text.size());
      Token part = token;
      part.text = token.text.substr(from, to - from);
      v.sizes.push_back(to_int(part));
      from = to + 1;
    }
  } else if (peek().kind == TokenKind::kString) {
    v.kind = KnobValue::Kind::kString;
    v.text = expect_string("a value");
  } else if (tuple_ahead()) {
    return knob_tuple();
  } else if (struct_ahead()) {
    v.kind = KnobValue::Kind::kStruct;
    v.text = std::string(next().text);
    next();  // (
    v.members = knob_list(")");
    expect(")", "after the members");
  } else if (peek().kind == TokenKind::kWord && is_reserved(peek().text) && value_ends(1)) {
    v.expr = with_span(name(std::string(next().text)), begin);  // math=bf16, combine=sum
  } else {
    v.expr = arith();
  }
  v.span = since(begin);
  return v;
}

// `(` begins a tuple if a comma follows at its own depth; else it is arithmetic.
bool Parser::tuple_ahead() const {
  if (!at("(")) return false;
  int depth = 0;
  for (size_t i = 0; peek(i).kind != TokenKind::kEnd; ++i) {
    if (at("(", i) || at("[", i) || at("{", i)) ++depth;
    if ((at(")", i) || at("]", i) || at("}", i)) && --depth == 0) return false;
    if (depth == 1 && at(",", i)) return true;
  }
  return false;
}

// `name(` begins a value with members if the first of them follows; else it is arithmetic.
bool Parser::struct_ahead() const {
  if (peek().kind != TokenKind::kWord || !at("(", 1)) return false;
  const bool tied = at("(", 2) && peek(3).kind == TokenKind::kWord && (at(",", 4) || (at(")", 4) && at("=", 5)));
  return tied || at(")", 2) || peek(2).kind == TokenKind::kString || (peek(2).kind == TokenKind::kWord && at("=", 3));
}

KnobValue Parser::knob_tuple() {
  KnobValue tuple;
  const int begin = begin_of_next();
  tuple.kind = KnobValue::Kind::kTuple;
  next();  // (
  do tuple.items.push_back(knob_value());
  while (accept(","));
  expect(")", "after the tuple");
  tuple.span = since(begin);
  return tuple;
}

}  // namespace solstice::lang
