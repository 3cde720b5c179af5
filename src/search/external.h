// A policy that is an executable. It reads one JSON object a line and answers each with one:
//
//   {"schema": "solstice.policy/1", "seed": 7}      first; answered with {"name": "..."}
//   {"events": [..]}                                what happened since (record of search::Event)
//
// and the answer is {"expand": NODE}, {"again": NODE, "precision": "precise"} (more precisely than before) or {"wait":
// true}. It sees everything that happened and nothing else, from the first event on, also where a run is resumed.
#pragma once

#include <memory>
#include <string>

#include "search/policy.h"

namespace solstice::search {

// `command` is split at blanks; the program is looked up in PATH. Errors: not_found, process_failed, deadline (30 s an
// answer), bad_argument for an answer that makes no sense.
Result<std::unique_ptr<Policy>> start_external(const std::string& command, uint64_t seed);

}  // namespace solstice::search
