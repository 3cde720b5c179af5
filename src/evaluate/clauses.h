// Clauses about the machine and the run, which binding does not check.
#pragma once

#include <string>

#include "base/diagnostic.h"
#include "lang/tree.h"

namespace solstice::evaluate {

class Meaning;

// `target` names a machine that is described (E008); nothing is looser than the run's policy, "" for none, or than the
// problem that the program must compute, null for none (E016).
void check_clauses(const lang::Program& tree, const std::string& run_policy, const Meaning* problem,
                   Diagnostics& diagnostics);

}  // namespace solstice::evaluate
