// Signs and finiteness of a term's values, whatever the inputs.
#pragma once

#include <unordered_map>

#include "ir/normal/terms/pool.h"

namespace solstice::ir::normal {

class Signs {
 public:
  explicit Signs(const Pool& pool) : pool_(pool) {}

  // For every finite input; positive is finite, too: (sqrt(x) + 1) / (sqrt(x) + 1) is 1 nowhere below 0.
  bool positive(TermId t);
  bool nonnegative(TermId t);
  // No division by what may be 0, root or logarithm of what may be negative, extremum of what may be nothing.
  bool finite(TermId t);

 private:
  enum class Sign : uint8_t { kUnknown, kNonnegative, kPositive };
  Sign of(TermId t);
  Sign found(TermId t);
  Sign of_read(const Term& t);
  Sign of_op(const Term& t);
  Sign of_reduce(const Term& t);
  Sign of_product(const Term& t);
  Sign of_sum(const Term& t);

  bool finite_op(const Term& t);
  bool finite_product(const Term& t);

  const Pool& pool_;
  std::unordered_map<TermId, Sign> known_;
  std::unordered_map<TermId, bool> finite_;
};

}  // namespace solstice::ir::normal
