// Parameters of policies and landscapes, as text sets them: "mcts(exploration=1, widening=0.7)".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solstice::search {

struct Parameter {
  std::string_view name;
  double usual = 0, least = 0, most = 0;
  bool whole = false;  // a whole number
  std::string_view help;
};

// Values of a policy's parameters, all of them.
using Values = std::map<std::string, double, std::less<>>;

// The usual values, but for those that `text` sets behind its name: "mcts(exploration=1, widening=0.7)". `whose` is for
// errors: bad_argument where there is no such parameter, or its value is outside its range.
Result<Values> parse_values(std::string_view whose, const std::vector<Parameter>& parameters, std::string_view text);

std::string_view trimmed(std::string_view text);  // without blanks at both ends

}  // namespace solstice::search
