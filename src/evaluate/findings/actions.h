// Actions of findings as programs.
#pragma once

#include <string>

#include "evaluate/candidate.h"
#include "record/diagnosis/finding.h"

namespace solstice::evaluate {

// The program with the action taken. Errors: not_found (no such kernel), bad_argument (it is no move, or its knobs do
// not parse). Whether the result is legal is for check() to say.
Result<std::string> with_action(const std::string& program, const FindingAction& action);

// The program with the action taken passes every rule that needs no compiler, and is another one. Of a cut or a rewrite
// that its kernels, or the rewrite, are there: whether some family can run what comes out is for its proposer to find.
bool is_legal_move(const std::string& program, const FindingAction& action, const Setting& setting);

}  // namespace solstice::evaluate
