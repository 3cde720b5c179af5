// Facts that stand in machine code (record/sass_facts.h), from its text.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/sass_facts.h"

namespace solstice::diagnose {

// Raised where the same text gives other facts than before: facts are cached.
inline constexpr int kSassRevision = 1;

// Of each kernel by its entry, from text of nvdisasm or cuobjdump (sass/instruction.h). Lines are of the innermost call
// in a file whose name ends with `source`, where there is one, else of the innermost. Error bad_record: no kernel is in
// the text, or more than a compiler makes.
Result<std::map<std::string, SassFacts>> sass_of(std::string_view text, std::string_view source = "");

}  // namespace solstice::diagnose
