// Where a line of generated code comes from: what leads from machine code with line tables back to the program.
#pragma once

#include <string>

namespace solstice {

struct SourceLine {
  int equation = 0;       // its number in the kernel, from 1; 0: of none in particular
  int results = 0;        // that of what follows from it in an epilogue: of a line that calls the whole kernel
  std::string part = {};  // of the kernel: "load", "store"; "": of none in particular
  bool operator==(const SourceLine&) const = default;
};

}  // namespace solstice
