#include "families/tensor_core/row_fold.h"

#include <fmt/format.h>

#include "codegen/text/marks.h"
#include "families/emission.h"
#include "families/fold_text.h"

namespace solstice::families::tensor_core {
namespace {

using codegen::Emitter;
using codegen::Value;

constexpr int64_t kManyRows = 64 * 1024;

class FoldWriter {
 public:
  FoldWriter(const ir::Program& program, const Product& c, const RowResults& rows)
      : program_(program),
        c_(c),
        rows_(rows),
        sharers_(fold_sharers(rows.shape.row_count, rows.parts, kManyRows)),
        indices_(rows.shape.flat.indices),
        emitter_(program, indices_) {}

  Result<Fold> write(const std::string& entry) {
    reduction::bind_rows(emitter_, rows_.shape);
    emitter_.set_hook([this](Emitter&, const ir::ExprRef& node) { return given(node); });
    FoldKernel kernel;
    kernel.folded = fold_text(false).value();
    SOLSTICE_TRY(const std::string corrected, fold_text(true));
    kernel.folded += corrected;
    SOLSTICE_TRY(kernel.stores, store_text(program_, rows_.shape.flat, emitter_));
    Fold out;
    out.reads = emitter_.tensors_read();
    out.writes = tensors_written(rows_.shape.flat);
    kernel.entry = entry;
    kernel.parameters = fold_parameters(emitter_, out.reads, {"const float* SOLSTICE_RESTRICT parts"}, out.writes);
    kernel.opening = "ptx::wait_for_previous_kernel();\n";
    kernel.rows = rows_.shape.row_count;
    kernel.sharers = sharers_;
    kernel.values = emitter_.take(0);
    out.blocks = kernel.blocks();
    out.source =
        "#include \"epilogue/parts.h\"\n#include \"math/special.h\"\n#include \"math/vector.h\"\n#include "
        "\"ptx/sync.h\"\n\n" +
        codegen::marked(kernel.text(), rows_.shape.flat.equations.front().equation, "fold");
    return out;
  }

 private:
  Result<std::optional<Value>> given(const ir::ExprRef& node) {
    for (const RowReduction& f : rows_.reductions) {
      if (f.node == node) return std::optional(emitter_.variable(f.row.value_type, f.row.value(), 0));
    }
    return std::optional<Value>();
  }

  std::string at(size_t i) const {
    return fmt::format("parts[(i64({}) + k) * {} + row]", static_cast<int64_t>(i) * rows_.parts, rows_.shape.row_count);
  }

  // Folds the partial results that need no correction, or those that do, once the others are known.
  Result<std::string> fold_text(bool corrected) {
    std::string starts, steps, published, collected, centers;
    for (size_t i = 0; i < rows_.reductions.size(); ++i) {
      const RowReduction& f = rows_.reductions[i];
      if (f.corrected.has_value() != corrected) continue;
      const reduction::Reduction& r = f.row;
      starts += fmt::format("{0} {1} = reduction::{2}::start<{0}>();\n", r.type, r.name, r.op);
      std::string found = fmt::format("static_cast<{}>({})", r.type, at(i));
      if (corrected) {
        SOLSTICE_TRY(found, correction_text(i, centers));
      }
      steps += fmt::format("{{\n{} = reduction::{}::combine<{}>({}, {});\n}}\n", r.name, r.op, r.type, r.name, found);
      if (sharers_ == 1) continue;
      published +=
          fmt::format("__shared__ {0} of_{1}[{2}];\nof_{1}[threadIdx.x] = {1};\n", r.type, r.name, kFoldThreads);
      collected += fmt::format("{0} = reduction::collect_columns<reduction::{1}, {2}, {3}>(of_{0});\n", r.name, r.op,
                               kFoldThreads, kFoldThreads / sharers_);
    }
    if (starts.empty()) return std::string();
    return fmt::format("{}{}#pragma unroll 8\nfor (int k = mine; k < {}; k += {}) {{\n{}}}\n{}{}{}", centers, starts,
                       rows_.parts, sharers_, steps, published, published.empty() ? "" : "__syncthreads();\n",
                       collected);
  }

  // Partial result i of part k for the row's center. `centers`: statements before the loop.
  Result<std::string> correction_text(size_t i, std::string& centers) {
    const RowReduction& f = rows_.reductions[i];
    const auto total = [](const RowReduction& of) { return of.row.value(); };
    std::string before;
    SOLSTICE_TRY(const std::string center, center_text(program_, rows_, f, total, before));
    centers += fmt::format("float center{};\n{{\n{}center{} = {};\n}}\n", i, before, i, center);
    if (f.corrected->correction == reduction::Correction::kSquares) {
      return fmt::format(
          "reduction::corrected_squares(static_cast<double>({}), {} * epilogue::share_of(epilogue::columns_of(k, {})), "
          "center{}, {}, "
          "epilogue::columns_of(k, {}))",
          at(i), at(f.sum), c_.n, i, at(f.sum), c_.n);
    }
    before.clear();
    const auto own = [&](const RowReduction& of) {
      return fmt::format("reduction::center_of({})", at(static_cast<size_t>(&of - rows_.reductions.data())));
    };
    SOLSTICE_TRY(const std::string part, center_text(program_, rows_, f, own, before));
    // A statement cannot stand in an expression: the part's center is a function of k.
    return fmt::format("static_cast<double>({}) * reduction::factor_of([&] {{\n{}return {};\n}}(), center{})", at(i),
                       before, part, i);
  }

  const ir::Program& program_;
  const Product& c_;
  const RowResults& rows_;
  const int sharers_;
  codegen::Interner indices_;
  Emitter emitter_;
};

}  // namespace

Result<Fold> emit_fold(const ir::Program& program, const std::string& entry, const Product& c, const RowResults& rows) {
  return FoldWriter(program, c, rows).write(entry);
}

}  // namespace solstice::families::tensor_core
