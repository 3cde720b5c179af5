// Cases in which one float input or parameter is scaled alone until a result moves by many limits: what leaves it out
// is then wrong, however small its share in the results of other inputs.
#pragma once

#include <string>
#include <vector>

#include "flow/run/problem/cases.h"

namespace solstice::flow {

// Names for CaseRequest::scaled.
std::vector<std::string> scalable_tensors(const Problem& problem);

// `limit`: of the normwise error, the widest of the results.
CaseRequest scaled_request(const std::string& name, double limit);
// The widest normwise limit of a verdict.
double widest_limit(const Verdict& verdict);

// Puts the candidate that the judge holds, which passed with `verdict`, to these cases. A case that memory has no room
// for, that `forward` raises on, or whose wrong elements its inputs may not determine, refuses nobody: the full
// verification decides there. Errors: those of the oracle and of the judge.
Result<Verdict> verify_scaled(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                              const PreparedCase& kept, Verdict verdict);

}  // namespace solstice::flow
