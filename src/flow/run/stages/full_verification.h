// The full verification of a candidate: every value family, several seeds, perturbed weights.
#pragma once

#include "base/result.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// Fills the finalist's verdict and errors, once; where it fails, it is refused with the reason. Cases that memory has
// no room for, or that `forward` raises on, are skipped with a warning. Errors: judging itself failed.
Status verify_fully(Session& state, Finalist& finalist);

// "14 cases, each twice"
std::string cases_text(const Verdict& verdict);

// Out of the running, for a reason that the report tells.
void refuse(Session& state, Finalist& finalist, std::string why);

}  // namespace solstice::flow
