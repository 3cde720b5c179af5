// The knobs of family gemm as data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "families/family.h"

namespace solstice::families::gemm {

const std::vector<KnobSpec>& knob_table();
const std::string& usual_value(std::string_view knob);  // if it is not written

}  // namespace solstice::families::gemm
