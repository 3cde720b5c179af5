// A program of which families see one kernel's equations at a time, so that none copies it, and none looks through all
// equations again for each kernel: of the others it has no more than what families may ask about them, who writes what,
// and which of the kernel's tensors others read.
#pragma once

#include <vector>

#include "propose/cut/dataflow.h"

namespace solstice::propose {

class Spotlight {
 public:
  // Shows none. `flow` is the program's, and outlives it.
  Spotlight(const ir::Program& program, const Dataflow& flow);

  ir::Program& program() { return program_; }
  // These equations, and one reader elsewhere of each of their tensors.
  void show(const std::vector<int>& equations);
  void hide();

 private:
  void show(int equation);

  ir::Program program_;
  const Dataflow& flow_;
  std::vector<ir::ExprRef> sides_;  // the right sides of all equations; of most, `program_` has a number instead
  std::vector<int> shown_;          // the equations that have theirs
  const ir::ExprRef hidden_ = ir::make_int(0);
};

}  // namespace solstice::propose
