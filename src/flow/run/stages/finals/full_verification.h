// The full verification of a candidate: every value family, several seeds, perturbed weights.
#pragma once

#include "base/result.h"
#include "flow/run/stages/finals/finalist.h"
#include "flow/run/stages/prepare/device.h"

namespace solstice::flow {

// Fills the finalist's verdict and errors, once; where it fails, it is refused with the reason. Cases that memory has
// no room for, or that `forward` raises on, are skipped with a warning. Errors: judging itself failed.
Status verify_fully(Run& run, const Measurable& measurable, Finalist& finalist);

}  // namespace solstice::flow
