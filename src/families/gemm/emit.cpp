#include "families/gemm/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/integer.h"
#include "families/gemm/prologue.h"
#include "families/gemm/stream/stream.h"
#include "families/tensor_core/functor.h"

namespace solstice::families::gemm {
namespace {

std::string_view fp8_text(DType dtype) { return dtype == DType::kE4M3 ? "mma::E4M3" : "mma::E5M2"; }

// Name of a math with planes; that of a product may depend on its operands.
std::string math_text(const Settings& s) {
  switch (s.math) {
    case Math::kFP16:
      return s.scaled ? "mainloop::Fp16Scaled" : "mainloop::Fp16";
    case Math::kFP16x3:
      return "mainloop::Fp16x3";
    case Math::kBF16:
      return "mainloop::Bf16";
    case Math::kBF16x3:
      return "mainloop::Bf16x3";
    case Math::kBF16x6:
      return guards_sums(s) ? "mainloop::Bf16x6Lifted" : "mainloop::Bf16x6";
    case Math::kTF32:
      return "mainloop::Tf32";
    default:
      return "mainloop::Tf32x3";
  }
}

std::string math_text(const Settings& s, const Contraction& c) {
  if (s.math != Math::kFP8) return math_text(s);
  return fmt::format("mainloop::Fp8<{}, {}>", fp8_text(c.a.dtype), fp8_text(c.b.dtype));
}

std::string guard_text(const std::vector<SplitPlan>& operands, const Settings& s) {
  const std::string second = operands.size() > 2 ? fmt::format(", guard_b1, {}", operands[2].blocks) : "";
  const bool of_a = has_guard(s, operands[0]), of_b = has_guard(s, operands[1]);
  return fmt::format("const gemm::Guard guard{{{}, {}, {}, {}{}}};\n", of_a ? "guard_a" : "nullptr",
                     of_b ? "guard_b" : "nullptr", of_a ? operands[0].blocks : 0, of_b ? operands[1].blocks : 0,
                     second);
}

// Something of every operand: "a", "b" and "b1" in a pattern.
template <class Text>
std::string of_operands(const std::vector<SplitPlan>& operands, Text&& text) {
  std::string out;
  for (const SplitPlan& x : operands) out += text(x.letter());
  return out;
}

std::string triangle_text(const Problem& problem) {
  if (!is_triangular(problem.product, problem.epilogue)) return "{}";
  const codegen::EpilogueDomain& d = *problem.epilogue.code.domain;
  return fmt::format("{{{}, {}, {}}}", d.coefficients[1], d.coefficients[2], d.base);
}

int split_vector(const SplitPlan& x) {
  return !x.operand.made && x.operand.dtype == DType::kF32 ? vector_of(x.operand, x.major, 4) : 1;
}

}  // namespace

// The operand of the split pass; `suffix`: of its workspace's parameters.
std::string split_operand_text(const SplitPlan& x, const OperandText& text, std::string_view suffix,
                               const Settings& s) {
  const auto of = [&](const char* what) { return s.scaled ? fmt::format("{}{}", what, suffix) : "nullptr"; };
  return fmt::format("const gemm::Operand<{}> x{{{}, i64({}), i64({}), {}, {}, {}, planes{}, {}, {}, {}, {}{}}};\n",
                     text.type, text.data, x.operand.batch, x.stride, x.batches, x.lines, x.length, suffix,
                     x.plane_stride, of("scales"), x.scale_stride, of("guard"), text.made);
}

std::string split_source(const std::string& entry, const std::vector<SplitPlan>& splits, const Settings& s,
                         int64_t signals) {
  std::string above, parameters, body;
  int64_t first = 0;
  int held = split_blocks(s, Major::kK);  // blocks that an SM is to hold at once
  for (size_t i = 0; i < splits.size(); ++i) {
    const SplitPlan& x = splits[i];
    held = std::min(held, split_blocks(s, x.major));
    const OperandText text = operand_text(x.operand, fmt::format("x{}", i));
    above += text.above;
    parameters += fmt::format("{}, u8* SOLSTICE_RESTRICT planes{}", text.parameters, i);
    if (s.scaled)
      parameters += fmt::format(", u8* SOLSTICE_RESTRICT scales{0}, gemm::GuardWord* SOLSTICE_RESTRICT guard{0}", i);
    const std::string short_lines = x.lanes > 0 ? fmt::format(", {}, {}", x.lanes, x.pieces) : "";
    const std::string call =
        fmt::format("{}gemm::split_operand<{}, mainloop::kScaleBytes{}, {}, {}{}>(x, block - {}, {});\n",
                    split_operand_text(x, text, std::to_string(i), s), math_text(s), x.scale_size == 1 ? "A" : "B",
                    major_text(x.major), split_vector(x), short_lines, first, x.blocks);
    first += x.blocks;
    const bool last = i + 1 == splits.size();
    if (i == 0 && signals > 0) body += fmt::format("if (block == 0) gemm::clear_signals(signals, {});\n", signals);
    body += last ? call : fmt::format("if (block < {}) {{\n{}return;\n}}\n", first, call);
  }
  if (signals > 0) parameters += ", int* SOLSTICE_RESTRICT signals";
  return fmt::format(
      "#include \"gemm/split.h\"\n#include \"math/storage.h\"\n{}{}\nusing namespace solstice;\n\n"
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS(gemm::kSplitThreads, {}) {}({}) {{\n"
      "ptx::let_next_kernel_start();\nconst int block = static_cast<int>(blockIdx.x);\n{}}}\n",
      above.empty() ? "" : "#include \"math/special.h\"\n#include \"math/vector.h\"\n", prologue_head(above), held,
      entry, parameters.substr(2), body);
}

std::string tensor_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                          const Settings& s, const Layout& layout, const std::vector<SplitPlan>& operands,
                          const StreamK& shared) {
  const Contraction& c = problem.product;
  const SplitPlan &a = operands[0], &b = operands[1];
  const bool tma = stores_by_copy_engine(program, problem.product, problem.epilogue);
  const Functor functor = functor_of(program, problem.product, problem.epilogue, tma);
  const bool shares = shared.shared > 0;
  const std::string scheduler = shares                                             ? "StreamK"
                                : is_triangular(problem.product, problem.epilogue) ? "Triangular"
                                                                                   : "Persistent";
  const std::string config = fmt::format(
      "gemm::TensorConfig<{}, {}, {}, gemm::TensorTile<{}, {}, {}>, gemm::TensorSlots<{}, {}>, gemm::Along{}<{}>, "
      "scheduler::{}, gemm::{}>",
      math_text(s, c), major_text(a.major), major_text(b.major), layout.n, layout.halves, layout.groups, layout.slots_a,
      layout.slots_b, s.cluster_n > 1 ? "N" : "M", s.cluster * s.cluster_n, scheduler, s.dual ? "TwoSums" : "OneSum");
  std::string parameters = of_operands(operands, [](auto x) {
                             return fmt::format(", const __grid_constant__ TensorMap map_{}", x);
                           }).substr(2);
  if (tma) parameters += ", const __grid_constant__ TensorMap map_out";
  if (s.scaled) parameters += of_operands(operands, [](auto x) { return fmt::format(", const u8* scales_{}", x); });
  if (shares) parameters += ", float* partials, int* signals";
  const std::string tail =
      shares ? fmt::format(", {}, {{{}, {}, {}}}, {{partials, signals}}", s.dual && s.scaled ? "scales_b1" : "nullptr",
                           shared.whole(), shared.shared, shared.workers)
      : s.dual && s.scaled ? ", scales_b1"
                           : "";
  const std::string scales = s.scaled ? "scales_a, scales_b" : "nullptr, nullptr";
  return fmt::format(
      "{}using Config = {};\n\nSOLSTICE_KERNEL void "
      "SOLSTICE_BOUNDS(Config::kThreads, 1) {}({}{}) {{\n"
      "const gemm::Problem problem{{{}, {}, {}, {}, {}, {}, {}, {}, {}{}}};\n"
      "gemm::run_tensor<Config>(map_a, map_b, {}, problem, Epilogue{{{}}}{});\n}}\n",
      head_text(functor, {"gemm/tensor.h"}), config, entry, parameters, functor.parameters, c.m, c.n, c.k, c.batches,
      s.group, scales, a.scale_stride, b.scale_stride, triangle_text(problem), tail, tma ? "map_out" : "map_a",
      functor.arguments, s.dual ? ", &map_b1" : "");
}

int finish_ways(const Settings& s) { return s.split >= 16 ? 8 : s.split >= 6 ? 4 : 1; }
int finish_vector(const Problem& problem) { return problem.product.n % 4 == 0 ? 4 : 1; }

std::string simt_source(const std::string& entry, const ir::Program& program, const Problem& problem, const Settings& s,
                        bool guarded, const std::vector<SplitPlan>& operands) {
  const Contraction& c = problem.product;
  const SplitPlan &a = operands[0], &b = operands[1];
  const Functor functor = functor_of(program, problem.product, problem.epilogue, false);
  const auto wide = [](const SplitPlan& x) {
    return !x.operand.made && x.operand.dtype == DType::kF32 && x.major != Major::kNone &&
           vector_of(x.operand, x.major, 4) == 4;
  };
  std::string above, parameters, values;
  for (const SplitPlan& x : operands) {
    const OperandText text = operand_text(x.operand, fmt::format("operand_{}", x.letter()));
    above += text.above;
    parameters += text.parameters;
    values += fmt::format("const gemm::StridedOperand<{}> {}{{{}, i64({}), i64({}), i64({}){}}};\n", text.type,
                          x.letter(), text.data, x.operand.batch, x.operand.line, x.operand.k, text.made);
  }
  const bool finishes = guarded && s.stream != Streamed::kNone;
  std::string guard;
  for (const SplitPlan& x : operands) {
    if (guarded && has_guard(s, x)) guard += fmt::format(", const gemm::GuardWord* guard_{}", x.letter());
  }
  if (finishes) guard += ", const float* SOLSTICE_RESTRICT partial";
  const bool whole = problem.epilogue.resident.has_value();
  const std::string finish =
      finishes ? fmt::format("{{\ngemm::run_finish<{}, {}, {}>(partial, problem, Epilogue{{{}}});\nreturn;\n}}\n",
                             s.split, finish_ways(s), finish_vector(problem), functor.arguments)
               : "{\nif (blockIdx.x == 0) ptx::wait_for_previous_kernel();\nreturn;\n}\n";
  // A fallback decides while the product runs, from the split pass's guard words; one block ends after the product.
  const std::string wait = "ptx::wait_for_previous_kernel();\n";
  const std::string decide = !guarded ? ""
                                      : fmt::format("{}{}if (gemm::split_suffices(guard)) {}{}", finishes ? wait : "",
                                                    guard_text(operands, s), finish, finishes ? "" : wait);
  return fmt::format(
      "{}{}\nSOLSTICE_KERNEL void SOLSTICE_BOUNDS(gemm::kSimtThreads, 2) {}({}{}{}) {{\nconst gemm::SimtProblem "
      "problem{{{}, {}, {}, {}, {}}};\n{}{}"
      "gemm::run_simt{}<{}, {}, {}, {}{}>(a, b, problem, Epilogue{{{}}}{});\n}}\n",
      head_text(functor, {"gemm/decide.h", finishes ? "gemm/finish.h"
                                           : whole  ? "gemm/simt_rows.h"
                                                    : "gemm/simt.h"}),
      prologue_head(above), entry, parameters.substr(2), guard, functor.parameters + (whole ? ", float* sums" : ""),
      c.m, c.n, c.k, c.batches, s.group, decide, values, whole ? "_rows" : "", major_text(a.major), major_text(b.major),
      wide(a) ? 4 : 1, std::all_of(operands.begin() + 1, operands.end(), wide) ? 4 : 1, s.dual ? ", 2" : "",
      functor.arguments,
      s.dual  ? ", b1"
      : whole ? ", sums"
              : "");
}

}  // namespace solstice::families::gemm
