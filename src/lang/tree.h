// The syntax tree of a program: what the parser makes of text and the printer writes back (docs/language.md).
//
// Everything has value semantics: copy a program, change the copy. Expressions are immutable and shared.
// Comments are kept with the item that follows them, or on whose line they end. Spans are bytes of the source
// and are ignored by comparison, so a tree built by hand equals the tree parsed from its text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.h"

namespace solstice::lang {

enum class ExprKind { kInt, kNumber, kName, kRead, kReduce, kRank, kApply, kNeg, kNot, kBinary, kCompare };
enum class BinaryOp { kOr, kAnd, kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow };
enum class CompareOp { kLt, kLe, kEq, kNe, kGe, kGt };

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;

// `k < extent`; without an extent it is null.
struct Range {
  std::string name;
  ExprRef extent;
  Span span;
};

struct Expr {
  ExprKind kind = ExprKind::kInt;
  std::string text;                  // name, digits of a number as written, tensor, reducer or function
  int64_t integer = 0;               // kInt
  BinaryOp binary = BinaryOp::kAdd;  // kBinary
  std::vector<CompareOp> compares;   // kCompare: one fewer than args
  std::vector<ExprRef> args;         // operands; indices of a read; body of a reduction; body and rank of argtop
  ExprRef otherwise;                 // kRead: the value after `else`
  ExprRef where;                     // kReduce
  std::vector<Range> binders;        // kReduce, kRank
  Span span;
  int height = 1;  // expressions on the longest way down; counted by the parser
};

ExprRef integer(int64_t value);  // a negative one is kNeg of its magnitude
ExprRef number(double value);    // the shortest text that reads back as the value; inf becomes the name `inf`
ExprRef name(std::string text);  // index, dim, `inf`, `pi`, `true`, `false`
ExprRef read(std::string tensor, std::vector<ExprRef> indices, ExprRef otherwise = nullptr);
ExprRef reduce(std::string reducer, std::vector<Range> binders, ExprRef body, ExprRef where = nullptr);
ExprRef rank(std::string ranker, Range binder, ExprRef rank_expr, ExprRef body);
ExprRef apply(std::string function, std::vector<ExprRef> args);
ExprRef negate(ExprRef operand);
ExprRef logical_not(ExprRef operand);
ExprRef binary(BinaryOp op, ExprRef left, ExprRef right);
ExprRef compare(CompareOp op, ExprRef left, ExprRef right);

struct Knob;

// A value of a schedule's knob. kExpr also holds plain names (`auto`, `fp16x3`, a dim).
struct KnobValue {
  enum class Kind { kSize, kString, kExpr, kTuple, kStruct, kSet };
  Kind kind = Kind::kExpr;
  std::string text;              // kString; name of a kStruct
  std::vector<int64_t> sizes;    // kSize
  ExprRef expr;                  // kExpr
  std::vector<KnobValue> items;  // kTuple, kSet
  std::vector<Knob> members;     // kStruct
  Span span;
};

// `names = value`; several names tie knobs together; no name is a positional string.
struct Knob {
  std::vector<std::string> names;
  KnobValue value;
  Span span;
};

struct Type {
  std::string dtype;
  std::vector<ExprRef> extents;
  Span span;
};

struct Formal {
  std::string name;
  Type type;
  Span span;
};

struct Clause {
  enum class Kind { kTarget, kNumerics, kLaunch, kAllow };
  Kind kind = Kind::kTarget;
  std::vector<std::string> names;  // one; several of `allow`
  std::vector<Knob> knobs;
};

struct Dim {
  std::string name;
  ExprRef value;
  ExprRef low, high;  // `in low..high`, else null
  int64_t step = 0;   // 0: none written
  Span span;
};

struct Dims {
  std::vector<Dim> dims;
};

enum class DeclKind { kParam, kBuffer, kInput, kOutput, kTensor, kRandom };

struct Decl {
  DeclKind kind = DeclKind::kTensor;
  std::string name;
  Type type;
  std::optional<std::string> path;
  std::vector<int64_t> order;
  std::vector<ExprRef> strides;
  std::string same;  // tensor whose storage is shared, "" none
  std::vector<ExprRef> same_at;
  std::string into;
  std::string distribution;  // of a random tensor
  std::vector<ExprRef> distribution_args;
};

struct Fn {
  std::string name;
  std::vector<std::string> parameters;
  ExprRef body;
};

struct Equation {
  std::string target;
  std::vector<ExprRef> lhs;
  ExprRef rhs;
  std::vector<Range> ranges;
};

struct View {
  Equation equation;
};

struct Assume {
  Equation equation;
};

// An argument of an opaque operation: an expression (tensors by name) or a string.
struct OpaqueArg {
  std::string keyword;
  ExprRef expr;
  std::optional<std::string> string;
};

struct Opaque {
  std::vector<Formal> results;
  std::string op;
  std::vector<OpaqueArg> args;
};

struct CallArg {
  std::string tensor;
  std::vector<ExprRef> fixed;  // leading indices
  Span span;
};

struct Override {
  std::string kernel;
  std::vector<Knob> knobs;
};

struct Call {
  std::vector<std::string> results;
  std::string def;
  std::vector<std::pair<std::string, ExprRef>> statics;
  std::vector<CallArg> args;
  std::optional<std::string> at;
  std::vector<Override> overrides;
};

struct Item;

struct Kernel {
  std::string name;
  bool once = false;
  std::string family;
  std::vector<Knob> knobs;
  std::vector<Item> items;        // View, Decl, Equation
  std::vector<std::string> tail;  // comments before the closing brace
};

// Device code that travels in the program: `by cuda("name")` takes it.
struct Source {
  std::string name;
  std::string text;  // whole lines
};
inline constexpr size_t kMostSourceBytes = size_t{1} << 20;

struct Static {
  std::string name;
  ExprRef value;  // default, or null
};

struct Def {
  std::string name;
  std::vector<Static> statics;
  std::vector<Formal> formals;
  std::vector<Formal> results;
  std::vector<Item> items;
  std::vector<std::string> tail;
};

using Node = std::variant<Clause, Dims, Decl, Fn, Def, View, Assume, Opaque, Call, Equation, Kernel, Source>;

struct Item {
  Node node;
  std::vector<std::string> before;  // comments above, without `#`
  std::string after;                // comment on the item's line, "" none
  Span span;

  Item() = default;
  template <typename T>
  requires std::is_constructible_v<Node, T> Item(T value) : node(std::move(value)) {}
};

struct Program {
  int version = 0;  // of `ucut N`; 0: not written
  Span version_at;
  std::string name;
  std::vector<std::string> before;
  std::string after;
  std::vector<Item> items;
  std::vector<std::string> tail;
  std::vector<std::string> lost;  // names that items with mistakes would have defined
};

// Structure and comments, not spans.
bool same(const ExprRef& a, const ExprRef& b);
bool same(const Item& a, const Item& b);
bool same(const Program& a, const Program& b);

// The kernel of this name that stands in the program itself, not in a definition; null: there is none.
Kernel* find_kernel(Program& program, const std::string& name);

// A copy in which the named top-level dims have these values (tests and equivalence shrink programs with it).
Program with_dims(Program program, const std::vector<std::pair<std::string, int64_t>>& values);

}  // namespace solstice::lang
