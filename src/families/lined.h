// Source text of a profile build: generated code whose line tables tell equation and part (docs/machine-code.md).
#pragma once

#include <string>

#include "families/family.h"

namespace solstice::families {

// What a source's lines are called in messages and line tables: "up.cu", or the name of given code.
std::string file_of(const Source& source);

// Generated code with `#line N "NUMBER>RESULTS|PART|FILE"` wherever that changes: N stays the line in `code`. Given
// code is as it was given: its own lines tell.
std::string lined_text(const Source& source);

}  // namespace solstice::families
