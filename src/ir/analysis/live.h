// Liveness: the part of each tensor that an output or a buffer's new value needs. Per dim it is the coordinates that
// are read; of a tensor that one equation reads in one place, element by element, also the conditions under which it
// does (a product with a masked triangle).
#pragma once

#include <map>
#include <vector>

#include "ir/domain.h"
#include "ir/program.h"

namespace solstice::ir {

// Parts of tensors, by tensor: per dim the coordinates, none for all of them.
using Needs = std::map<int, std::vector<std::vector<bool>>>;

// Reads that count: all, or those that no algorithm can leave out (reads.h).
enum class Reads { kAll, kCertain };

class Liveness {
 public:
  // Outputs that are in `needs` are needed in that part alone.
  explicit Liveness(const Program& program, const Needs& needs = {}, Reads reads = Reads::kAll);
  bool live(const Equation& equation) const { return needed_.count(equation.target) != 0; }
  // The equation's points that are needed.
  Domain domain(const Equation& equation) const;
  const Needs& needs() const { return needed_; }

 private:
  // The place where a tensor is read, if there is only one.
  struct Reading {
    int count = 0;
    ExprRef read;
    std::vector<Domain::Condition> conditions;
  };

  void need_all(int tensor);
  void need(int tensor, const std::vector<Marks>& marks);
  void visit(const Equation& equation);

  void keep_conditions(const Equation& equation, Domain& domain) const;

  const Program& program_;
  Reads reads_;
  Needs needed_;
  std::map<int, Reading> readings_;  // by tensor
};

}  // namespace solstice::ir
