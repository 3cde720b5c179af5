// Any bytes become tokens that cover them in order.
#include "lang/lexer.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  solstice::Diagnostics diagnostics;
  int at = 0;
  for (const solstice::lang::Token& token : solstice::lang::lex(text, diagnostics)) {
    if (token.span.begin < at || token.span.end < token.span.begin || token.span.end > static_cast<int>(size))
      std::abort();
    at = token.span.end;
  }
  return 0;
}
