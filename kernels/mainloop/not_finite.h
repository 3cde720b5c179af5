// Infinities, NaN and the largest numbers as planes without scales, which no range guard watches. Free of PTX.
//
// The last plane of an operand meets nothing but the first of the other (stage_product.h, register_product.h). So a
// value that is not finite lies there whole; its first plane is 1 with its sign, its others are 0. Then
//     infinity * x         is infinity * (first plane of x), or NaN for x = 0, and a finite number beside it;
//     infinity * infinity  is infinity * 1 + 1 * infinity, with the signs of both,
// as in fp32. In the first plane it would meet the other's rests too, whose signs differ, and give infinity - infinity.
#pragma once

#include "ptx/types.h"

#if !defined(__CUDACC__)
#include <cmath>
#endif

namespace solstice::mainloop {

inline constexpr float kLargestFloat = 0x1.fffffep127f;

SOLSTICE_DEVICE bool is_finite(float v) { return fabsf(v) <= kLargestFloat; }

// The value whose planes all but the last are taken, and then, of what they leave, the value for the last.
SOLSTICE_DEVICE float finite_part(float v) { return is_finite(v) ? v : copysignf(1.f, v); }
SOLSTICE_DEVICE float last_part(float rest, float v) { return is_finite(v) ? rest : v; }

// A finite value that rounds to no more than `largest`, the largest number of an element type: the next plane holds
// what is missing.
SOLSTICE_DEVICE float limited(float v, float largest) { return fminf(fmaxf(v, -largest), largest); }

}  // namespace solstice::mainloop
