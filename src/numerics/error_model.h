// The error of a sum of products, modelled: normwise, ||computed - exact|| / ||exact||, from math, K, dtype and the
// kind of data. docs/numerics.md derives it; a test holds it against the figures of docs/measured/numerics.md.
//
// Three independent parts are added in squares:
//   representation  what rounding operands to planes and dropping the smallest products loses;
//   truncation      tensor cores truncate: each MMA step loses a one-sided share of an ulp, from one promotion to the
//                   next, so this grows with the steps between promotions, not with K;
//   chain           rounding to nearest of each fp32 addition: every k for SIMT, every promotion for split maths;
// and the rounding of the result to its storage format.
#pragma once

#include <cstdint>

#include "numerics/math.h"

namespace solstice::numerics {

// Relation of a sum's terms: random signs (result ~ sqrt(K) terms), all of one sign (result ~ K terms), one term that
// dwarfs the others.
enum class Data { kRandomSign, kPositive, kOutlier };

struct Sum {
  int64_t k = 1;               // terms
  DType dtype = DType::kF32;   // of the operands
  DType result = DType::kF32;  // storage of the result
  Data data = Data::kRandomSign;
  int64_t promote_every = 128;  // k between promotions; ignored by maths that do not promote
  int64_t elements = 1;         // of the result: the largest of many errors is larger
  bool dominated = false;       // a few operands dwarf the others, whose roundings then do not average
  int64_t products = 1;         // sums of products that follow each other up to the result; 0: it depends on none
};

struct ErrorParts {
  double representation = 0;
  double truncation = 0;
  double chain = 0;
  double storage = 0;
  double total() const;
};

// For operands within the guard's range (guarded maths fall back to a full-range one beyond it).
ErrorParts modelled_error(Math math, const Sum& sum);

}  // namespace solstice::numerics
