// Base64 (RFC 4648, padded): how bytes travel in JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace solstice {

std::string base64_encode(std::string_view bytes);
Result<std::string> base64_decode(std::string_view text);  // strict: error bad_json on anything else

}  // namespace solstice
