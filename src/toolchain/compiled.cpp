#include "toolchain/compiled.h"

namespace solstice::toolchain {

std::vector<const char*> enum_names(Outcome) { return {"ok", "failed", "timed_out", "crashed"}; }

}  // namespace solstice::toolchain
