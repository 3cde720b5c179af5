#include "families/gemm/steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "families/emission.h"
#include "families/fold_text.h"
#include "families/gemm/grouped/grouped.h"
#include "families/gemm/prologue.h"
#include "families/gemm/stream/stream.h"
#include "families/tensor_core/launch.h"
#include "families/tensor_core/row_fold.h"

namespace solstice::families::gemm {
namespace {

constexpr int64_t kSimtThreads = 256;  // kernels/gemm/simt.h
constexpr int64_t kSimtShared = 128 * 128 * 4;
constexpr int64_t kGuardBytes = 8;  // a GuardWord of kernels/gemm/guard.h

class Generator {
 public:
  Generator(const Context& context, const ir::Kernel& kernel, const Problem& problem, const Settings& settings)
      : context_(context),
        program_(context.program),
        kernel_(kernel),
        problem_(problem),
        s_(settings),
        c_(problem.product),
        operands_(split_plans(context, problem, settings)),
        a_(operands_[0]),
        b_(operands_[1]),
        shared_(is_tiled(settings) ? stream_k(context.machine, problem.product, settings) : StreamK{}) {}

  Result<Emission> run() {
    add_launches();
    if (problem_.epilogue.rows) SOLSTICE_CHECK(add_fold());
    return std::move(out_);
  }

 private:
  // If blocks share tiles: accumulators of a tile, and a signal of each of its warpgroups, for every block.
  bool shares() const { return shared_.shared > 0; }
  std::string partials() const { return part_name(kernel_, "partials"); }
  std::string signals() const { return part_name(kernel_, "signals"); }
  int64_t blocks_of_product() const { return shared_.clusters * s_.cluster * s_.cluster_n; }
  int64_t signal_count() const { return blocks_of_product() * s_.tile_m / 64; }

  void add_launches() {
    if (is_gemv(s_)) return add_gemv();
    if (s_.math == Math::kSimt) {
      if (s_.tile_m == kSmallTile)
        add_small();
      else
        add_simt(kernel_.name, false);
      return;
    }
    if (shares()) {
      add_buffer(partials(), 4 * blocks_of_product() * s_.tile_m * s_.tile_n, DType::kF32, false);
      add_buffer(signals(), 4 * signal_count(), DType::kI32, false);
    }
    add_splits();
    if (s_.stream != Streamed::kNone) {
      add_stream();
      if (s_.scaled || guards_sums(s_))
        add_simt(part_name(kernel_, "finish"), true);
      else
        add_finish();
      return;
    }
    add_product();
    if (s_.scaled) add_simt(part_name(kernel_, "fallback"), true);
  }

  bool is_streamed(const SplitPlan& x) const { return s_.stream == (x.is_a ? Streamed::kRows : Streamed::kColumns); }
  std::string workspace(const char* what, const SplitPlan& x) const {
    return part_name(kernel_, fmt::format("{}_{}", what, x.letter()));
  }

  Step& launch(const std::string& name, int64_t blocks, int64_t threads) {
    return out_.steps.emplace_back(launch_step(name, blocks, threads));
  }

  void add_buffer(const std::string& name, int64_t bytes, DType dtype, bool persistent) {
    out_.workspace.push_back(workspace_buffer(name, bytes, dtype));
    out_.workspace.back().persistent = persistent;
  }

