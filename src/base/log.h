// Warnings that no result carries: one line each, on stderr. Libraries log, they never print; what the user asked for
// is printed by src/cli alone.
#pragma once

#include <string_view>

#include "base/json.h"

namespace solstice {

void log_warning(std::string_view message, const Json& fields = Json());

}  // namespace solstice
