// Loads a command's program: a Python file, which is traced and imported, or a .ucut file.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/rewrite/driver.h"

namespace solstice::cli {

// "model.py", "model.py:Class" or "program.ucut". Errors: those of tracing and import; program_invalid, with all
// diagnostics.
Result<ir::BoundText> load_subject(const std::string& argument);

}  // namespace solstice::cli
