// Registers that an instruction reads and writes, from the text of its operands. Zero registers are left out.
#pragma once

#include <bitset>
#include <string_view>
#include <vector>

#include "diagnose/sass/instruction.h"

namespace solstice::diagnose::sass {

// Registers of a thread, then those of a warp ("uniform").
inline constexpr int kThreadRegisters = 256, kUniformRegisters = 64;
using Registers = std::bitset<kThreadRegisters + kUniformRegisters>;

// The parts of a list of operands: commas inside brackets do not count.
std::vector<std::string_view> split_operands(std::string_view operands);

// The first register of an operand ("-R12.reuse", "|UR4|", "R2.64"); -1: it has none.
int register_of(std::string_view operand);

struct Uses {
  Registers writes;
  Registers reads;      // as values
  Registers addresses;  // to find memory by
};

Uses uses_of(const Instruction& instruction);

}  // namespace solstice::diagnose::sass
