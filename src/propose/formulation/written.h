// Programs that somebody else wrote, a language model or a person, as formulations that the expert varies.
#pragma once

#include <string>

#include "propose/formulation/formulation.h"

namespace solstice::propose {

// Its kernels, each with the schedule that it was written with first, and then what families propose for the same
// equations. A kernel of device code (`by cuda`) and one of a definition have their own only. Rendered, a choice is the
// text with other `by` clauses, and the first choice the very text. It has no other cuts. Errors: program_invalid;
// bad_argument where it has no kernels; those of the cost models.
Result<Formulation> formulate_written(const std::string& program, std::string label, const PlanningContext& context);

// The program as it is printed, without comments; the text itself where it does not parse.
std::string without_comments(const std::string& program);

}  // namespace solstice::propose
