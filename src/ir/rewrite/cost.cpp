#include "ir/rewrite/cost.h"

namespace solstice::ir {
namespace {

// On an H200 tensor cores do a multiply-add of split-precision fp16 in a fifth of a slot, the special-function unit
// takes eight, a byte of DRAM seven. Half of the bytes: neighbours are usually fused.
constexpr double kContractionSlots = 0.2;
constexpr double kSpecialSlots = 8;
constexpr double kByteSlots = 3.5;

}  // namespace

Cost operator-(const Cost& a, const Cost& b) {
  return {a.operations - b.operations, a.bytes - b.bytes, a.slots - b.slots};
}

Cost program_cost(const Program& program, const Needs& needs) {
  const Count counted = count(program, needs);
  const std::vector<DType> dtypes = dtypes_of(program);
  const Work work = counted.total();
  Cost out;
  out.operations = 2 * work.contraction + work.simt + work.sfu + work.integer;
  for (const EquationCount& each : counted.equations) {
    out.bytes += each.elements *
                 static_cast<double>(size_of(dtypes[static_cast<size_t>(program.equation(each.equation).target)]));
    for (const ReadCount& read : each.reads) {
      out.bytes += read.elements * static_cast<double>(size_of(dtypes[static_cast<size_t>(read.tensor)]));
    }
  }
  out.slots = kContractionSlots * work.contraction + work.simt + kSpecialSlots * work.sfu + work.integer +
              kByteSlots * out.bytes;
  return out;
}

}  // namespace solstice::ir
