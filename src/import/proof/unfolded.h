// Proof that a folded program computes what the flat one does: its calls are written out by the binder, the steps of
// its loops are taken one by one, and every equation of the flat program has to be one of these, with the same extents,
// offsets and numbers. Nothing is rearranged: folding moves equations, and changes none.
#pragma once

#include <map>
#include <string>

#include "ir/program.h"

namespace solstice::importer {

// Where the folded program has a tensor of the flat one: as a tensor, as one step of a tensor that holds all steps of a
// loop along its first dimension, or as both, one a copy of the other.
struct FoldedPlace {
  std::string tensor;  // its name there, or ""
  std::string loop;    // the name of the tensor with all steps, or ""
  int64_t step = -1;
};

// The first tensor in which the programs differ, in words; "" where they are the same. `places`: by the names of the
// flat program. Both are bound, so that every element of a tensor has one equation.
std::string difference(const ir::Program& flat, const ir::Program& folded,
                       const std::map<std::string, FoldedPlace>& places);

}  // namespace solstice::importer
