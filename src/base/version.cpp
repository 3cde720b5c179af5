#include "base/version.h"

namespace solstice {

std::string_view version() { return SOLSTICE_VERSION; }

}  // namespace solstice
