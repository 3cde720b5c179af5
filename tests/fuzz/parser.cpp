// Any text parses or says why; what parses prints to a text that parses to the same print.
#include <cstdint>
#include <cstdlib>

#include "lang/parse.h"
#include "lang/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const lang::Program program = lang::parse(text, diagnostics);
  render_text(diagnostics, text, "fuzz");
  if (diagnostics.has_errors()) return 0;
  const std::string printed = lang::print(program);
  Diagnostics again;
  if (lang::print(lang::parse(printed, again)) != printed || again.has_errors()) std::abort();
  return 0;
}
