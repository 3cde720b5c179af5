// The recursive-descent parser (private to src/lang). Once a mistake is reported inside an item, every look
// at the next token answers kBroken: all loops end, and the item loop skips to the next item and goes on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/lexer.h"
#include "lang/tree.h"

namespace solstice::lang {

// Every walk over a tree recurses, from parsing to the tree's end: no expression, knob or block is nested deeper than
// this.
inline constexpr int kDeepest = 500;

class Parser {
 public:
  Parser(std::vector<Token> tokens, Diagnostics& diagnostics) : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

  Program program();
  ExprRef whole_expression();
  std::vector<Knob> whole_knobs();

 private:
  // tokens
  const Token& peek(size_t ahead = 0) const;
  bool at(std::string_view symbol, size_t ahead = 0) const;
  bool at_word(std::string_view word, size_t ahead = 0) const;
  bool at_name(size_t ahead = 0) const;  // a word that is not reserved
  Token next();
  bool accept(std::string_view text);
  void expect(std::string_view symbol, std::string_view where);
  std::string expect_name(std::string_view what);
  int64_t expect_int(std::string_view what);
  std::string expect_string(std::string_view what);
  int64_t to_int(const Token& token);
  void fail_missing(std::string_view what);
  void fail(const Token& token, std::string message, std::string hint = "");
  class Nesting;
  void too_deep(std::string_view what);
  Span since(int begin) const { return {begin, last_end_}; }
  int begin_of_next() const { return peek().span.begin; }

  // items
  void items(std::vector<Item>& out, bool top_level, bool in_kernel);
  bool item(std::vector<Item>& out, bool top_level, bool in_kernel);
  Node node(bool top_level, bool in_kernel, std::string& header_comment);
  Node clause();
  Node dims();
  Dim dim();
  Node decl();
  void attributes(Decl& decl);
  Node fn();
  Node def(std::string& header_comment);
  Static def_static();
  Formal formal();
  Type type();
  Node opaque();
  Node source();
  OpaqueArg opaque_arg();
  Node call();
  CallArg call_arg();
  Node kernel(std::string& header_comment);
  Equation equation();
  Range range(bool needs_extent);
  std::vector<ExprRef> bracketed_ariths();
  void missing_head();
  void block(std::vector<Item>& out, std::vector<std::string>& tail, std::string& header_comment, bool in_kernel);
  void synchronise(bool inside_block);
  bool skip_to_block(size_t head);
  void note_lost(size_t start);
  std::string take_same_line_comment();
  void keep_comments(const Token& token);

  // knobs
  std::vector<Knob> knob_list(std::string_view closing);
  Knob knob();
  std::string knob_name();
  KnobValue knob_set();
  KnobValue knob_value();
  KnobValue knob_tuple();
  bool tuple_ahead() const;
  bool struct_ahead() const;
  bool value_ends(size_t ahead) const;

  // expressions
  ExprRef expr();
  ExprRef conj();
  ExprRef inv();
  ExprRef comp();
  ExprRef arith();
  ExprRef term();
  ExprRef factor();
  ExprRef atom();
  ExprRef word_atom();
  ExprRef read_expr();
  ExprRef reduce_expr();
  ExprRef rank_expr();
  ExprRef apply_expr();
  ExprRef reduction_as_call();
  ExprRef with_span(ExprRef expr, int begin);
  ExprRef finished(std::shared_ptr<Expr> expr, int begin);
  ExprRef binary_node(BinaryOp op, ExprRef left, ExprRef right, int begin);

  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  size_t position_ = 0;
  int last_end_ = 0;
  bool broken_ = false;
  int depth_ = 0;                     // of what is being parsed
  std::vector<std::string> pending_;  // comments passed since the last item
  std::vector<std::string> lost_;     // Program::lost
};

// One level deeper, as long as it lives.
class Parser::Nesting {
 public:
  Nesting(Parser& parser, std::string_view what) : parser_(parser) {
    if (++parser_.depth_ > kDeepest) parser_.too_deep(what);
  }
  Nesting(const Nesting&) = delete;
  ~Nesting() { --parser_.depth_; }

 private:
  Parser& parser_;
};

}  // namespace solstice::lang
