// Facts that stand in machine code (record/diagnosis/sass_facts.h), from its text.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "diagnose/sass/places.h"
#include "record/diagnosis/sass_facts.h"

namespace solstice::diagnose {

// Raised where the same text gives other facts than before: facts are cached.
inline constexpr int kSassRevision = 3;

// Of each kernel by its entry, from text of nvdisasm or cuobjdump (sass/instruction.h). Lines are of the innermost call
// in the file `source`, where there is one, else of the innermost. Places are those of `source` (sass/places.h), parts
// by the marks of device headers in `headers` ("": none are known); equations are numbers, whose texts the caller
// knows. Error bad_record: no kernel is in the text, or more than a compiler makes.
Result<std::map<std::string, SassFacts>> sass_of(std::string_view text, const sass::PlacedText& source = {},
                                                 const std::filesystem::path& headers = {});

}  // namespace solstice::diagnose
