// A diagnosis tool that is an executable. It reads one JSON object a line and answers each with one:
//
//   {"schema": "solstice.tool/1"}      first; answered with {"name", "question", "sources": ["sass"], "classes": [],
//                                      "thresholds": [{"name", "value", "unit", "origin"}]}
//   {"facts": {..}}                    record of solstice.facts/1; answered with {"findings": [{..}]}, each a record
//                                      of solstice.finding/1 with `schema`, `severity`, `place`, `cause`, `evidence`,
//                                      `actions`, `gain`, `confidence`, `sources` and `tool`, for which its own name
//                                      is put (docs/diagnosis.md has one)
//
// Its findings are held to what every tool's are: evidence, a bound of at least 1, kernels and steps that are there, at
// most so many, moves that are legal. Their texts are as short as kLongestText; bounds are held to the bound of the
// kernel's equations, severity to the bound, and what it says of kernels of other classes than its own is left out. It
// is asked by one thread at a time; once it has died or was late it is not asked again, and each of its answers that is
// missing is named.
#pragma once

#include <memory>
#include <string>

#include "diagnose/tool.h"

namespace solstice::diagnose {

// `command` is split at blanks; the program is looked up in PATH. Errors: not_found, process_failed, deadline (10 s an
// answer), bad_argument for an answer that makes no sense, for the name of a built-in tool and for a source that there
// is not.
Result<std::unique_ptr<Tool>> start_external(const std::string& command);

// Of a finding of such a tool. Error bad_record: a text, or a list, is too long.
inline constexpr size_t kLongestText = 500;  // bytes
Status check_lengths(const Finding& finding);
// The bound of its gain is that of every tool's findings on this kernel at most. Of a kernel that is not there:
// nothing.
void hold_to_equations(const ProgramView& view, Finding& finding);

// By its name on a command line, "command:PROGRAM". Errors: bad_argument for any other name; those of start_external().
Result<std::unique_ptr<Tool>> tool_named(std::string_view name);

}  // namespace solstice::diagnose
