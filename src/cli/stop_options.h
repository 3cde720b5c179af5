// --eps, --window and --roi of commands that search.
#pragma once

#include <vector>

#include "cli/command.h"
#include "flow/run/optimize.h"

namespace solstice::cli {

std::vector<Parameter> stop_parameters();
Status read_stop_rule(const Invocation& in, flow::OptimizeOptions& out);

}  // namespace solstice::cli
