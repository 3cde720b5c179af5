// Variables of generated code that stand for several indices at once: m = b * extent(t) + t.
#pragma once

#include <string>
#include <vector>

#include "codegen/emitter.h"
#include "codegen/flatten.h"

namespace solstice::codegen {

// An int variable of the caller and the free indices of an equation that are its digits, outermost first: {"m", {b,
// t}}. An index of extent 1 may be left out.
struct IndexVariable {
  std::string name;
  std::vector<int> indices;
};

inline constexpr int kNoStep = -1;        // the variable has one value
inline constexpr int kSeveralSteps = -2;  // its digits are divided out

// Binds the digits of a variable, which the caller has at `depth`, to their values: digits that every access walks as
// one loop are the variable itself, others are divided out. The index that the variable steps, or one of the above.
int bind_variable(Emitter& emitter, const ir::Program& program, const FlatKernel& flat, const std::string& name,
                  const std::vector<int>& digits, int depth);

}  // namespace solstice::codegen