  // Packed operands are split at load, the others together in one launch of every call.
  void add_splits() {
    std::vector<SplitPlan> live;
    for (const SplitPlan& x : operands_) {
      if (is_streamed(x) && has_guard(s_, x))
        add_buffer(workspace("guard", x), kGuardBytes * x.blocks, DType::kI32, false);
      if (is_streamed(x) || !needs_planes(s_, x.operand, x.major)) continue;
      const bool packed = is_packed(program_, s_, x.operand);
      add_buffer(workspace("planes", x), x.plane_bytes(), DType::kU8, packed);
      if (s_.scaled) {
        add_buffer(workspace("scales", x), x.scale_bytes(), DType::kU8, packed);
        add_buffer(workspace("guard", x), kGuardBytes * x.blocks, DType::kI32, packed);
      }
      if (packed)
        add_split(part_name(kernel_, fmt::format("pack_{}", x.letter())), {x}, Phase::kPrepare);
      else
        live.push_back(x);
    }
    // The longest items first.
    std::stable_sort(live.begin(), live.end(),
                     [](const SplitPlan& x, const SplitPlan& y) { return x.major > y.major; });
    if (!live.empty())
      add_split(part_name(kernel_, "split"), live, Phase::kLaunch);
    else if (shares())
      clear_signals();
  }

  void clear_signals() {
    Step clear;
    clear.name = part_name(kernel_, "clear");
    clear.kind = StepKind::kMemset;
    clear.buffer = signals();
    clear.bytes = 4 * signal_count();
    out_.steps.push_back(std::move(clear));
  }

  // A launch of every call clears the signals of the product that follows.
  void add_split(const std::string& name, const std::vector<SplitPlan>& splits, Phase phase) {
    const bool clears = shares() && phase == Phase::kLaunch;
    out_.sources.push_back(
        {name, split_source(codegen::entry_name(name), splits, s_, clears ? signal_count() : 0), {}});
    int64_t blocks = 0;
    for (const SplitPlan& x : splits) blocks += x.blocks;
    Step& step = launch(name, blocks, kSplitThreads);
    step.phase = phase;
    for (const SplitPlan& x : splits) {
      add_operand(step, x);
      step.arguments.push_back(pointer_to(workspace("planes", x)));
      if (!s_.scaled) continue;
      step.arguments.push_back(pointer_to(workspace("scales", x)));
      step.arguments.push_back(pointer_to(workspace("guard", x)));
    }
    if (clears) step.arguments.push_back(pointer_to(signals()));
  }

  void add_product() {
    const Layout layout = layout_of(s_, static_cast<int64_t>(context_.machine.shared_per_block.value));
    out_.sources.push_back(
        {kernel_.name,
         tensor_source(codegen::entry_name(kernel_.name), program_, problem_, s_, layout, operands_, shared_),
         {}});
    const int64_t cluster = s_.cluster * s_.cluster_n;
    const bool after_split = follows_split();
    Step& step = launch(kernel_.name, blocks_of_product(), 128 * (layout.groups + 1));
    step.cluster = {cluster, 1, 1};
    step.shared_bytes = layout.bytes();
    step.pdl = after_split;
    step.arguments.push_back(map_argument(operand_map(a_, s_.tile_m, s_.cluster_n)));
    for (size_t i = 1; i < operands_.size(); ++i)
      step.arguments.push_back(map_argument(operand_map(operands_[i], layout.n / layout.boxes, s_.cluster)));
    if (stores_by_copy_engine(program_, problem_.product, problem_.epilogue))
      step.arguments.push_back(map_argument(output_map(program_, problem_.product, problem_.epilogue)));
    if (s_.scaled) {
      for (const SplitPlan& x : operands_) step.arguments.push_back(pointer_to(workspace("scales", x)));
    }
    if (shares()) {
      step.arguments.push_back(pointer_to(partials()));
      step.arguments.push_back(pointer_to(signals()));
    }
    add_epilogue(step);
  }

  bool follows_split() const {
    return !out_.steps.empty() && out_.steps.back().kind == StepKind::kLaunch &&
           out_.steps.back().phase == Phase::kLaunch;
  }

