#include "families/gemm/emit.h"

#include <fmt/format.h>

#include "families/gemm/prologue.h"
#include "families/tensor_core/functor.h"

namespace solstice::families::gemm {
namespace {

// Neighbouring k of the held operand that may be loaded at once: `elements` or 1.
int held_vector(const StreamPlan& p, int elements) {
  return p.held.k == 1 && vector_of(p.held, Major::kK, elements) == elements ? elements : 1;
}

const char* side_text(const StreamPlan& p) { return p.rows_are_m ? "gemm::StreamsA" : "gemm::StreamsB"; }

std::string gemv_config(const Settings& s, const StreamPlan& p) {
  const GemvShape shape = gemv_shape(p, s);
  if (s.math != Math::kSimt)
    return fmt::format("GemvMmaConfig<{}, {}, {}, {}, {}, {}, {}, {}, {}, {}>", side_text(p),
                       s.math == Math::kFP16 ? "Half" : "BFloat", major_text(p.major), held_vector(p, 8), p.columns,
                       s.split, shape.tiles, shape.ahead, shape.warps, shape.blocks);
  return fmt::format("GemvConfig<{}, {}, {}, {}, {}, {}>", side_text(p), major_text(p.major), p.vector == 4 ? 4 : 1,
                     p.held.dtype == DType::kF32 ? held_vector(p, 4) : 1, p.columns, s.split);
}

}  // namespace

std::string stream_source(const std::string& entry, const Problem& problem, const Settings& s, const StreamPlan& p,
                          int64_t scale_stride) {
  const Contraction& c = problem.product;
  // The contiguous one of an operand's strides is 1 even where its extent is, and so its stride 0.
  const int64_t line = p.major == Major::kK ? p.streamed.line : 1, k = p.major == Major::kK ? 1 : p.streamed.k;
  const bool guarded = s.scaled || guards_sums(s);
  return fmt::format(
      "#include \"gemm/stream.h\"\n#include \"math/platform.h\"\n\nusing namespace solstice;\n"
      "using Config = gemm::StreamConfig<mainloop::{}, {}, {}, {}, {}, gemm::StreamTile<{}, {}>, "
      "gemm::StreamSlots<{}, {}>, {}>;\n\n"
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS(Config::kThreads, {}) {}(const __grid_constant__ TensorMap map, const "
      "float* x{}, float* partial{}) {{\nptx::let_next_kernel_start();\n"
      "const gemm::StreamProblem problem{{{{x, i64({}), i64({}), i64({})}}, {}, {}, {}, {}, {}, {}, {}, partial, "
      "{}}};\ngemm::run_stream<Config>(map, problem);\n}}\n",
      guards_sums(s) ? "Bf16x6Lifted"
      : s.scaled     ? "Fp16x3"
                     : "Tf32",
      side_text(p), major_text(p.major), p.vector, major_text(p.major_held), p.groups, p.held_lines, p.slots,
      p.slots_held, p.cluster, p.blocks_per_sm, entry, s.scaled ? ", const u8* scales" : "",
      guarded ? ", gemm::GuardWord* guard" : "", p.streamed.batch, line, k, p.rows, p.columns, c.k, c.batches, s.split,
      s.scaled ? "scales" : "nullptr", scale_stride, guarded ? "guard" : "nullptr");
}

std::string finish_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                          const Settings& s) {
  const Contraction& c = problem.product;
  const Functor functor = functor_of(program, problem.product, problem.epilogue, false);
  return fmt::format(
      "{}\nSOLSTICE_KERNEL void SOLSTICE_BOUNDS(gemm::kSimtThreads, 2) {}(const float* SOLSTICE_RESTRICT partial{}) "
      "{{\n"
      "ptx::wait_for_previous_kernel();\n"
      "gemm::run_finish<{}, {}, {}>(partial, gemm::SimtProblem{{{}, {}, {}, {}, {}}}, Epilogue{{{}}});\n}}\n",
      head_text(functor, {"gemm/finish.h"}), entry, functor.parameters, s.split, finish_ways(s), finish_vector(problem),
      c.m, c.n, c.k, c.batches, s.group, functor.arguments);
}

int64_t gemv_shared(const StreamPlan& p, const Settings& s) {
  const GemvShape shape = gemv_shape(p, s);
  return shape.warps * shape.lines * p.columns * 4;
}

std::string gemv_source(const std::string& entry, const ir::Program& program, const Problem& problem, const Settings& s,
                        const StreamPlan& p) {
  const Contraction& c = problem.product;
  const Functor functor = functor_of(program, problem.product, problem.epilogue, false);
  const OperandText streamed = operand_text(p.streamed, "x"), held = operand_text(p.held, "held");
  const std::string form = s.math == Math::kSimt ? "gemv" : "gemv_mma";
  return fmt::format(
      "{}using Config = gemm::{};\n\n"
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS(Config::kThreads, Config::kBlocks) {}({}{}{}) {{\n"
      "gemm::run_{}<Config>({}, {}, gemm::GemvProblem{{{}, {}, {}}}, Epilogue{{{}}});\n}}\n",
      head_text(functor, {fmt::format("gemm/{}.h", form)}), gemv_config(s, p), entry, streamed.parameters.substr(2),
      held.parameters, functor.parameters, form, strided_text(p.streamed, streamed), strided_text(p.held, held), p.rows,
      c.k, c.batches, functor.arguments);
}

std::string small_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                         const Settings& s, const SplitPlan& a, const SplitPlan& b) {
  const Contraction& c = problem.product;
  const Functor functor = functor_of(program, problem.product, problem.epilogue, false);
  const OperandText text_a = operand_text(c.a, "a"), text_b = operand_text(c.b, "b");
  return fmt::format(
      "{}{}\nSOLSTICE_KERNEL void SOLSTICE_BOUNDS(gemm::kSimtThreads, 2) {}({}{}{}) {{\n"
      "gemm::run_small<{}, {}>({}, {}, gemm::SimtProblem{{{}, {}, {}, {}, {}}}, Epilogue{{{}}});\n}}\n",
      head_text(functor, {"gemm/small.h"}), prologue_head(text_a.above + text_b.above), entry,
      text_a.parameters.substr(2), text_b.parameters, functor.parameters, major_text(a.major), major_text(b.major),
      strided_text(c.a, text_a), strided_text(c.b, text_b), c.m, c.n, c.k, c.batches, s.group, functor.arguments);
}

}  // namespace solstice::families::gemm
