// What one instruction does with the address of the parameters (parameter_window.h), and what it leaves where.
#pragma once

#include "evaluate/given/window_state.h"
#include "toolchain/machine_code.h"

namespace solstice::evaluate {

// The half that a word of an operand of `of` holds, where `of` runs.
Half held_by(const toolchain::MachineInstruction& of, const toolchain::MachineOperand& operand, int word,
             const WindowState& held);

// Makes of the state before `of` the one after it; false, and the state as it was, where `of` may not use it so.
bool window_step(const toolchain::MachineInstruction& of, WindowState& held);

}  // namespace solstice::evaluate
