// Basic blocks of a function, how control passes between them, and which block dominates which.
//
// BSSY and BSYNC only gather the lanes of a warp and pass control on; so do WARPSYNC and BREAK. A call comes back. An
// indirect branch goes where nvdisasm says ("BRANCH_TARGETS"). Blocks that nothing known leads to (targets of calls and
// of branches that are not known) are roots of their own.
#pragma once

#include <string_view>
#include <vector>

#include "diagnose/sass/instruction.h"

namespace solstice::diagnose::sass {

struct Block {
  size_t first = 0, end = 0;  // instructions
  std::vector<int> next = {};
  std::vector<int> before = {};
};

struct Flow {
  std::vector<Block> blocks;   // by address
  std::vector<int> order;      // reverse postorder of the blocks
  std::vector<int> dominator;  // the nearest; of a root -1
  bool complete = true;        // the target of every branch is known
  bool tangled = false;        // too many jumps to analyse: without `order` and `dominator`
};

Flow flow_of(const Function& function);

// Whether a branch always branches, a call not counted.
bool always_jumps(const Instruction& instruction);

// Finds the instruction at the target of a branch or call by an operand ("`(.L_x_3)", "0x1a0"); -1: not known.
class Targets {
 public:
  explicit Targets(const Function& function);
  int of(std::string_view operand) const;
  // All of a branch; none of any other instruction. `known` becomes false where one is missing.
  std::vector<int> of(const Instruction& branch, bool& known) const;

 private:
  int named(std::string_view label) const;

  const Function& function_;
  std::vector<Label> labels_;  // by name
};

}  // namespace solstice::diagnose::sass
