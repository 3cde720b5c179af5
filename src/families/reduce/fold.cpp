#include <fmt/format.h>

#include <optional>

#include "codegen/text/marks.h"
#include "families/emission.h"
#include "families/fold_text.h"
#include "families/reduce/emit.h"
#include "families/reduction/row_access.h"

namespace solstice::families::reduce {
namespace {

using codegen::CType;
using codegen::Emitter;
using codegen::Value;

constexpr int64_t kManyOutputs = 32 * 1024;

class FoldWriter {
 public:
  FoldWriter(const ir::Program& program, const ir::Kernel& kernel, reduction::Shape& shape,
             const std::vector<reduction::Partial>& partials, const Layout& layout)
      : program_(program),
        kernel_(kernel),
        shape_(shape),
        partials_(partials),
        l_(layout),
        sharers_(fold_sharers(layout.outputs(), layout.split, kManyOutputs)),
        emitter_(program, shape.flat.indices) {}

  Result<FoldLaunch> write() {
    reduction::bind_rows(emitter_, shape_);
    emitter_.set_hook([this](Emitter&, const ir::ExprRef& node) { return given(node); });
    FoldKernel kernel;
    kernel.folded = fold_text();
    SOLSTICE_TRY(kernel.stores, store_text(program_, shape_.flat, emitter_));
    out_.entry = kernel.entry = codegen::entry_name(part_name(kernel_, "fold"));
    out_.reads = emitter_.tensors_read();
    out_.writes = tensors_written(shape_.flat);
    kernel.parameters = fold_parameters(emitter_, out_.reads, parts(), out_.writes);
    if (sharers_ > 1) kernel.opening = "unsigned char* const shared = shared_bytes();\n";
    if (shape_.row_count > INT32_MAX / 2) kernel.row_type = "long long";
    kernel.rows = l_.outputs();
    kernel.sharers = sharers_;
    kernel.values = emitter_.take(0);
    for (const reduction::Partial& partial : partials_)
      out_.parts.push_back(l_.outputs() * l_.split * partial.reduction.bytes());
    out_.blocks = kernel.blocks();
    out_.code = kernel.text();
    return std::move(out_);
  }

 private:
  Result<std::optional<Value>> given(const ir::ExprRef& node) {
    for (const reduction::Partial& partial : partials_) {
      if (partial.node == node)
        return std::optional(emitter_.variable(partial.reduction.value_type, partial.reduction.value(), 0));
    }
    return std::optional<Value>();
  }

  std::string fold_text() {
    std::string before, after;
    for (size_t i = 0; i < partials_.size(); ++i) {
      const reduction::Reduction& r = partials_[i].reduction;
      std::string folded = fmt::format(
          "{0} {1} = reduction::{2}::start<{0}>();\n#pragma unroll 8\nfor (int k = mine; k < {3}; k += {4}) {1} = "
          "reduction::{2}::combine<{0}>({1}, {5}[static_cast<long long>(k) * {6} + row]);\n",
          r.type, r.name, r.op, l_.split, sharers_, reduction::partial_name(i), l_.outputs());
      if (sharers_ > 1) {
        const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, out_.shared_bytes);
        out_.shared_bytes += reduction::kLargestAccumulator * kFoldThreads;
        folded += fmt::format("{}[threadIdx.x] = {};\n", slots, r.name);
        after += codegen::mark(r.equation, "fold") +
                 fmt::format("{} = reduction::collect_columns<reduction::{}, {}, {}>({});\n", r.name, r.op,
                             kFoldThreads, kFoldThreads / sharers_, slots);
      }
      before += codegen::marked(folded, r.equation, "fold");
    }
    return before + (sharers_ > 1 ? codegen::marked("reduction::sync_block();\n", -1, "fold") : "") + after;
  }

  std::vector<std::string> parts() const {
    std::vector<std::string> out;
    for (size_t i = 0; i < partials_.size(); ++i)
      out.push_back(
          fmt::format("const {}* SOLSTICE_RESTRICT {}", partials_[i].reduction.type, reduction::partial_name(i)));
    return out;
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  reduction::Shape& shape_;
  const std::vector<reduction::Partial>& partials_;
  const Layout& l_;
  const int sharers_;
  Emitter emitter_;
  FoldLaunch out_;
};

}  // namespace

Result<FoldLaunch> emit_fold(const ir::Program& program, const ir::Kernel& kernel, reduction::Shape& shape,
                             const std::vector<reduction::Partial>& partials, const Layout& layout) {
  return FoldWriter(program, kernel, shape, partials, layout).write();
}

}  // namespace solstice::families::reduce
