// Any bytes are the text of a disassembler, or an error.
#include <cstdint>

#include "diagnose/sass/facts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Code is read in sections alone; without one most inputs would end at once.
  std::string text = ".section .text.k\n.other k,@\"STO_CUDA_ENTRY\"\n";
  text.append(reinterpret_cast<const char*>(data), size);
  (void)solstice::diagnose::sass_of(text);
  // Places of generated and of given code; no header is there.
  (void)solstice::diagnose::sass_of(text, {"k.cu", {{1, 2, "load"}, {2, 0, ""}}}, "/nowhere");
  (void)solstice::diagnose::sass_of(text, {"k.cu", {}});
  return 0;
}
