// Hash-consed terms: equal terms have equal ids, whichever program they come from. Everything that normal forms are
// made of.
//
// Terms are total: a read outside its tensor, and the branch of a select that is not taken, have some value that
// nothing depends on. Index variables are ids of the pool; a reduction's binders are variables that occur nowhere
// outside it, so that substitution never captures.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "ir/rational.h"

namespace solstice::ir::normal {

using TermId = int;
using Substitution = std::map<int, TermId>;  // by variable

enum class Kind : uint8_t {
  kConst,    // number
  kReal,     // real: inf, or a literal that is no fraction of 64-bit integers
  kVar,      // id: variable
  kRead,     // id: symbol; args: the indices, then the `else` value if has_else
  kOp,       // op, dtype; args
  kReduce,   // reducer, binders; args[0] the body, then the conditions (of a ranking: the rank)
  kSum,      // sum of weights[i] * args[i]
  kProduct,  // product of args[i] ** weights[i]
  kGuard,    // 1 where all args hold, else 0; a factor of it is not evaluated elsewhere
};

struct Term {
  Kind kind = Kind::kConst;
  Op op = Op::kInt;
  Reducer reducer = Reducer::kSum;
  DType dtype = DType::kF32;
  bool has_else = false;
  Rational number;
  double real = 0;
  int id = -1;
  std::vector<int> binders;
  std::vector<TermId> args;
  std::vector<Rational> weights;

  std::vector<int> free;  // variables, ascending
  ValueKind value = ValueKind::kReal;
  int depth = 0;                             // of nesting
  int level = 0;                             // of nested reductions
  uint64_t shape = 0;                        // hash of the structure, variables by their extent alone
  bool operator==(const Term& other) const;  // the fields above `free`
};

struct Variable {
  std::string name;
  int64_t extent = 0;
  bool root = false;   // an index of an output: it has a place, so that names do not matter
  bool bound = false;  // the name of a binder in a closed reduction
};

struct Symbol {
  std::string name;
  ValueKind value = ValueKind::kReal;
  std::vector<int64_t> shape;
  bool finite = true;           // for every finite input
  bool not_negative = false;    // and finite
  std::optional<DType> stored;  // the format of all its values, where the program is given them
};

struct Limits {
  size_t terms = 400'000;
  size_t expansion = 64;  // terms of a sum of products
  int64_t microseconds = 1'000'000;
};

class Pool {
 public:
  explicit Pool(const Limits& limits);

  TermId constant(int64_t value) { return constant(Rational{value, 1}); }
  TermId constant(Rational value);
  TermId real(double value);
  TermId boolean(bool value);
  TermId variable(int id);
  TermId read(int symbol, std::vector<TermId> indices);
  TermId read_else(int symbol, std::vector<TermId> indices, TermId otherwise);
  TermId op(Op op, std::vector<TermId> args, DType dtype = DType::kF32);
  TermId reduce(Reducer reducer, std::vector<int> binders, std::vector<TermId> args);
  TermId sum(std::vector<TermId> args, std::vector<Rational> weights);
  TermId product(std::vector<TermId> args, std::vector<Rational> weights);
  TermId guard(std::vector<TermId> conditions);
  // The same operation on other arguments.
  TermId with_args(TermId t, std::vector<TermId> args);

  int fresh(const std::string& name, int64_t extent);
  int root_variable(size_t place, int64_t extent);
  int bound_variable(int level, size_t place, int64_t extent);  // names of canonical binders
  int symbol(Symbol symbol);

  const Term& at(TermId t) const { return terms_[static_cast<size_t>(t)]; }
  const Variable& var(int id) const { return variables_[static_cast<size_t>(id)]; }
  const Symbol& symbol(int id) const { return symbols_[static_cast<size_t>(id)]; }
  size_t size() const { return terms_.size(); }
  bool depends(TermId t, int variable) const;
  bool depends(TermId t, const std::vector<int>& variables) const;
  bool is_const(TermId t, int64_t value) const { return at(t).kind == Kind::kConst && at(t).number.is(value); }
  bool is_integral(TermId t) const { return at(t).value != ValueKind::kReal; }

  TermId substitute(TermId t, const Substitution& values);

  // Counts work that makes no terms.
  void spend(size_t steps);
  // The limit that was exceeded ("terms", "depth", "work", "time"), or null. Terms made after that mean nothing.
  const char* exceeded() const { return exceeded_; }
  const Limits& limits() const { return limits_; }

 private:
  TermId weighted(Kind kind, std::vector<TermId> args, std::vector<Rational> weights);
  using Clock = std::chrono::steady_clock;

  TermId intern(Term term);
  void derive(Term& term) const;
  TermId substituted(TermId t, const Substitution& values, std::unordered_map<TermId, TermId>& done);

  std::deque<Term> terms_;
  std::unordered_multimap<uint64_t, TermId> known_;
  std::deque<Variable> variables_;
  std::vector<Symbol> symbols_;
  std::map<std::string, int> symbol_ids_;
  std::map<std::pair<size_t, int64_t>, int> roots_;
  std::map<std::tuple<int, size_t, int64_t>, int> bound_;
  Limits limits_;
  Clock::time_point end_;
  size_t spent_ = 0;
  const char* exceeded_ = nullptr;
};

uint64_t mixed(uint64_t seed, uint64_t value);
// Hash of a term without its arguments and variables.
uint64_t head_of(const Pool& pool, const Term& term);
bool is_commutative(const Term& term);

}  // namespace solstice::ir::normal
