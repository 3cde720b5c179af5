// CUDA text and launches of a grouped product.
#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "codegen/index_values.h"
#include "families/emission.h"
#include "families/gemm/grouped/grouped.h"
#include "families/tensor_core/functor.h"
#include "families/tensor_core/launch.h"

namespace solstice::families::gemm {
namespace {

constexpr int64_t kSortThreads = 1024, kSortWarps = 32;  // kernels/gemm/group_rows.h

class GroupedGenerator {
 public:
  GroupedGenerator(const Context& context, const ir::Kernel& kernel, const Problem& problem, const Settings& settings)
      : context_(context),
        program_(context.program),
        kernel_(kernel),
        problem_(problem),
        s_(settings),
        c_(problem.product),
        lists_(grouped_lists(problem.product.grouping)),
        layout_(grouped_layout(settings, c_.grouping.groups,
                               static_cast<int64_t>(context.machine.shared_per_block.value))) {}

  Result<Emission> run() {
    add_workspace(table(), DType::kI32, c_.grouping.groups + 4 + signals() + lists_.count * rows());
    if (by_rows()) add_workspace(partials(), DType::kF32, context_.machine.sm_count * s_.tile_m * s_.tile_n);
    SOLSTICE_CHECK(add_sort());
    add_product();
    return std::move(out_);
  }

 private:
  bool by_rows() const { return c_.grouping.kind == Grouped::kRows; }
  int64_t rows() const { return by_rows() ? c_.m : c_.k; }
  std::string table() const { return part_name(kernel_, "groups"); }
  std::string table_text() const {
    return fmt::format("gemm::GroupTable{{table, {}, {}, {}}}", c_.grouping.groups, rows(), signals());
  }
  // Blocks may share k in the last tiles of a forward product: accumulators of a tile, and a signal per warpgroup, for
  // every block.
  int64_t signals() const { return by_rows() ? 2 * context_.machine.sm_count : 0; }
  std::string partials() const { return part_name(kernel_, "partials"); }

  Step& launch(const std::string& name, int64_t blocks, int64_t threads, int64_t shared_bytes) {
    Step& step = out_.steps.emplace_back(launch_step(name, blocks, threads));
    step.shared_bytes = shared_bytes;
    return step;
  }

  void add_workspace(const std::string& name, DType dtype, int64_t words) {
    out_.workspace.push_back(workspace_buffer(name, 4 * words, dtype));
  }

  // ---- the sort
  Result<codegen::IndexValue> value_of(const ir::ExprRef& at) {
    const codegen::IndexVariable row{"m", by_rows() ? c_.m_indices : c_.k_indices};
    SOLSTICE_TRY(codegen::IndexValue value,
                 codegen::emit_index_value(program_, program_.equation(c_.equation), row, at));
    for (size_t i = 0; i < value.reads.size(); ++i) {
      if (std::find(sort_reads_.begin(), sort_reads_.end(), value.reads[i]) != sort_reads_.end()) continue;
      sort_reads_.push_back(value.reads[i]);
      sort_names_.push_back(value.names[i]);
    }
    return value;
  }

  // A row that the language forbids is row 0 here: nothing outside the operand is touched.
  Result<std::string> source_text(const RowSource& source, int which) {
    SOLSTICE_TRY(const codegen::IndexValue value, value_of(source.at));
    return fmt::format(
        "if (which == {}) {{\n{}const i64 row = {};\nreturn row >= 0 && row < {} ? static_cast<int>(row) : 0;\n}}\n",
        which, value.text, value.value, source.rows);
  }

