#include "cli/harmless.h"

namespace solstice::cli {

std::string harmless(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, in UTF-8, are control characters too.
    const bool high = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (high) ++i;
    out += c < 0x20 || c == 0x7f || high ? ' ' : text[i];
  }
  return out;
}

std::string harmless_lines(std::string_view text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    out += harmless(text.substr(begin, end - begin));
    if (end == std::string_view::npos) break;
    out += '\n';
    begin = end + 1;
  }
  return out;
}

}  // namespace solstice::cli
