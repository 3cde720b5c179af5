// The configuration of a kernel's equations and knobs.
#include <numeric>

#include "families/gemm/cutlass/config.h"
#include "families/tensor_core/collective_epilogue.h"

namespace solstice::families::gemm {
namespace {

template <class T, size_t kCount>
T value_of(const std::array<std::pair<T, std::string_view>, kCount>& names, std::string_view text, T otherwise) {
  for (const auto& [each, name] : names) {
    if (name == text) return each;
  }
  return otherwise;
}

// Bytes that divide every line, batch and the offset of an operand.
int64_t operand_alignment(const OperandAccess& x, int64_t line, int64_t k) {
  int64_t out = 16;
  for (const int64_t stride : {x.offset, x.batch, line > 1 && x.line != 1 ? x.line : 0, k > 1 && x.k != 1 ? x.k : 0}) {
    if (stride) out = std::gcd(out, stride * size_of(x.dtype));
  }
  return out;
}

void read_knobs(const ir::Knobs& knobs, CutlassGemm& out) {
  out.grouped = knobs.name_or("grouped", "false") == "true";
  const auto tile = knobs.size_or("tile", {128, 128});
  const auto cluster = knobs.size_or("cluster", {1, 1});
  out.tile_m = static_cast<int>(tile[0]), out.tile_n = static_cast<int>(tile.size() > 1 ? tile[1] : 128);
  out.tile_k = tile.size() > 2 ? static_cast<int>(tile[2]) : 4 * out.k_instruction();
  out.cluster_m = static_cast<int>(cluster[0]), out.cluster_n = static_cast<int>(cluster.size() > 1 ? cluster[1] : 1);
  out.cluster_k = static_cast<int>(cluster.size() > 2 ? cluster[2] : 1);
  out.stages = static_cast<int>(knobs.int_or("stages", 0));
  out.schedule = value_of(kSchedules, knobs.name_or("schedule", "auto"),
                          out.tile_m == 64 ? CutlassSchedule::kPingpong : CutlassSchedule::kCooperative);
  const std::string epilogue = knobs.name_or("epilogue", "auto");
  out.epilogue = epilogue == "auto" ? (out.swaps_operands() ? CutlassEpilogue::kNoSmem : epilogue_of(out))
                                    : value_of(kEpilogues, epilogue, epilogue_of(out));
  out.scheduler = value_of(kSchedulers, knobs.name_or("scheduler", "persistent"), CutlassScheduler::kPersistent);
  out.split = static_cast<int>(knobs.int_or("split", 1));
}

}  // namespace

CutlassGemm cutlass_config(const ir::Program& program, const ir::Kernel& kernel, const Contraction& product) {
  CutlassGemm out;
  out.a = product.a.dtype, out.b = product.b.dtype;
  out.accumulator = is_integer(out.a) && is_integer(out.b) ? DType::kI32 : DType::kF32;
  out.major_a = major_of(product.a, product.m, product.k), out.major_b = major_of(product.b, product.n, product.k);
  out.m = product.m, out.n = product.n, out.k = product.k;
  out.align_a = operand_alignment(product.a, product.m, product.k),
  out.align_b = operand_alignment(product.b, product.n, product.k);
  const auto epilogue =
      collective_epilogue(program, kernel, product.equation, product.node).value_or(CollectiveEpilogue{});
  out.result = epilogue.result, out.align_result = epilogue.align_result;
  out.residuals = epilogue.residuals, out.fused = epilogue.fused;
  read_knobs(kernel.knobs, out);
  return out;
}

}  // namespace solstice::families::gemm
