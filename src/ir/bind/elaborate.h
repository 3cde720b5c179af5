// Expressions of the syntax tree to bound expressions (private to src/ir/bind).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/bind/binder.h"

namespace solstice::ir {

// Works for one equation; null stands for an expression whose mistake was reported.
class Elaborator {
 public:
  Elaborator(Binder& binder, Scope& scope, Draft& draft) : binder_(binder), scope_(scope), draft_(draft) {}

  void left_side(const lang::Equation& equation, Span span);
  ExprRef value(const lang::ExprRef& e);
  ExprRef index(const lang::ExprRef& e);      // integer-valued
  ExprRef condition(const lang::ExprRef& e);  // boolean

 private:
  // A function's argument, with the nodes and the height of its tree.
  struct Argument {
    ExprRef value;
    int64_t nodes = 0;
    int height = 0;
  };
  using Env = std::map<std::string, Argument>;
  Argument argument(const lang::ExprRef& e);

  Span here(Span span) const;
  void error(std::string_view code, Span span, std::string message, std::string hint = "");
  bool grow(int64_t nodes, int height, Span span);  // by a subtree at the level at work
  ExprRef expression(const lang::ExprRef& e);
  ExprRef made(Op op, std::vector<ExprRef> args, Span span);
  ExprRef logical(const lang::Expr& e);
  ExprRef arithmetic(const lang::Expr& e);
  ExprRef comparison(const lang::Expr& e);

  // indices (elaborate_left.cpp)
  int new_index(const std::string& name, Span span, std::optional<int64_t> extent);
  std::optional<int64_t> given_extent(const lang::Range& range);
  bool hides(const std::string& name, Span span);

  // names and reads (elaborate_names.cpp)
  ExprRef bare_name(const lang::Expr& e);
  ExprRef unknown_name(const lang::Expr& e);
  ExprRef read(const lang::Expr& e);
  ExprRef read_tensor(const Symbol& symbol, std::vector<ExprRef> indices, ExprRef otherwise, Span span);
  std::optional<Symbol> find_tensor(const lang::Expr& e);

  // reductions, functions and views (elaborate_calls.cpp)
  ExprRef reduce(const lang::Expr& e);
  ExprRef rank(const lang::Expr& e);
  bool bind_indices(const lang::Expr& e, std::vector<int>& binders);
  ExprRef apply(const lang::Expr& e);
  ExprRef no_function(const lang::Expr& e);  // says so; null
  ExprRef call_fn(const lang::Fn& fn, std::vector<Argument> args, Span span);
  ExprRef select(const lang::Expr& e);
  ExprRef read_view(const View& view, const std::vector<ExprRef>& indices, const ExprRef& otherwise, Span span);

  Binder& binder_;
  Scope& scope_;
  Draft& draft_;
  std::vector<std::pair<std::string, int>> names_;  // indices in sight, innermost last
  size_t reductions_from_ = 0;                      // names_ from here on are bound by reductions
  std::vector<Fact> facts_;
  const Env* env_ = nullptr;              // inside a function: its arguments
  Span call_;                             // of the outermost call, inside a function
  std::vector<const lang::Fn*> calling_;  // functions at work
  // Nodes of the bound tree, as if nothing in it were shared: the walks over it visit a shared part once a use.
  int64_t nodes_ = 0;
  int level_ = 0;    // of the expression at work
  int deepest_ = 0;  // level that was reached
};

}  // namespace solstice::ir
