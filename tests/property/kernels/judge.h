// Whether what a kernel stored is what its equations say.
#pragma once

#include <optional>
#include <string>

#include "property/kernels/expected.h"

namespace solstice::random_kernels {

struct Judged {
  double worst = 0;      // error in units of the limit
  int64_t elements = 0;  // compared
  int64_t unasked = 0;   // of them: nothing is known of their error
  std::string wrong;     // "`y0[3,4]` is 1 instead of 2 (limit 1e-6; 17 more)", "" where all is well
};

// `got` holds the values of every output. Where the exact result is not finite the kernel's must not be either.
Judged judge(const ir::Program& program, const Expected& expected,
             const std::map<std::string, std::vector<double>>& got);

}  // namespace solstice::random_kernels
