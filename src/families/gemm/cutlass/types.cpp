#include <algorithm>

#include "families/gemm/cutlass/rules.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::gemm {
namespace {

bool has_instruction(DType t) {
  return t == DType::kF16 || t == DType::kBF16 || t == DType::kF32 || is_fp8(t) || t == DType::kI8 || t == DType::kU8;
}

bool legal_operands(const CutlassGemm& c) {
  if (!has_instruction(c.a) || !has_instruction(c.b)) return false;
  if (size_of(c.a) == size_of(c.b)) return is_integer(c.a) == is_integer(c.b) && (size_of(c.a) == 1 || c.a == c.b);
  if (c.a == DType::kF32 || c.b == DType::kF32) return false;
  const bool narrow_a = size_of(c.a) < size_of(c.b);
  return is_integer(narrow_a ? c.a : c.b) && (narrow_a ? c.major_a : c.major_b) == Major::kK;
}

// The legal accumulators of one instruction; for mixed widths the wide operand decides.
bool legal_accumulator(const CutlassGemm& c) {
  if (is_integer(c.a) && is_integer(c.b)) return c.accumulator == DType::kI32;
  if (c.a == DType::kF16 && c.b == DType::kF16) return c.accumulator == DType::kF32 || c.accumulator == DType::kF16;
  return c.accumulator == DType::kF32;
}

std::string operands_text(const CutlassGemm& c) {
  const auto layout = [](Major major) { return major == Major::kK ? "along k" : "along its lines"; };
  return fmt::format("no tensor-core product of {} (contiguous {}) and {} (contiguous {})", name_of(c.a),
                     layout(c.major_a), name_of(c.b), layout(c.major_b));
}

int64_t alignment_needed(const CutlassGemm& c) { return c.loads_by_tma() ? 16 : 4; }

}  // namespace

void add_type_rules(CutlassRules& rules) {
  rules.push_back(problem_rule<CutlassGemm>(
      "layout.contiguous", "E114", "an operand is contiguous in k or in its rows (columns)",
      [](const CutlassGemm& c) { return c.major_a == Major::kNone || c.major_b == Major::kNone; },
      [](const CutlassGemm&) { return std::string("an operand is contiguous in neither of its dimensions"); }));
  rules.push_back(problem_rule<CutlassGemm>(
      "types.operands", "E118",
      "operands are f16, bf16, f32 (as TF32), 8-bit floats in any mix, or 8-bit integers; 16-bit floats also with "
      "8-bit integers "
      "that are contiguous along k",
      [](const CutlassGemm& c) { return !legal_operands(c); }, operands_text));
  rules.push_back(problem_rule<CutlassGemm>(
      "types.accumulator", "E118",
      "sums are f32 (f16 operands also f16, two 8-bit integers i32): other accumulators have no instruction",
      [](const CutlassGemm& c) { return !legal_accumulator(c); },
      [](const CutlassGemm& c) {
        return fmt::format("no instruction multiplies {} and {} into {}", name_of(c.a), name_of(c.b),
                           name_of(c.accumulator));
      }));
  rules.push_back(problem_rule<CutlassGemm>(
      "layout.8bit", "E114",
      "8-bit operands are contiguous along k: any other layout is loaded through registers, and is wrong or "
      "refused",
      [](const CutlassGemm& c) { return size_of(c.a) == 1 && size_of(c.b) == 1 && !both(c, Major::kK); },
      [](const CutlassGemm& c) { return fmt::format("{} operands that are not contiguous along k", name_of(c.a)); }));
  rules.push_back(error_rule<CutlassGemm>(
      "layout.alignment", "E114",
      "the copy engine needs base, lines and batches of A and B at multiples of 16 bytes; cp_async schedules 4",
      [](const CutlassGemm& c) { return std::min(c.align_a, c.align_b) < alignment_needed(c); },
      [](const CutlassGemm& c) {
        return fmt::format("operands are aligned to {} and {} bytes; `schedule={}` needs {}", c.align_a, c.align_b,
                           text_of(kSchedules, c.schedule), alignment_needed(c));
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "layout.result_alignment", "E114",
      "an epilogue through shared memory needs base, lines and batches of the result, and of every tensor that "
      "it reads, at multiples of 16 bytes",
      [](const CutlassGemm& c) { return c.epilogue != CutlassEpilogue::kNoSmem && c.align_result < 16; },
      [](const CutlassGemm& c) {
        return fmt::format("the result, or a tensor of its shape, is aligned to {} bytes; `epilogue={}` needs 16",
                           c.align_result, text_of(kEpilogues, c.epilogue));
      }));
}

}  // namespace solstice::families::gemm
