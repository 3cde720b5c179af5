// Loads a command's program: a Python file, which is traced and imported, or a .ucut file.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "ir/rewrite/driver.h"

namespace solstice::cli {

constexpr const char* kSubjectHelp =
    "a .ucut program, or a module: FILE.py, FILE.py:NAME or package.module:NAME (a class, an instance, or a function "
    "that returns one)";

// A program, or a module in the mode that the command line asks for; where the mode matters, stderr says which it is.
// Errors: those of tracing and import; program_invalid, with all diagnostics.
Result<ir::BoundText> load_subject(const std::string& argument, const Invocation& in);

// An error of a subject's equation: in a .ucut file it gets the place.
Error in_its_file(Error error, const std::string& argument);

}  // namespace solstice::cli
