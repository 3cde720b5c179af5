// The real meaning at single elements of tensors, at the program's own dims: inputs are functions of the element, what
// is computed from them is evaluated where it is read and kept, and no tensor is allocated. What an element costs is
// the size of its cone, so that one of a product over 8192 costs 8192 terms, whatever the other dims are.
//
// Of a recurrence the steps up to the one that is read are run, for those of its other indices that depend on each
// other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ir/interpret/coverage.h"
#include "ir/program.h"

namespace solstice::ir {

// Elements at row-major positions of a param, buffer, input, draw or opaque result.
using InputFunction = std::function<void(int tensor, const int64_t* at, int64_t n, double* out)>;

class PointInterpreter {
 public:
  // `program` must outlive it.
  explicit PointInterpreter(const Program& program);
  ~PointInterpreter();

  // Forgets all values; `operations` is what may be spent from here on (instructions times elements).
  void begin(InputFunction inputs, int64_t operations, std::optional<Deadline> deadline = std::nullopt);

  // Errors: too_large (the operations are spent, or a cone is too deep), program_invalid (a run-time error of
  // docs/language.md, section 8), not_yet (an integer beyond 2^53), deadline.
  Result<std::vector<double>> at(int tensor, const std::vector<int64_t>& positions);
  int64_t operations() const;              // since begin()
  void add_coverage(Coverage& out) const;  // of everything evaluated so far

 private:
  class Evaluator;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace solstice::ir
