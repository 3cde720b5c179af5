// Value families: the kinds of inputs that verification uses. The names are those of the oracle's request
// `prepare_inputs` (docs/protocol.md), which makes the values; this table says what each is for and how its errors are
// modelled.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "numerics/error_model.h"

namespace solstice::numerics {

struct ValueFamily {
  std::string_view name;
  std::string_view help;
  std::string_view finds;  // the fault it is there to find
  std::vector<std::pair<std::string_view, double>> parameters;
  Data data = Data::kRandomSign;  // for the modelled error
  bool finite = true;             // false: results are compared by class (NaN, Inf, finite)
  bool needs_product = false;     // has no meaning where no two tensors are multiplied
};

// In the order in which they are run: cheap and telling ones first.
const std::vector<ValueFamily>& value_families();
const ValueFamily* find_value_family(std::string_view name);

}  // namespace solstice::numerics