  void add_stream() {
    const StreamPlan plan = stream_plan(context_, problem_, s_);
    const SplitPlan &streamed = plan.rows_are_m ? a_ : b_, &held = plan.rows_are_m ? b_ : a_;
    add_buffer(partial(), 4 * s_.split * c_.batches * c_.m * c_.n, DType::kF32, false);
    out_.sources.push_back(
        {kernel_.name, stream_source(codegen::entry_name(kernel_.name), problem_, s_, plan, held.scale_stride), {}});
    const bool after_split = follows_split();
    Step& step = launch(kernel_.name, plan.tiles * s_.split, 128 * plan.groups);
    step.cluster = {plan.cluster, 1, 1};
    step.shared_bytes = plan.shared_bytes;
    step.pdl = after_split;
    step.arguments.push_back(map_argument(operand_map(held, plan.held_lines, plan.cluster)));
    step.arguments.push_back(pointer_to(program_.tensor(plan.streamed.tensor).name, plan.streamed.offset * 4));
    if (s_.scaled) step.arguments.push_back(pointer_to(workspace("scales", held)));
    step.arguments.push_back(pointer_to(partial()));
    if (has_guard(s_, streamed)) step.arguments.push_back(pointer_to(workspace("guard", streamed)));
  }
  std::string partial() const { return part_name(kernel_, "partial"); }

  void add_small() {
    out_.sources.push_back(
        {kernel_.name, small_source(codegen::entry_name(kernel_.name), program_, problem_, s_, a_, b_), {}});
    Step& step =
        launch(kernel_.name, ceil_div(c_.m, kSmallTile) * ceil_div(c_.n, kSmallTile) * c_.batches, kSimtThreads);
    add_operands(step);
    add_epilogue(step);
  }
  void add_operands(Step& step) const {
    for (const SplitPlan& x : operands_) add_operand(step, x);
  }
  // Adds an operand in the parameter order of operand_text().
  void add_operand(Step& step, const SplitPlan& x) const {
    if (x.operand.made)
      add_pointers(program_, x.operand.made->text.reads, step);
    else
      step.arguments.push_back(
          pointer_to(program_.tensor(x.operand.tensor).name, x.operand.offset * size_of(x.operand.dtype)));
  }

  void add_gemv() {
    const StreamPlan plan = stream_plan(context_, problem_, s_);
    out_.sources.push_back(
        {kernel_.name, gemv_source(codegen::entry_name(kernel_.name), program_, problem_, s_, plan), {}});
    Step& step = launch(kernel_.name, plan.tiles * s_.split, 32 * gemv_shape(plan, s_).warps);
    step.cluster = {s_.split, 1, 1};
    step.shared_bytes = gemv_shared(plan, s_);
    add_operand(step, plan.rows_are_m ? a_ : b_);
    add_operand(step, plan.rows_are_m ? b_ : a_);
    add_epilogue(step);
  }

  void add_simt(const std::string& name, bool guarded) {
    out_.sources.push_back(
        {name, simt_source(codegen::entry_name(name), program_, problem_, s_, guarded, operands_), {}});
    int64_t blocks =
        ceil_div(c_.m, 128) * (problem_.epilogue.resident ? 1 : ceil_div(c_.n, s_.dual ? 64 : 128)) * c_.batches;
    const bool finishes = guarded && s_.stream != Streamed::kNone;
    if (finishes) blocks = std::max(blocks, finish_blocks());
    Step& step = launch(name, std::min<int64_t>(blocks, 2 * context_.machine.sm_count), kSimtThreads);
    step.shared_bytes = kSimtShared;
    step.pdl = guarded;
    add_operands(step);
    if (guarded) add_guards(step);
    if (finishes) step.arguments.push_back(pointer_to(partial()));
    add_epilogue(step);
    if (problem_.epilogue.resident) {
      const std::string sums = part_name(kernel_, "sums");
      step.arguments.push_back(pointer_to(sums));
      add_buffer(sums, step.grid[0] * 128 * c_.n * 4, DType::kF32, false);
    }
  }

