// Which part of each tensor an output or a buffer's new value needs: per dim, the coordinates that are read.
#pragma once

#include "ir/count.h"
#include "ir/domain.h"

namespace solstice::ir {

class Liveness {
 public:
  // Of outputs that are in `needs` only that part is needed.
  explicit Liveness(const Program& program, const Needs& needs = {});
  bool live(const Equation& equation) const { return needed_.count(equation.target) != 0; }
  // The equation's points that are needed.
  Domain domain(const Equation& equation) const;
  const Needs& needs() const { return needed_; }

 private:
  void need_all(int tensor);
  void need(int tensor, const std::vector<Marks>& marks);
  void visit(const Equation& equation);
  void visit(const ExprRef& e, const Domain& domain);

  const Program& program_;
  Needs needed_;
};

// The domain inside a node's argument: a reduction's condition, the branch of a select.
Domain inside(const Expr& node, size_t argument, const Domain& domain);
std::vector<ExprRef> read_indices(const Expr& read);

}  // namespace solstice::ir
