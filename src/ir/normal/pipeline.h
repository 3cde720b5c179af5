// The passes in order over a form.
#pragma once

#include "ir/normal.h"
#include "ir/normal/form.h"

namespace solstice::ir::normal {

void run_passes(Form& form, std::vector<PassReport>* reports = nullptr);

}  // namespace solstice::ir::normal
