// Proof that two programs define the same outputs (docs/equivalence.md).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "ir/program.h"

namespace solstice::ir {

// A tensor that is left to compare by interpretation, given tensors that come before it in the problem's text.
struct Obligation {
  std::string tensor;
  std::set<std::string> given;
};

// Every output and new buffer value has the same definition in both, up to the names of indices, where all obligations
// are met. Tensors of one name are tried as cut points in text order: what is equal is no longer substituted, so that
// only what differs is compared; what cannot be proved is taken as equal from there on and becomes an obligation. The
// programs have the same interface and no opaque operation. Nothing where an output is left that cannot be one, where
// the candidate may stop where the problem does not, or where the time was not enough.
std::optional<std::vector<Obligation>> obligations(const Program& problem, const Program& candidate,
                                                   Seconds most = Seconds{6});

}  // namespace solstice::ir
