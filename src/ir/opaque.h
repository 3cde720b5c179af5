// Operations without equations, or without a kernel family: PyTorch runs them.
#pragma once

namespace solstice::ir {

// The way out of a refusal because of one.
inline constexpr const char* kRunByPyTorch =
    "PyTorch can run it: `solstice optimize` leaves such calls to it, and optimises the parts of the module around "
    "them";

}  // namespace solstice::ir
