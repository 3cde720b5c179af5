// One generator a family: what its kernels may be asked. Each writes declarations and equations into a draft.
#pragma once

#include "property/kernels/draft.h"

namespace solstice::random_kernels {

void draft_map(Draft& draft);
void draft_rows(Draft& draft);
void draft_reduce(Draft& draft);
void draft_scan(Draft& draft);
void draft_gemm(Draft& draft);
void draft_grouped(Draft& draft);  // some of gemm's

}  // namespace solstice::random_kernels
