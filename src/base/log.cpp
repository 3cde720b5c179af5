#include "base/log.h"

#include <cstdio>
#include <string>

namespace solstice {

// One write a line: lines of several threads do not mix.
void log_warning(std::string_view message, const Json& fields) {
  std::string line = "solstice: warning: " + std::string(message);
  if (!fields.is_null()) line += " " + fields.dump();
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace solstice
