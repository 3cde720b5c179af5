// The item loop, blocks in braces and the program itself.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lang/parser.h"

namespace solstice::lang {

// One item with its comments; false if it had a mistake and was left out.
bool Parser::item(std::vector<Item>& out, bool top_level, bool in_kernel) {
  const size_t start = position_;
  pending_.clear();
  const int begin = begin_of_next();
  std::string header_comment;
  Item result;
  result.node = node(top_level, in_kernel, header_comment);
  if (broken_) {
    broken_ = false;
    if (position_ == start && !(at("}") && !top_level)) next();
    synchronise(!top_level);
    note_lost(start);
    return false;
  }
  const bool has_block = std::holds_alternative<Kernel>(result.node) || std::holds_alternative<Def>(result.node);
  result.before = std::move(pending_);
  result.after = has_block ? header_comment : take_same_line_comment();
  result.span = since(begin);
  out.push_back(std::move(result));
  return true;
}

void Parser::items(std::vector<Item>& out, bool top_level, bool in_kernel) {
  while (peek().kind != TokenKind::kEnd && (top_level || !at("}"))) item(out, top_level, in_kernel);
}

// `{ items }`. Comments seen before the block stay with the item whose block it is.
void Parser::block(std::vector<Item>& out, std::vector<std::string>& tail, std::string& header_comment,
                   bool in_kernel) {
  const Nesting nesting(*this, "a block");
  expect("{", "before the block");
  header_comment = take_same_line_comment();
  std::vector<std::string> outer = std::move(pending_);
  pending_.clear();
  if (!broken_) items(out, false, in_kernel);
  pending_.clear();
  expect("}", "after the block");
  tail = std::move(pending_);
  pending_ = std::move(outer);
}

Node Parser::kernel(std::string& header_comment) {
  const size_t head = position_;
  next();
  Kernel k;
  k.name = expect_name("a kernel");
  k.once = accept("once");
  expect("by", "before the family");
  k.family = expect_name("a family");
  if (accept("(")) {
    k.knobs = knob_list(")");
    expect(")", "after the knobs");
  }
  if (broken_ && skip_to_block(head)) k.knobs.clear();
  block(k.items, k.tail, header_comment, true);
  return k;
}

Static Parser::def_static() {
  Static s;
  s.name = expect_name("a static");
  if (accept("=")) s.value = arith();
  return s;
}

Node Parser::def(std::string& header_comment) {
  const size_t head = position_;
  next();
  Def d;
  d.name = expect_name("a definition");
  if (accept("[")) {
    do d.statics.push_back(def_static());
    while (accept(","));
    expect("]", "after the statics");
  }
  expect("(", "before the formal tensors");
  if (!at(")")) {
    do d.formals.push_back(formal());
    while (accept(","));
  }
  expect(")", "after the formal tensors");
  expect("->", "before the results");
  do d.results.push_back(formal());
  while (accept(","));
  const bool lost = broken_ && skip_to_block(head);
  block(d.items, d.tail, header_comment, false);
  if (lost) broken_ = true;  // its mistakes are worth reporting; its definitions are not known
  return d;
}

void Parser::missing_head() {
  const bool empty = peek().kind == TokenKind::kEnd;
  fail(peek(),
       empty ? "expected `program` at the start of the file, which is empty"
             : fmt::format("expected `program` at the start of the file, found `{}`", peek().text),
       "a program begins with `program NAME`; `solstice grammar` prints the language on one page");
}

Program Parser::program() {
  Program p;
  const int begin = begin_of_next();
  if (accept("ucut")) {
    p.version =
        static_cast<int>(std::min<int64_t>(expect_int("the language's version"), std::numeric_limits<int>::max()));
    p.version_at = since(begin);
  }
  if (!at_word("program")) missing_head();
  next();
  p.name = expect_name("the program's name");
  if (broken_) {
    synchronise(false);
  } else {
    p.before = std::move(pending_);
    p.after = take_same_line_comment();
  }
  items(p.items, true, false);
  pending_.clear();
  next();  // the end, for its comments
  p.tail = std::move(pending_);
  p.lost = std::move(lost_);
  return p;
}

}  // namespace solstice::lang
