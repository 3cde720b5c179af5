// The reads of constant memory in machine code of Volta and later: instructions of 128 bits with an operand
// c[bank][offset].
//
// In the first 64 bits: the opcode is bits 0-11, of which bits 9-11 are its form; forms 3 and 5 have the operand, with
// its bank in bits 54-58 and its offset in bits 40-53, in words. LDC (0xb82) counts bytes, from bit 38, and adds the
// register of bits 24-31 (255: none). ULDC is 0xab9, and 0xabb with a register. Bits 9-11 of the second 64 are the
// width of both: 0 and 1 for 8 bits, 2 and 3 for 16, 4 for 32, 5 for 64, 6 for 128. Found by comparing with nvdisasm:
// 118,112 instructions of sm_90a (NVRTC 13.0.88).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace solstice::toolchain {

struct ConstantRead {
  int bank = 0, offset = 0, bytes = 4;
  bool indexed = false;  // a register is added to the offset
  auto operator<=>(const ConstantRead&) const = default;
};

// Of one instruction, by its halves.
std::optional<ConstantRead> constant_read(uint64_t first, uint64_t second);

// Adds those of `code` to `out`, which stays ascending and without repetition.
void add_constant_reads(std::string_view code, std::vector<ConstantRead>& out);

}  // namespace solstice::toolchain
