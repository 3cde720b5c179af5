// The module that a command is given.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "flow/run/problem/problem.h"
#include "flow/run/state/options.h"

namespace solstice::cli {

constexpr const char* kModuleHelp =
    "FILE.py, FILE.py:NAME or package.module:NAME; NAME is a module class, an instance, or a function that returns one";

Parameter eval_flag();
Parameter train_flag();

// "eval", "train", or "": as the module is made. Error bad_argument where both are given.
Result<std::string> mode_of(const Invocation& in);

// The module that `text` names, in the mode that the command line asks for. `package.module` is looked for as Python
// would, from the current folder, without running any of it. Errors: not_found; bad_argument for a folder, or for both
// modes; those of finding Python.
Result<flow::ModuleOptions> named_module(const std::string& text, const Invocation& in);

// The mode that a module was loaded in, where it matters, on stderr.
void tell_mode(const OracleSubject& subject);

// Of a command with --of: a module, or a program of equations with the module that it computes, where one is named.
// Errors: those of named_module(); bad_argument for --of without a program.
Result<flow::ModuleOptions> named_problem(const std::string& text, const Invocation& in);

}  // namespace solstice::cli
