// The bound program: what the static rules make of a syntax tree (src/lang). Names are resolved, every index has its
// extent, `fn` macros are expanded, `def` calls are instantiated (their items appear with their instance's path),
// kinds are known. Analyses, families, interpreter and planner read this form; text is printed from the syntax tree.
//
// Expressions are immutable and shared. Index ids are local to an equation, tensor ids to the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "ir/knobs.h"

namespace solstice::ir {

enum class ValueKind { kBool, kInt, kReal };

enum class Op {
  kReal,
  kInt,
  kBool,    // literals: real, integer, integer != 0. `inf` and `pi` are reals, dims are ints
  kIndex,   // id
  kRead,    // id is the tensor; args are the indices, then the `else` value if has_else
  kReduce,  // reducer, binders; args[0] is the body, args[1] the `where` condition if there are two
  kRank,    // argtop / argbot: reducer, one binder; args[0] body, args[1] the rank
  kCast,    // dtype
  kSelect,  // condition, then, else
  kNeg,
  kNot,
  kAnd,
  kOr,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kPow,
  kMin,
  kMax,  // two operands, NaN wins
  kFmod,
  kRemainder,
  kFloorDivide,  // of reals; by fmod, as PyTorch computes them
  kLt,
  kLe,
  kEq,
  kNe,
  kGe,
  kGt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kRsqrt,
  kTanh,
  kErf,
  kSin,
  kCos,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kIsNan,
  kIsFinite,
  kAtan2,  // the angle of (x, y) = (args[1], args[0])
  kErfInv,
  kLgamma,
  kBitAnd,  // of integers, in two's complement
};

enum class Reducer { kSum, kProd, kMax, kMin, kArgMax, kArgMin, kAny, kAll, kMean, kVar, kLogSumExp, kArgTop, kArgBot };

std::string_view name_of(Op op);            // "add", "exp"
std::string_view name_of(Reducer reducer);  // "sum"

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;

struct Expr {
  Op op = Op::kInt;
  ValueKind kind = ValueKind::kReal;
  double real = 0;
  int64_t integer = 0;
  int id = -1;
  bool has_else = false;
  Reducer reducer = Reducer::kSum;
  DType dtype = DType::kF32;
  std::vector<int> binders;
  std::vector<ExprRef> args;
  Span span;
};

// Builders: they set the kind by the language's rules (bool -> int -> real).
ExprRef make_real(double value);
ExprRef make_int(int64_t value);
ExprRef make_index(int id);
ExprRef make_read(int tensor, ValueKind kind, std::vector<ExprRef> indices, ExprRef otherwise = nullptr);
ExprRef make(Op op, std::vector<ExprRef> args);
ExprRef make_reduce(Reducer reducer, std::vector<int> binders, ExprRef body, ExprRef where = nullptr);
ExprRef make_cast(DType dtype, ExprRef operand);
ValueKind kind_of(DType dtype);

enum class TensorKind { kParam, kBuffer, kInput, kOutput, kTensor, kRandom, kLocal };

struct Tensor {
  std::string name;  // unique; of an instance: "instance.name"
  TensorKind kind = TensorKind::kLocal;
  ValueKind value = ValueKind::kReal;
  std::optional<DType> dtype;  // locals have none
  std::vector<int64_t> shape;
  std::vector<std::string> dims;  // each extent as it was written ("N", "3*E")
  std::vector<int64_t> strides;   // elements; row-major unless declared
  std::string path;               // module path of a param or buffer
  int into = -1;                  // the buffer that takes this tensor's value when the program ends
  int same = -1;                  // shares storage with this tensor ...
  int64_t same_offset = 0;        // ... at this element
  std::string distribution;       // of a random tensor: "bernoulli" ...
  std::vector<double> distribution_args;
  bool any_value = false;  // of an opaque operation: may be infinite, or NaN, whatever the inputs
  int kernel = -1;         // kernel that defines it; -1: interface, loose or opaque
  Span span;

