// Rewrites against the interpreter.
#pragma once

#include <string>

#include "ir/rewrite/driver.h"

namespace solstice::ir::testing {

// Interprets both on every family of inputs; "" where all outputs and new buffer values agree.
std::string difference(const Program& before, const Program& after);

struct Tried {
  int sites = 0;  // where a rewrite applied
  bool failed = false;
};

// Applies the rewrite (null: all) at every site of the text, whether it saves or not, and wherever it applies then;
// expects the same values after every step.
Tried expect_same_values(const std::string& text, const Rewrite* rewrite);

}  // namespace solstice::ir::testing
