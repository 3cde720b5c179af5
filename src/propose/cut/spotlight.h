// A kernel's equations as a small program for families to look at: what they ask takes the time of the kernel, however
// long its program is. Equations and tensors are numbered anew, in the order that they have in the program.
#pragma once

#include <vector>

#include "propose/cut/dataflow.h"

namespace solstice::propose {

class Spotlight {
 public:
  // Shows nothing. `program`, which has no opaque operations, and its `flow` outlive it.
  Spotlight(const ir::Program& program, const Dataflow& flow);

  // These equations as kernel 0 without knobs; with what families may ask about others: who else writes their tensors,
  // and whether others read them.
  void show(const std::vector<int>& equations);

  const ir::Program& program() const { return shown_; }
  ir::Kernel& kernel() { return shown_.kernels.front(); }

 private:
  std::vector<int> equations_around(const std::vector<int>& own) const;

  const ir::Program& whole_;
  const Dataflow& flow_;
  ir::Program shown_;
};

}  // namespace solstice::propose
