// The real meaning of a program (docs/language.md, section 8): every equation evaluated in float64 at the
// program's own dims, sums compensated, integers exact below 2^53. Storage dtypes of reals are the identity;
// explicit casts round.
//
// Schedules, layouts, `same` and order are not looked at. The result is the same for every number of threads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ir/interpret/coverage.h"
#include "ir/program.h"

namespace solstice::ir {

// Row-major, whatever the declared layout. Booleans are 0 and 1.
struct TensorValue {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

using TensorValues = std::map<std::string, TensorValue>;

struct InterpretOptions {
  std::optional<Deadline> deadline;  // error deadline when it passes
  int threads = 1;
  bool keep_all = false;         // return intermediates and locals too, not only outputs and new buffer values
  Coverage* coverage = nullptr;  // takes which sides of branches were taken
};

// `inputs` holds every param, buffer, input, random tensor and result of an opaque operation, by name.
// Errors: bad_argument (an input is missing or has another shape), program_invalid (a run-time error of
// section 8: a gather out of range, an integer that does not fit, the position of an extremum of nothing),
// not_yet (an integer beyond 2^53), too_large, deadline.
Result<TensorValues> interpret(const Program& program, const TensorValues& inputs,
                               const InterpretOptions& options = {});

}  // namespace solstice::ir
