// The machine that most tests of family gemm plan for.
#pragma once

#include "machine/machine.h"

namespace solstice::families {

inline const machine::Machine& h200() {
  static const machine::Machine machine = machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml").value();
  return machine;
}

}  // namespace solstice::families
