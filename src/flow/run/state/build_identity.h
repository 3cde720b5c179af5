// Identity of this build of Solstice on disk: another build may generate other code for the same text.
#pragma once

#include <string>

namespace solstice::flow {

// A figure of an earlier run holds for one build. Kept with a run's versions as `build`.
const std::string& build_identity();

}  // namespace solstice::flow
