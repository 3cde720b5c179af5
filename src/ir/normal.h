// The normal form of a program (docs/equivalence.md): hash-consed terms over the indices of what is defined,
// made by eight passes. Equal normal forms are a proof that two definitions mean the same over the reals for finite
// inputs; different ones say nothing. It is for comparing and recognising, never for running.
//
// Every pass may be left out, is timed, and may stop at a budget: then there is no normal form, and `exceeded` says
// why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/normal/nodes.h"
#include "ir/program.h"

namespace solstice::ir {

struct NormalPass {
  std::string_view name;
  std::string_view help;  // one line
};
const std::vector<NormalPass>& normal_passes();  // in order

struct NormalOptions {
  std::vector<std::string> without;  // passes to leave out
  size_t most_terms = 400'000;
  size_t most_expansion = 64;  // terms of a sum of products
  int64_t most_microseconds = 1'000'000;
  // Tensors whose definition has a reduction stay nodes; else everything goes into the outputs.
  bool keep_nodes = true;
};

struct PassReport {
  std::string name;
  bool ran = true;
  double microseconds = 0;
  size_t reductions = 0;  // distinct ones, afterwards
  size_t terms = 0;       // distinct ones, afterwards
};

struct NormalForm {
  Program program;  // the nodes as equations, one reduction each, without kernels; the interpreter can run it
  std::vector<NormalNode> nodes;  // one an equation
  std::vector<PassReport> passes;
  std::string exceeded;  // budget that ran out, "" if none: then `program` is the given one
};

// Error bad_argument: no such pass.
Result<NormalForm> normal_form(const Program& program, const NormalOptions& options = {});

}  // namespace solstice::ir
