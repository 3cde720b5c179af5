// From syntax to meaning: every static rule of the language (docs/language.md, sections 4 to 7 and 11).
//
// Names are resolved, extents found, functions and definitions expanded, views folded into the reads, ranges,
// cover and order proved. Mistakes become diagnostics, several a run; a program with errors is not returned.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

// `program` must have parsed without errors. Nothing if an error was reported.
std::optional<Program> bind(const lang::Program& program, Diagnostics& diagnostics);

// Parse and bind. Error program_invalid: the text of all diagnostics, which are also in `diagnostics`.
Result<Program> load_program(std::string_view text, std::string_view file, Diagnostics& diagnostics);

// Functions that are not of the prelude: "exp", "select".
std::vector<std::string_view> primitive_functions();

}  // namespace solstice::ir
