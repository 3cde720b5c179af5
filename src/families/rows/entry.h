// The kernel around its sweeps: parameters, and which row and place in it a thread has.
#pragma once

#include <string>
#include <vector>

#include "families/rows/draft.h"
#include "families/rows/kernel_text.h"

namespace solstice::families::rows {

// The kernel's text and launch. `body`: from the declarations of kept values on. `shared`: bytes of shared memory.
KernelText kernel_text(const Draft& draft, const std::string& name, const std::string& body,
                       const std::vector<Partial>& partials, int64_t shared);

}  // namespace solstice::families::rows
