// `solstice list tools`.
#pragma once

#include <string>

#include "base/result.h"

namespace solstice::cli {

// The built-in tools and `command`, an executable ("command:PROGRAM"; "": none).
Status list_tools(const std::string& command, bool json);

}  // namespace solstice::cli
