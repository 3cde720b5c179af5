#include "flow/run/gpu/memory.h"

#include <fmt/format.h>

#include "evaluate/lower.h"
#include "flow/run/report/report_text.h"

namespace solstice::flow {
MemoryNeed memory_need(const ir::Program& program) {
  MemoryNeed need;
  for (const ir::Tensor& tensor : program.tensors) {
    if (!tensor.dtype) continue;
    const double elements = static_cast<double>(evaluate::spanned_elements(tensor));
    const Bytes bytes(elements * static_cast<double>(size_of(*tensor.dtype)));
    using ir::TensorKind;
    const bool state = tensor.kind == TensorKind::kParam || tensor.kind == TensorKind::kBuffer;
    if (state || tensor.kind == TensorKind::kInput) need.given += bytes;
    if (state) need.state += bytes;
    if (state) need.oracle += Bytes(elements * 8);
    if (tensor.kind != TensorKind::kOutput && tensor.into < 0) continue;
    need.results += bytes;
    need.exact += Bytes(elements * 8);
    need.oracle += Bytes(elements * 8);
  }
  return need;
}

bool fits_another_case(const MemoryNeed& need, Bytes available) {
  constexpr double kShare = 0.25;  // the full verification's cases need the rest
  return need.another_case() <= available * kShare &&
         need.another_case() + need.given * 2 + need.results * 2 + need.oracle <= available;
}

namespace {

Error too_large(const MemoryNeed& need, const std::string& available, const char* way_out) {
  return fail(Code::too_large,
              fmt::format("measuring takes at least {} of GPU memory and {}: inputs and parameters {} and results {}, "
                          "each for PyTorch and for the candidate, and {} for the float64 oracle",
                          bytes_text(need.total()), available, bytes_text(need.given), bytes_text(need.results),
                          bytes_text(need.oracle)),
              fmt::format("use smaller sizes or {}", way_out));
}

}  // namespace

Status fits(const MemoryNeed& need, Bytes available) {
  if (need.total() <= available) return success();
  return too_large(need, bytes_text(available) + " are free",
                   "a GPU with more memory, or predict for another machine (--device model --machine NAME)");
}

Status fits(const MemoryNeed& need, const machine::Machine& machine) {
  if (need.total() <= machine.memory) return success();
  return too_large(need, fmt::format("{} has {}", machine.name, bytes_text(machine.memory)),
                   "a machine with more memory (--machine)");
}

}  // namespace solstice::flow
