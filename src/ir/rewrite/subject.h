// Facts that the rewrites look up in a program, found once for all its equations: definitions that may stand for their
// reads, what is needed, reductions that compute the same.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/program.h"
#include "ir/rewrite/written_dims.h"

namespace solstice::ir {

// Writers and readers of each tensor.
class Definitions {
 public:
  explicit Definitions(const Program& program);
  // The equation that may stand for every read of the tensor: one, real, over bare indices, not part of a recurrence,
  // not storing below the precision of what it reads. Null: none.
  const Equation* of(int tensor) const;
  // The same for a rewrite that keeps the tensor and stores in it what it stored: it may round.
  const Equation* whole(int tensor) const;
  // Does the equation round what it stores? A declared float below f32 rounds all but copies of such a float, any
  // tensor what it reads in more bits.
  bool narrows(const Equation& equation) const;
  const std::vector<int>& writers(int tensor) const { return writers_[static_cast<size_t>(tensor)]; }
  const std::vector<int>& readers(int tensor) const {
    return readers_[static_cast<size_t>(tensor)];
  }  // equations, each once
  DType dtype(int tensor) const {
    return dtypes_[static_cast<size_t>(tensor)];
  }  // stored; of a local the widest it is made of
  bool read_by_opaque(int tensor) const { return opaque_[static_cast<size_t>(tensor)]; }

 private:
  const Program& program_;
  std::vector<DType> dtypes_;
  std::vector<std::vector<int>> writers_, readers_;
  std::vector<bool> opaque_;
};

// A reduction of an equation, as an equation of its own over `free`: the indices that it does not bind, in the order in
// which they occur.
struct LoneReduction {
  int equation = -1;
  ExprRef node;
  Equation alone;
};

class Subject {
 public:
  // `dims`: how the source wrote its numbers, where that counts.
  explicit Subject(const Program& program, const WrittenDims* dims = nullptr);
  const Program& program() const { return program_; }
  const Definitions& definitions() const { return definitions_; }
  // Are expressions that are equal by value equal at other dims, too?
  bool written_alike(const ExprRef& a, const ExprRef& b) const { return !dims_ || dims_->alike(a, b); }
  bool needed(int tensor) const { return needed_[static_cast<size_t>(tensor)]; }
  const std::vector<LoneReduction>& reductions_of(int equation) const {
    return reductions_[static_cast<size_t>(equation)];
  }
  // Real reductions outside of recurrences that have the same structural hash, in text order.
  const std::vector<const LoneReduction*>& like(const LoneReduction& reduction) const;

 private:
  const Program& program_;
  const WrittenDims* dims_;
  Definitions definitions_;
  std::vector<bool> needed_;
  std::vector<std::vector<LoneReduction>> reductions_;  // of each equation, those of real values
  std::map<uint64_t, std::vector<const LoneReduction*>> by_hash_;
};

}  // namespace solstice::ir
