// The least of a failing program that still fails: without knobs, without outputs, without what nothing reads.
#pragma once

#include <functional>

#include "property/kernels/sample.h"

namespace solstice::random_kernels {

// `fails` compiles and runs; it is asked a few dozen times at most.
Sample shrink(const Sample& failing, const std::function<bool(const Sample&)>& fails);

}  // namespace solstice::random_kernels
