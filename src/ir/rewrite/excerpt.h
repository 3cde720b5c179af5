// Some equations of a program as a program of their own.
#pragma once

#include <string>
#include <vector>

#include "ir/count.h"
#include "ir/rewrite/subject.h"

namespace solstice::ir {

struct Excerpt {
  Program program;  // reads of the equations are its inputs, results that others need its outputs
  Needs needs;      // of its outputs
};

// `equations` ascend; `needs`: of the whole program's tensors.
Excerpt excerpt(const Program& whole, const Definitions& definitions, const std::vector<int>& equations,
                const Needs& needs);

// The excerpt as text, for the language's own rules to judge.
std::string text_of(const Excerpt& part);

}  // namespace solstice::ir
