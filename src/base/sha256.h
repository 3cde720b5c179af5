// SHA-256 (FIPS 180-4), where Python has to compute the same: hashes in a drop-in's recording.
#pragma once

#include <string>
#include <string_view>

namespace solstice {

std::string sha256_hex(std::string_view bytes);  // 64 digits

}  // namespace solstice