  int64_t elements() const;
  bool is_interface() const { return kind != TensorKind::kTensor && kind != TensorKind::kLocal; }
};

struct Index {
  std::string name;
  int64_t extent = 0;
  std::string dim;  // dim it stands for, "" where none is known
};

// y[lhs...] = rhs: `free` lists the left side's indices in order of first occurrence, `indices` all of them and the
// binders of the right side, each with a unique id.
struct Equation {
  int target = -1;
  std::vector<ExprRef> lhs;  // affine in the free indices
  ExprRef rhs;
  std::vector<int> free;
  std::vector<Index> indices;
  int group = -1;       // equations of one recurrence share a group; -1: none
  int step_index = -1;  // in a recurrence: the index it advances along (id in this equation)
  int step_sign = 0;    // +1: t-1 is earlier; -1: runs backwards
  Span span;
};

struct Kernel {
  std::string name;
  std::string family;
  Knobs knobs;
  bool once = false;
  std::vector<int> equations;  // ids in text order
  std::string instance;        // path of the def instance it belongs to, "" at top level
  Span span;
};

// An operation without equations; PyTorch runs it.
struct Opaque {
  std::string op;                                          // "aten.sort.stable"
  std::vector<int> results;                                // tensors
  std::vector<std::pair<std::string, ExprRef>> arguments;  // tensors appear as reads without indices; null: a string
  std::vector<std::string> strings;                        // by argument: the string, or ""
  Span span;
};

// Device code, as kernels name it.
struct Source {
  std::string name;
  std::string text;
  Span span;
};

// A path below the program's folder that ends in `.cu`: letters, digits and `_-+.`, parts joined by `/`, none of them
// `.` or `..`.
bool is_source_name(std::string_view name);

struct Dim {
  std::string name;
  int64_t value = 0;
};

// One executable item in text order: exactly one id is set.
struct Item {
  int equation = -1;  // loose equation
  int kernel = -1;
  int opaque = -1;
};

// Legal, and nothing implements it.
struct NotYet {
  std::string what;
  Span span;
};

struct Program {
  std::string name;
  std::string target;    // "" or a machine
  std::string numerics;  // "" or a policy
  Knobs launch;          // name in `launch_kind`
  std::string launch_kind;
  std::vector<std::string> allow;
  std::vector<Dim> dims;
  std::vector<Tensor> tensors;
  std::vector<Equation> equations;
  std::vector<Kernel> kernels;
  std::vector<Opaque> opaques;
  std::vector<Source> sources;
  std::vector<Item> items;
  std::vector<Equation> assumptions;  // closed forms of buffers
  std::vector<NotYet> not_yet;

  const Tensor& target_of(const Equation& e) const { return tensors[static_cast<size_t>(e.target)]; }
  const Tensor& tensor(int id) const { return tensors[static_cast<size_t>(id)]; }
  const Equation& equation(int id) const { return equations[static_cast<size_t>(id)]; }
  int find_tensor(std::string_view tensor_name) const;            // -1: none
  const Source* find_source(std::string_view source_name) const;  // null: none
  bool is_problem() const { return kernels.empty(); }
};

// An assumption says what every element of its buffer is.
bool describes_whole(const Program& program, const Equation& assumption);
// The buffer's assumption of that kind; null: none.
const Equation* closed_form_of(const Program& program, int tensor);

// Visits `root` and everything below it, parents first.
template <typename F>
void walk(const ExprRef& root, F&& visit) {
  if (!root) return;
  visit(*root);
  for (const ExprRef& arg : root->args) walk(arg, visit);
}

bool reads(const ExprRef& root, int tensor);

// offset + sum of coefficient * index, where that is what an integer expression is.
struct Affine {
  int64_t offset = 0;
  std::vector<std::pair<int, int64_t>> terms;  // (index id, coefficient), ids ascending, no zeros
  int64_t coefficient(int index) const;
  bool is_constant() const { return terms.empty(); }
  bool operator==(const Affine&) const = default;
};
std::optional<Affine> as_affine(const ExprRef& expression);

// The expression for a person, with the equation's index names ("sum[k](x[m,k] * w[n,k])").
std::string to_text(const Program& program, const Equation& equation, const ExprRef& expression);
std::string to_text(const Program& program, const Equation& equation);

}  // namespace solstice::ir
