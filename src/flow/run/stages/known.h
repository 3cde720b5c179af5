// What earlier runs measured of the same problem with the same program on the same machine, driver and build of
// Solstice. It orders the search; no such figure ever becomes a result.
#pragma once

#include <string>
#include <vector>

#include "flow/run/state/run.h"

namespace solstice::flow {

std::vector<propose::Known> known_candidates(Session& state);

// What a figure holds for: versions that go into the run's record beside those of the report.
const std::string& build_identity();

}  // namespace solstice::flow
