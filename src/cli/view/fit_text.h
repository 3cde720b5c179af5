// `solstice list families --fit`: how well the cost models predict.
#pragma once

#include <string>

#include "base/json.h"
#include "flow/fit/fit.h"

namespace solstice::cli {

std::string fit_text(const flow::Fit& fit, const std::string& source);
Json fit_json(const flow::Fit& fit, const std::string& source);

}  // namespace solstice::cli
