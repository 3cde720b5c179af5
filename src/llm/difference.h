// The first difference of two JSON values, for a person.
#pragma once

#include <string>

#include "base/json.h"

namespace solstice::llm {

// "" where they are equal; else path, what was recorded and what is asked for.
std::string first_difference(const Json& recorded, const Json& asked);

}  // namespace solstice::llm
