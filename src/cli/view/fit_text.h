// `solstice list families --fit`: how well the cost models predict.
#pragma once

#include <string>

#include "base/json.h"
#include "flow/fit/fit.h"
#include "flow/fit/originals.h"

namespace solstice::cli {

std::string fit_text(const flow::Fit& fit, const std::string& source);
Json fit_json(const flow::Fit& fit, const std::string& source);
// The predicted time of originals against measured ones.
std::string originals_text(const flow::OriginalFit& fit, const std::string& source);
Json originals_json(const flow::OriginalFit& fit, const std::string& source);

}  // namespace solstice::cli