  Status add_sort() {
    SOLSTICE_TRY(const codegen::IndexValue group, value_of(c_.grouping.of));
    std::string sources, members;
    int which = 0;
    for (const RowSource* x : {&c_.grouping.a, &c_.grouping.b}) {
      if (!x->at) continue;
      SOLSTICE_TRY(const std::string text, source_text(*x, which++));
      sources += text;
    }
    for (size_t i = 0; i < sort_reads_.size(); ++i) {
      const std::string pointer =
          fmt::format("const {}* SOLSTICE_RESTRICT ", codegen::storage_type(*program_.tensor(sort_reads_[i]).dtype));
      members += pointer + sort_names_[i] + ";\n";
      rows_parameters_ +=
          fmt::format("{}rows_{}, ", pointer, sort_names_[i]);  // an epilogue may read it by its own name
      rows_arguments_ += fmt::format("{}rows_{}", i ? ", " : "", sort_names_[i]);
    }
    rows_text_ = fmt::format(
        "namespace solstice {{\nusing namespace math;\n\nstruct Rows {{\nstatic constexpr int kSources = "
        "{};\n{}\nSOLSTICE_DEVICE i64 "
        "group(int m) const {{\n{}return {};\n}}\nSOLSTICE_DEVICE int source(int which, int m) const {{\n{}return "
        "m;\n}}\n}};\n"
        "}}  // namespace solstice\n\n",
        which, members, group.text, group.value, sources);
    const std::string name = part_name(kernel_, "sort");
    out_.sources.push_back(
        {name,
         fmt::format(
             "#include \"gemm/group_rows.h\"\n#include \"math/special.h\"\n#include \"math/vector.h\"\n#include "
             "\"ptx/sync.h\"\n\n"
             "{}using namespace solstice;\n\n"
             "SOLSTICE_KERNEL void SOLSTICE_BOUNDS(gemm::kGroupRowsThreads, 1) {}({}int* SOLSTICE_RESTRICT table) {{\n"
             "ptx::let_next_kernel_start();\n"
             "gemm::run_group_rows(Rows{{{}}}, {}, reinterpret_cast<int*>(ptx::dynamic_shared()));\n}}\n",
             rows_text_, codegen::entry_name(name), rows_parameters_, rows_arguments_, table_text()),
         {}});
    Step& step = launch(name, 1, kSortThreads, 4 * (c_.grouping.groups + 2) * kSortWarps);
    add_pointers(program_, sort_reads_, step);
    step.arguments.push_back(pointer_to(table()));
    return success();
  }

  // ---- the product
  std::string config_text(Major major_b) const {
    return fmt::format("gemm::GroupedConfig<mainloop::{}, gemm::Ragged::{}, {}, {}, {}, gemm::Along{}<{}>>",
                       s_.math == Math::kFP16 ? "Fp16" : "Bf16", by_rows() ? "kRows" : "kK", major_text(major_b),
                       s_.tile_n, layout_.slots, s_.cluster_n > 1 ? "N" : "M", s_.cluster * s_.cluster_n);
  }
  Major major_b() const { return by_rows() ? major_of(c_.b, c_.n, c_.k) : Major::kMN; }
  // Bytes between the lines that may be gathered.
  static int64_t step_of(const OperandAccess& x, bool along_k) { return size_of(x.dtype) * (along_k ? x.k : x.line); }

  std::string product_source(bool tma) const {
    const Functor functor = functor_of(program_, problem_.product, problem_.epilogue, tma);
    const std::string b =
        by_rows() ? "mainloop::GatheredOperand{nullptr, 0, 0}"
                  : fmt::format("mainloop::GatheredOperand{{b, i64({}), {}}}", step_of(c_.b, true), lists_.b);
    return fmt::format(
        "{}\n{}using Config = {};\n\nSOLSTICE_KERNEL void SOLSTICE_BOUNDS(Config::kThreads, 1) {}(const "
        "__grid_constant__ TensorMap map_a, "
        "const __grid_constant__ TensorMap map_b{}, const u8* SOLSTICE_RESTRICT a{}, {}int* SOLSTICE_RESTRICT "
        "table{}{}) {{\n"
        "const gemm::GroupedProblem problem{{{}, {}, {}, {}, {}, mainloop::GatheredOperand{{a, i64({}), {}}}, {}, "
        "{}}};\n"
        "gemm::run_grouped<Config>(map_a, map_b, {}, problem, Rows{{{}}}, Epilogue{{{}}});\n}}\n",
        head_text(functor, {"gemm/grouped.h"}), rows_text_, config_text(major_b()), codegen::entry_name(kernel_.name),
        tma ? ", const __grid_constant__ TensorMap map_out" : "", by_rows() ? "" : ", const u8* SOLSTICE_RESTRICT b",
        rows_parameters_, by_rows() ? ", float* partials" : "", functor.parameters, c_.m, c_.n, c_.k, s_.group,
        table_text(), step_of(c_.a, !by_rows()), lists_.a, b, by_rows() ? "partials" : "nullptr",
        tma ? "map_out" : "map_a", rows_arguments_, functor.arguments);
  }

