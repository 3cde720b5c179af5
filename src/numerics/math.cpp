#include "numerics/math.h"

#include <algorithm>

namespace solstice::numerics {

const std::vector<MathInfo>& all_maths() {
  // k_step: wgmma adds 32 bytes of k an instruction, 8 elements for f64.
  static const std::vector<MathInfo> table = {
      {Math::kSimt, "simt", "f32", false, 24, 1, 1, 1, false, false, "fp32 fused multiply-adds on the ordinary pipe"},
      {Math::kTF32, "tf32", "tf32", true, 11, 1, 1, 8, false, false, "operands rounded to TF32"},
      {Math::kTF32x3, "tf32x3", "tf32", true, 11, 2, 3, 8, true, false, "two TF32 planes, full range, fp32 accuracy"},
      {Math::kBF16, "bf16", "bf16", true, 8, 1, 1, 16, false, false, "operands rounded to bf16"},
      {Math::kBF16x3, "bf16x3", "bf16", true, 8, 2, 3, 16, true, false, "two bf16 planes: between TF32 and fp32"},
      {Math::kBF16x6, "bf16x6", "bf16", true, 8, 3, 6, 16, true, false, "three bf16 planes, full range, fp32 accuracy"},
      {Math::kFP16, "fp16", "f16", true, 11, 1, 1, 16, false, true, "operands rounded to fp16; fp32 operands scaled"},
      {Math::kFP16x3, "fp16x3", "f16", true, 11, 2, 3, 16, true, true,
       "two scaled fp16 planes behind a range guard, fp32 accuracy"},
      {Math::kFP8, "fp8", "f8", true, 4, 1, 1, 32, true, false, "e4m3 and e5m2 operands as they are stored"},
      {Math::kF64, "f64", "f64", true, 53, 1, 1, 8, false, false, "fp64 on tensor cores"},
  };
  return table;
}

const MathInfo& info(Math math) {
  const auto is_it = [&](const MathInfo& each) { return each.math == math; };
  return *std::find_if(all_maths().begin(), all_maths().end(), is_it);
}

std::optional<Math> math_from_name(std::string_view name) {
  for (const MathInfo& each : all_maths()) {
    if (each.name == name) return each.math;
  }
  return std::nullopt;
}

std::string pipe_name(Math math) { return (info(math).tensor ? "tensor." : "simt.") + std::string(info(math).format); }

bool exact_operands(Math math, DType dtype) {
  switch (math) {
    case Math::kSimt:
    case Math::kF64:
      return true;  // SIMT works in the operands' own precision
    case Math::kTF32:
    case Math::kTF32x3:
    case Math::kFP16:
    case Math::kFP16x3:
      return dtype == DType::kF16 || dtype == DType::kE4M3 || dtype == DType::kE5M2;
    case Math::kBF16:
    case Math::kBF16x3:
    case Math::kBF16x6:
      return dtype == DType::kBF16 || dtype == DType::kE4M3 || dtype == DType::kE5M2;
    case Math::kFP8:
      return dtype == DType::kE4M3 || dtype == DType::kE5M2;
  }
  return false;
}

}  // namespace solstice::numerics
