// Policies by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "search/policy.h"

namespace solstice::search {

// "mcts", "mcts(exploration=1, widening=0.7)", "command:./my_policy": unknown names and values outside their range are
// bad_argument, with what is legal.
Result<std::unique_ptr<Policy>> make_policy(std::string_view text, uint64_t seed);

}  // namespace solstice::search
