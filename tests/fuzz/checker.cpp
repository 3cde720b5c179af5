// Any text that parses is bound or refused with diagnostics; work is bounded by the text's length.
#include <cstdint>

#include "ir/bind.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace solstice;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "fuzz", diagnostics);
  if (!program.ok() && !diagnostics.has_errors()) __builtin_trap();
  render_json(diagnostics, text, "fuzz");
  return 0;
}
