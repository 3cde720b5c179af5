// Assumptions of a speed-of-light analysis.
#pragma once

#include "numerics/policy.h"

namespace solstice::sol {

struct SolOptions {
  numerics::Policy policy = numerics::Policy::kReference;
  bool frozen = false;       // weights may be prepared at load: io then counts no parameter
  bool matmul_tf32 = false;  // PyTorch's flags: what its own result is computed with
  bool conv_tf32 = true;
};

}  // namespace solstice::sol
