// Changes a JSON document at one place and keeps it one: bytes changed at random are rarely JSON, and then nothing
// behind the JSON parser is tried.
#pragma once

#include <random>

#include "base/json.h"

namespace solstice::fuzz {

Json mutated(const Json& document, std::mt19937& random);

}  // namespace solstice::fuzz
