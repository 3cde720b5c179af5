#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace solstice {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> make_values() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  for (size_t i = 0; i < kDigits.size(); ++i) values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr std::array<int8_t, 256> kValues = make_values();

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  const Error bad = fail(Code::bad_json, "the text is not base64");
  if (text.size() % 4 != 0) return bad;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const bool pad = i + k >= text.size() - padding;
      const int8_t value = pad ? int8_t{0} : kValues[static_cast<unsigned char>(text[i + k])];
      if (value < 0) return bad;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (int shift = 16; shift >= 0; shift -= 8) out += static_cast<char>(group >> shift & 255);
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace solstice
