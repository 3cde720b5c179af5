// A diagnosis tool that is an executable. It reads one JSON object a line and answers each with one:
//
//   {"schema": "solstice.tool/1"}      first; answered with {"name", "question", "sources": ["sass"], "classes": [],
//                                      "thresholds": [{"name", "value", "unit", "origin"}]}
//   {"facts": {..}}                    record of solstice.facts/1; answered with {"findings": [{..}]}
//
// Its findings are held to what every tool's are: evidence, a bound of at least 1, at most so many. It is asked by one
// thread at a time; once it has died or was late it is not asked again, and each of its answers that is missing is
// named.
#pragma once

#include <memory>
#include <string>

#include "diagnose/tool.h"

namespace solstice::diagnose {

// `command` is split at blanks; the program is looked up in PATH. Errors: not_found, process_failed, deadline (10 s an
// answer), bad_argument for an answer that makes no sense.
Result<std::unique_ptr<Tool>> start_external(const std::string& command);

// By its name on a command line, "command:PROGRAM". Errors: bad_argument for any other name; those of start_external().
Result<std::unique_ptr<Tool>> tool_named(std::string_view name);

}  // namespace solstice::diagnose
