// The kernel around its sweeps: parameters, and which row and place in it a thread has.
#pragma once

#include <string>
#include <vector>

#include "families/rows/draft.h"
#include "families/rows/emit.h"

namespace solstice::families::rows {

// The kernel's text and launch. `body`: from the declarations of kept values on. `shared`: bytes of shared memory.
Text kernel_text(const Draft& draft, const std::string& name, const std::string& body, const std::vector<Partial>& partials,
                 int64_t shared);

// Of blocks that stay for many rows (ahead.h). `fetching`: what stands ahead of the loop over them; `slots`: bytes of shared memory
// that it takes. `exchanged`: bytes in which the threads of a row exchange results; rows take turns in two of them, so that a thread
// that is behind still finds the last one's.
Text staying_kernel_text(const Draft& draft, const std::string& name, const std::string& fetching, const std::string& body, int64_t slots,
                         int64_t exchanged);

}  // namespace solstice::families::rows