  void add_product() {
    const bool tma = stores_by_copy_engine(program_, problem_.product, problem_.epilogue);
    out_.sources.push_back({kernel_.name, product_source(tma), {}});
    const int64_t cluster = s_.cluster * s_.cluster_n;
    Step& step = launch(kernel_.name, context_.machine.sm_count / cluster * cluster, 384, layout_.shared_bytes);
    step.cluster = {cluster, 1, 1};
    step.pdl = true;
    step.arguments.push_back(
        map_argument(operand_map(c_.a, by_rows() ? Major::kK : Major::kMN, c_.m, c_.grouping.a, 1, s_.tile_m)));
    step.arguments.push_back(
        map_argument(operand_map(c_.b, major_b(), c_.n, c_.grouping.b, by_rows() ? c_.grouping.groups : 1, s_.tile_n)));
    if (tma) step.arguments.push_back(map_argument(result_map()));
    step.arguments.push_back(pointer_to(program_.tensor(c_.a.tensor).name, c_.a.offset * size_of(c_.a.dtype)));
    if (!by_rows())
      step.arguments.push_back(pointer_to(program_.tensor(c_.b.tensor).name, c_.b.offset * size_of(c_.b.dtype)));
    add_pointers(program_, sort_reads_, step);
    step.arguments.push_back(pointer_to(table()));
    if (by_rows()) step.arguments.push_back(pointer_to(partials()));
    add_epilogue_pointers(program_, problem_.epilogue.code, step);
  }

  // One result of 16 bits waits in registers, and goes out 64 columns at a time (kernels/epilogue/deferred.h).
  TensorMap result_map() const {
    TensorMap map = output_map(program_, problem_.product, problem_.epilogue);
    if (problem_.epilogue.code.stores.size() == 1 && size_of(map.dtype) == 2) {
      map.box = {64, 16, 1};
      map.swizzle = 128;
    }
    return map;
  }

  // Extents {contiguous, lines, matrices}. A block of a cluster loads its share for all, or the boxes of all for
  // itself.
  TensorMap operand_map(const OperandAccess& x, Major major, int64_t extent, const RowSource& source, int64_t matrices,
                        int64_t tile) const {
    const bool by_k = major == Major::kK;
    const int64_t bytes = size_of(x.dtype);
    int64_t lines = by_k ? extent : c_.k;
    if (source.at) lines = source.rows;
    const int64_t length = by_k ? c_.k : extent, line = std::max(by_k ? x.line : x.k, round_up(length, 8)) * bytes;
    return tensor_core::operand_map({.buffer = program_.tensor(x.tensor).name,
                                     .offset = x.offset * bytes,
                                     .dtype = x.dtype,
                                     .extents = {length, lines, matrices},
                                     .strides = {line, matrices > 1 ? x.batch * bytes : line * lines}},
                                    {by_k ? tile / (s_.cluster * s_.cluster_n) : 64});
  }

  const Context& context_;
  const ir::Program& program_;
  const ir::Kernel& kernel_;
  const Problem& problem_;
  const Settings& s_;
  const Contraction& c_;
  GroupedLists lists_;
  GroupedLayout layout_;
  std::vector<int> sort_reads_;
  std::vector<std::string> sort_names_;
  std::string rows_text_, rows_parameters_, rows_arguments_;  // the same rows in both launches
  Emission out_;
};

}  // namespace

Result<Emission> generate_grouped(const Context& context, const ir::Kernel& kernel, const Problem& problem,
                                  const Settings& settings) {
  return GroupedGenerator(context, kernel, problem, settings).run();
}

}  // namespace solstice::families::gemm
