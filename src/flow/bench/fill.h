// Parts of a bench's row, from what runs and the oracle answer.
#pragma once

#include <map>
#include <string>

#include "flow/bench/opponents.h"
#include "flow/run/optimize_outcome.h"
#include "record/bench.h"

namespace solstice::flow {

std::map<std::string, std::string> made_with(const Report& report);  // solstice, build, device, driver, torch
void fill_variant(BenchVariant& variant, const OptimizeOutcome& outcome);
void fill_error(BenchVariant& variant, const Error& error);
BenchSide side_of(const OracleRival& rival);
BenchFlaws flaws_of(const OpponentsFound& found);

}  // namespace solstice::flow
