// Names of declarations, for titles of chunks and for the weight of a name.
#pragma once

#include <string>
#include <string_view>

namespace solstice::codesearch {

// `code` is a declaration without comments, from its first word to its first brace or further: "struct
// SM90_TMA_LOAD_2D", "copy()", "#define CUTE_UNROLL"; "" where it declares nothing with a name.
std::string title_of(std::string_view code);

// Whether the braces of `code` hold members of a type, not statements.
bool declares_type(std::string_view code);

}  // namespace solstice::codesearch
