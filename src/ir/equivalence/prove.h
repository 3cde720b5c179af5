// Proof that two programs define the same outputs (docs/language.md, section 10).
#pragma once

#include "ir/program.h"

namespace solstice::ir {

// Every output and new buffer value has the same definition in both, up to the names of indices. Tensors of one name are
// tried as cut points in text order: what is proved equal is no longer substituted, so that only what differs is compared.
// The programs have the same interface.
bool proved_equal(const Program& problem, const Program& candidate);

}  // namespace solstice::ir
