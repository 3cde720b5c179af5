#include "toolchain/constant_reads.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace solstice::toolchain {
namespace {

constexpr size_t kInstructionBytes = 16;
constexpr uint64_t kLoad = 0xb82, kUniformLoad = 0xab9;
constexpr uint64_t kBarrier = 0xb1d;  // has form 5, and no such operand
constexpr uint64_t kNoRegister = 0xff;

uint64_t bits(uint64_t word, int first, int count) { return word >> first & ((uint64_t{1} << count) - 1); }

}  // namespace

void add_constant_reads(std::string_view code, std::vector<ConstantRead>& out) {
  for (size_t i = 0; i + kInstructionBytes <= code.size(); i += kInstructionBytes) {
    uint64_t word = 0, second = 0;
    std::memcpy(&word, code.data() + i, sizeof(word));
    std::memcpy(&second, code.data() + i + sizeof(word), sizeof(second));
    const uint64_t opcode = bits(word, 0, 12), form = bits(word, 9, 3);
    if ((form != 3 && form != 5) || opcode == kBarrier) continue;
    const uint64_t offset = opcode == kLoad ? bits(word, 38, 16) : 4 * bits(word, 40, 14), index = bits(word, 24, 8);
    const bool indexed = opcode == kLoad ? index != kNoRegister : opcode == kUniformLoad && index != 0;
    const bool load = opcode == kLoad || opcode == kUniformLoad;
    const int bytes = !load || bits(second, 9, 3) <= 4 ? 4 : bits(second, 9, 3) == 5 ? 8 : 16;
    out.push_back({static_cast<int>(bits(word, 54, 5)), static_cast<int>(offset), bytes, indexed});
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace solstice::toolchain
