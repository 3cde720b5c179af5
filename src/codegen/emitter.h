// Expressions to C++ statements. Each operation becomes one `const T vN = ...;` in the outermost scope that has its
// operands, so what does not depend on a loop's indices is computed outside that loop; equal text in sight is computed
// once. The text compiles as CUDA and, with kernels/host, for the host.
//
// Meaning: operations are rounded to float, or to double where an operand is f64; reads outside their tensor yield
// their `else` value and never touch memory (a read that the language promises to be in range but that cannot be proved
// so from extents is tested too). Index arithmetic is 32 bits where all its values fit, else 64.
//
// Scopes nest like loops: depth 0 is the kernel's body. take(d) gives the text of the statements gathered since the
// last take, take_statements(d) the same as records.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codegen/ctype.h"
#include "codegen/interner.h"
#include "codegen/linear.h"
#include "codegen/operators.h"
#include "codegen/short_values.h"
#include "codegen/text/statement.h"
#include "codegen/value.h"
#include "ir/program.h"

namespace solstice::codegen {

// An index as offset + sum of factor * variable.
struct Binding {
  int64_t offset = 0;
  std::vector<std::pair<Value, int64_t>> terms;
};

class Emitter {
 public:
  // Asked first for every node; nothing: the emitter computes it itself (loads a read), and fails on a reduction.
  using Hook = std::function<Result<std::optional<Value>>(Emitter&, const ir::ExprRef&)>;

  Emitter(const ir::Program& program, Interner& indices);

  void set_hook(Hook hook) { hook_ = std::move(hook); }
  // Values whose functions may have few digits (none, unless they are named here).
  void set_short_values(ShortValues values) { short_ = std::move(values); }
  int push();  // opens a scope, gives its depth
  void pop();  // forgets the innermost scope; its text must have been taken
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  // The deepest scope around the innermost one of which that one's text uses values: it may stand there.
  int deepest_used() const { return scopes_.back().outside; }
  std::string take(int depth) { return text_of(take_statements(depth)); }
  std::vector<Statement> take_statements(int depth);

  void bind(int index, Binding binding) { bindings_[index] = std::move(binding); }
  const Binding& binding(int index) { return bindings_[index]; }
  Value variable(CType type, std::string name, int depth, Interval range = {}) const;

  Result<Value> emit(const ir::ExprRef& expression);
  // The element offset of tensor[args], and the test that it exists (no text: always).
  struct Place {
    Value offset;
    std::optional<Value> inside;
  };
  Result<Place> place(const ir::Tensor& tensor, const std::vector<ir::ExprRef>& args);

  // A definition of `text`, which uses these values, in the scope of the deepest one.
  Value define(CType type, const std::string& text, std::initializer_list<Value> operands, Interval range = {});
  // A definition of `text` over names of the caller's own, which are in sight at `depth`.
  Value define(CType type, const std::string& text, int depth, Interval range = {});
  void statement(int depth, const std::string& text);
  Value convert(const Value& value, CType type);
  // Statements from here on are of this equation of the program, where their expressions do not say another; -1: of
  // none. Gives what was set before.
  int set_equation(int equation) { return std::exchange(equation_, equation); }
  int fresh() { return next_++; }  // a number for a name of the caller's own
  // A linear form over bindings as a value.
  Value evaluate(const ir::Affine& form);

  const ir::Program& program() const { return program_; }
  Interner& indices() { return indices_; }
  // Tensors that the text reads, in order of first use. Their pointer parameters are pointer_name(tensor).
  const std::vector<int>& tensors_read() const { return read_; }
  void note_read(int tensor);
  void note_use(const Value& value);  // by text of the caller's own
  std::string pointer_name(int tensor) const;

 private:
  struct Scope {
    std::vector<Statement> statements;
    std::unordered_map<std::string, Value> known;
    std::unordered_map<const ir::Expr*, Value> memo;
    int outside = 0;  // deepest scope around it of which it uses values
  };
  struct Parts;

  Value define(CType type, const std::string& text, int depth, const std::vector<Value>& operands, Interval range);
  void add_definition(std::string_view type, const Value& value, const std::string& text,
                      const std::vector<Value>& operands);
  Result<Value> emit_node(const ir::ExprRef& e);
  Result<Value> emit_operator(const ir::ExprRef& e);
  Result<Value> emit_read(const ir::Expr& e);
  Result<Value> emit_select(const ir::Expr& e);
  Result<Value> emit_cast(const ir::Expr& e);
  Result<Value> emit_power(const ir::Expr& e);
  Value unary(const ir::Expr& e, const Value& a);
  Value binary(const ir::Expr& e, Value a, Value b);
  Result<Value> emit_one_plus(const OnePlus& e);
  Value quotient(const ir::Expr& e, Value a, Value b);
  Value angle(Value y, Value x);
  Result<Value> emit_whole_power(const ir::Expr& power);
  bool is_short(const ir::Expr& e) const { return short_.count(&e) > 0; }
  Value real_division(const ir::Expr& e, const Value& a, const Value& b);
  Value integer_division(ir::Op op, Value a, Value b);
  // Division of integers by 0 stops the program, or its quotient is infinite.
  enum class Zero { kStops, kInfinite };
  // Nothing: the quotient may be infinite.
  Result<std::optional<Value>> emit_whole_division(const WholeDivision& division, Zero zero);
  Result<Value> emit_cast_operand(const ir::Expr& cast);
  Value sum_of(const Parts& parts, Interval range);

  const ir::Program& program_;
  Interner& indices_;
  Hook hook_;
  ShortValues short_;
  std::vector<Scope> scopes_;
  std::map<int, Binding> bindings_;
  std::vector<int> read_;
  mutable std::map<int, std::string> names_;  // pointer names by tensor, as far as they were asked for
  int next_ = 0;
  int equation_ = -1;  // of what is being emitted
};

}  // namespace solstice::codegen
