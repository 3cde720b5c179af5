// `solstice list tools --stats`.
#pragma once

#include <string>

#include "flow/history/tool_stats.h"

namespace solstice::cli {

std::string tool_stats_text(const flow::StoredOutcomes& found, const std::string& store);
Json tool_stats_json(const flow::StoredOutcomes& found);

}  // namespace solstice::cli
