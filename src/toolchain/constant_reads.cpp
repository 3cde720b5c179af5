#include "toolchain/constant_reads.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace solstice::toolchain {
namespace {

constexpr size_t kBytes = 16;  // of an instruction
constexpr uint64_t kLoad = 0xb82, kUniformLoad = 0xab9, kUniformIndexedLoad = 0xabb;
constexpr uint64_t kBarrier = 0xb1d;  // has form 5, and no such operand
constexpr uint64_t kNoRegister = 0xff;

uint64_t bits(uint64_t word, int first, int count) { return word >> first & ((uint64_t{1} << count) - 1); }

}  // namespace

std::optional<ConstantRead> constant_read(uint64_t first, uint64_t second) {
  const uint64_t opcode = bits(first, 0, 12), form = bits(first, 9, 3);
  if ((form != 3 && form != 5) || opcode == kBarrier) return std::nullopt;
  const uint64_t offset = opcode == kLoad ? bits(first, 38, 16) : 4 * bits(first, 40, 14), index = bits(first, 24, 8);
  const bool uniform = opcode == kUniformLoad || opcode == kUniformIndexedLoad;
  const bool indexed =
      opcode == kLoad ? index != kNoRegister : opcode == kUniformIndexedLoad || (opcode == kUniformLoad && index != 0);
  const bool load = opcode == kLoad || uniform;
  constexpr int kBytesOf[] = {1, 1, 2, 2, 4, 8, 16, 16};
  const int bytes = load ? kBytesOf[bits(second, 9, 3)] : 4;
  return ConstantRead{static_cast<int>(bits(first, 54, 5)), static_cast<int>(offset), bytes, indexed};
}

void add_constant_reads(std::string_view code, std::vector<ConstantRead>& out) {
  for (size_t i = 0; i + kBytes <= code.size(); i += kBytes) {
    uint64_t first = 0, second = 0;
    std::memcpy(&first, code.data() + i, sizeof(first));
    std::memcpy(&second, code.data() + i + sizeof(first), sizeof(second));
    if (const auto read = constant_read(first, second)) out.push_back(*read);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace solstice::toolchain