  int64_t finish_blocks() const {
    return ceil_div(c_.m * c_.n * c_.batches * finish_ways(s_), finish_vector(problem_) * kSimtThreads);
  }
  // Finish of a math without a guard, and so without a fallback.
  void add_finish() {
    const std::string name = part_name(kernel_, "finish");
    out_.sources.push_back({name, finish_source(codegen::entry_name(name), program_, problem_, s_), {}});
    Step& step = launch(name, std::min<int64_t>(finish_blocks(), 2 * context_.machine.sm_count), kSimtThreads);
    step.shared_bytes = kSimtShared;
    step.pdl = true;
    step.arguments.push_back(pointer_to(partial()));
    add_epilogue(step);
  }

  void add_guards(Step& step) const {
    for (const SplitPlan& x : operands_) {
      if (has_guard(s_, x)) step.arguments.push_back(pointer_to(workspace("guard", x)));
    }
  }
  void add_epilogue(Step& step) const {
    add_epilogue_pointers(program_, problem_.epilogue.code, step);
    if (problem_.epilogue.rows) step.arguments.push_back(pointer_to(parts()));
    if (problem_.epilogue.resident) add_pointers(program_, problem_.epilogue.resident->row_writes, step);
  }
  std::string parts() const { return part_name(kernel_, "parts"); }

  // After the product and the fallback that may overwrite its results.
  Status add_fold() {
    const std::string name = part_name(kernel_, "fold");
    SOLSTICE_TRY(Fold fold, emit_fold(program_, codegen::entry_name(name), c_, *problem_.epilogue.rows));
    add_buffer(parts(), problem_.epilogue.rows->bytes(), DType::kF32, false);
    out_.sources.push_back({name, std::move(fold.source), {}});
    Step& step = launch(name, fold.blocks, kFoldThreads);
    step.pdl = true;
    add_pointers(program_, fold.reads, step);
    step.arguments.push_back(pointer_to(parts()));
    add_pointers(program_, fold.writes, step);
    return success();
  }

  // Extents {contiguous, lines, planes x batches}; `parts`: blocks of a cluster that load a share each.
  TensorMap operand_map(const SplitPlan& x, int64_t lines_of_tile, int64_t parts) const {
    const bool planes = needs_planes(s_, x.operand, x.major);
    const int64_t bytes = x.bytes;
    const int64_t line = (planes ? x.plane_stride : x.stride) * bytes;
    const int64_t batch = planes || x.batches == 1 ? line * x.lines : x.operand.batch * bytes;
    // Planes of TF32 have an order of their own in every eight k.
    const int64_t length = planes && x.bytes == 4 ? round_up(x.length, 8) : x.length;
    return tensor_core::operand_map({.buffer = planes ? workspace("planes", x) : program_.tensor(x.operand.tensor).name,
                                     .offset = planes ? 0 : x.operand.offset * bytes,
                                     .dtype = map_dtype(),
                                     .extents = {length, x.lines, planes ? x.batches * x.planes : x.batches},
                                     .strides = {line, batch}},
                                    {(x.major == Major::kMN ? 64 : lines_of_tile) / parts});
  }

  DType map_dtype() const {
    const int bytes = element_bytes(s_.math);
    if (bytes != 2) return bytes == 4 ? DType::kF32 : DType::kU8;
    return s_.math == Math::kFP16 || s_.math == Math::kFP16x3 ? DType::kF16 : DType::kBF16;
  }

  const Context& context_;
  const ir::Program& program_;
  const ir::Kernel& kernel_;
  const Problem& problem_;
  const Settings& s_;
  const Contraction& c_;
  const std::vector<SplitPlan> operands_;
  const SplitPlan &a_, &b_;
  const StreamK shared_;
  Emission out_;
};

}  // namespace

Result<Emission> generate_steps(const Context& context, const ir::Kernel& kernel, const Problem& problem,
                                const Settings& settings) {
  if (is_grouped(problem)) return generate_grouped(context, kernel, problem, settings);
  return Generator(context, kernel, problem, settings).run();
}

}  // namespace solstice::families::gemm
