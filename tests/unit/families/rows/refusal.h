// The reason why family `rows` does not emit a program.
#pragma once

#include <string>

#include "unit/families/text_program.h"

namespace solstice::families {

// "" if it emits the program.
inline std::string rows_refusal(const ir::Program& program) {
  const auto out = find_family("rows")->generate({program, small_machine()}, program.kernels.front());
  return out.ok() ? "" : out.error().text();
}

}  // namespace solstice::families
