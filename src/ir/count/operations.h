// Operations by class: the unit that equations are counted in (ir/count.h says how).
#pragma once

namespace solstice::ir {

struct Work {
  double contraction = 0;  // multiply-adds of sums of products that reuse both operands (what tensor cores are for)
  double simt = 0;         // issue slots of the ordinary floating-point pipe: a fused multiply-add is one
  double sfu = 0;          // special functions: exp2, log2, reciprocal, rsqrt, tanh
  double integer = 0;      // integer arithmetic on values (not on addresses)
  Work& operator+=(const Work& other);
};

}  // namespace solstice::ir
