// A family's own rules for a kernel whose clause has sets, which is a space of settings: the illegal ones are left out
// of it (docs/language.md, section 7).
#pragma once

#include "families/family.h"

namespace solstice::families {

// The verdict of `family.check` on the kernel. Of a space: E104 where no setting is legal, N104 where some are not.
void check_rules_of(const Family& family, const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace solstice::families
