// Operators that run as one kernel over the elements of their result: PyTorch's own mark for it
// (torch.Tag.pointwise, torch 2.13), and copies and fills.
#pragma once

#include <string_view>

namespace solstice::sol::eager {

bool is_pointwise(std::string_view op);

}  // namespace solstice::sol::eager
