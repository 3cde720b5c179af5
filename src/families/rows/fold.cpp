#include "families/rows/fold.h"

#include <fmt/format.h>

#include "codegen/text/marks.h"
#include "families/emission.h"
#include "families/fold_text.h"
#include "families/reduction/row_access.h"

namespace solstice::families::rows {
namespace {

using codegen::Emitter;
using codegen::Value;

constexpr int kRowFoldThreads = 128;  // of a block, which folds one row

class FoldWriter {
 public:
  FoldWriter(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const std::vector<Partial>& partials,
             int parts)
      : program_(program),
        kernel_(kernel),
        shape_(shape),
        partials_(partials),
        parts_(parts),
        emitter_(program, shape.flat.indices) {}

  Result<FoldLaunch> write() {
    bind_rows(emitter_, shape_);
    emitter_.set_hook([this](Emitter&, const ir::ExprRef& node) { return given(node); });
    const std::string folded = fold_partials();
    SOLSTICE_TRY(const std::string stores, store_text(program_, shape_.flat, emitter_));
    out_.entry = codegen::entry_name(part_name(kernel_, "fold"));
    out_.reads = emitter_.tensors_read();
    out_.writes = tensors_written(shape_.flat);
    out_.parts.assign(partials_.size(), shape_.row_count * parts_ * kLargestAccumulator);
    out_.blocks = shape_.row_count;
    out_.threads = kRowFoldThreads;
    out_.code = fmt::format(
        "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, 1) {}({}) {{\nusing namespace solstice;\nusing namespace "
        "solstice::math;\n"
        "unsigned char* const shared = shared_bytes();\nconst int row = static_cast<int>(blockIdx.x);\n{}{}if "
        "(threadIdx.x == 0) {{\n{}}}\n}}\n",
        kRowFoldThreads, out_.entry, parameters(), folded, emitter_.take(0), stores);
    return std::move(out_);
  }

 private:
  Result<std::optional<Value>> given(const ir::ExprRef& node) {
    for (const Partial& partial : partials_) {
      if (partial.node == node)
        return std::optional(emitter_.variable(partial.reduction.value_type, partial.reduction.value(), 0));
    }
    return std::optional<Value>();
  }

  std::string fold_partials() {
    std::string all, after;
    for (size_t i = 0; i < partials_.size(); ++i) {
      const Reduction& r = partials_[i].reduction;
      std::string before;
      const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, out_.shared_bytes);
      const std::string with = fmt::format("reduction::{}, {}, {}, 1", r.op, kRowFoldThreads, kRowFoldThreads);
      out_.shared_bytes += kLargestAccumulator * kRowFoldThreads / 32;
      before += fmt::format(
          "{0} {1} = reduction::{2}::start<{0}>();\nfor (int k = static_cast<int>(threadIdx.x); k < {3}; k += {4}) {1} "
          "= "
          "reduction::{2}::combine<{0}>({1}, {5}[static_cast<long long>(row) * {3} + k]);\n",
          r.type, r.name, r.op, parts_, kRowFoldThreads, partial_name(i));
      before += fmt::format("reduction::publish<{}>({}, {}, 0);\n", with, r.name, slots);
      after += codegen::mark(r.equation, "fold") +
               fmt::format("{} = reduction::collect<{}, {}>({});\n", r.name, with, r.type, slots);
      all += codegen::marked(before, r.equation, "fold");
    }
    return all + codegen::marked("reduction::sync_block();\n", -1, "fold") + after;
  }

  std::string parameters() const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < partials_.size(); ++i)
      parts.push_back(fmt::format("const {}* SOLSTICE_RESTRICT {}", partials_[i].reduction.type, partial_name(i)));
    return fold_parameters(emitter_, out_.reads, parts, out_.writes);
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  Shape& shape_;
  const std::vector<Partial>& partials_;
  int parts_;
  Emitter emitter_;
  FoldLaunch out_;
};

}  // namespace

Result<FoldLaunch> emit_fold(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                             const std::vector<Partial>& partials, int parts) {
  return FoldWriter(program, kernel, shape, partials, parts).write();
}

}  // namespace solstice::families::rows
