#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/integer.h"
#include "families/emission.h"
#include "families/reduce/emit.h"
#include "families/rows/layout.h"

namespace solstice::families::reduce {
namespace {

using codegen::CType;
using codegen::Emitter;
using codegen::Value;

// Threads that fold one output: neighbouring threads take neighbouring outputs.
int sharers_of(const Layout& l) {
  const int64_t wanted = l.outputs() >= 32 * 1024 ? 1 : l.split / 4;
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(wanted, 1, 32))));
}

class FoldWriter {
 public:
  FoldWriter(const ir::Program& program, const ir::Kernel& kernel, rows::Shape& shape, const std::vector<rows::Partial>& partials,
             const Layout& layout)
      : program_(program),
        kernel_(kernel),
        shape_(shape),
        partials_(partials),
        l_(layout),
        sharers_(sharers_of(layout)),
        emitter_(program, shape.flat.indices) {}

  Result<Fold> write() {
    rows::bind_rows(emitter_, shape_);
    emitter_.set_hook([this](Emitter&, const ir::ExprRef& node) { return given(node); });
    const std::string folded = fold_text();
    SOLSTICE_TRY(const std::string stores, outputs());
    out_.entry = codegen::entry_name(part_name(kernel_, "fold"));
    out_.reads = emitter_.tensors_read();
    out_.writes = tensors_written(shape_.flat);
    const int each = kFoldThreads / sharers_;
    out_.blocks = ceil_div(l_.outputs(), each);
    const std::string_view type = shape_.row_count > INT32_MAX / 2 ? "long long" : "int";
    out_.code = fmt::format(
        "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({0}, 1) {1}({2}) {{\nusing namespace solstice;\nusing namespace solstice::math;\n{3}"
        "{4} row = static_cast<{4}>(blockIdx.x) * {5} + static_cast<int>(threadIdx.x) % {5};\nconst int mine = static_cast<int>(threadIdx.x) / {5};\n"
        "const bool valid = row < {6} && mine == 0;\nrow = row < {6} ? row : {6} - 1;\n{7}{8}if (valid) {{\n{9}}}\n}}\n",
        kFoldThreads, out_.entry, parameters(), sharers_ > 1 ? "unsigned char* const shared = shared_bytes();\n" : "", type, each,
        l_.outputs(), folded, emitter_.take(0), stores);
    return std::move(out_);
  }

 private:
  Result<std::optional<Value>> given(const ir::ExprRef& node) {
    for (const rows::Partial& partial : partials_) {
      if (partial.node == node) return std::optional(emitter_.variable(partial.reduction.value_type, partial.reduction.value(), 0));
    }
    return std::optional<Value>();
  }

  std::string fold_text() {
    std::string before, after;
    for (size_t i = 0; i < partials_.size(); ++i) {
      const rows::Reduction& r = partials_[i].reduction;
      before += fmt::format(
          "{0} {1} = rows::{2}::start<{0}>();\n#pragma unroll 8\nfor (int k = mine; k < {3}; k += {4}) {1} = rows::{2}::combine<{0}>({1}, {5}[static_cast<long long>(k) * {6} + row]);\n",
          r.type, r.name, r.op, l_.split, sharers_, rows::partial_name(i), l_.outputs());
      if (sharers_ == 1) continue;
      const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, out_.shared_bytes);
      out_.shared_bytes += rows::kLargestAccumulator * kFoldThreads;
      before += fmt::format("{}[threadIdx.x] = {};\n", slots, r.name);
      after +=
          fmt::format("{} = rows::collect_columns<rows::{}, {}, {}>({});\n", r.name, r.op, kFoldThreads, kFoldThreads / sharers_, slots);
    }
    return before + (sharers_ > 1 ? "rows::sync_block();\n" : "") + after;
  }

  Result<std::string> outputs() {
    std::string stores;
    for (const codegen::FlatEquation& e : shape_.flat.equations) {
      SOLSTICE_TRY(const Value value, emitter_.emit(e.rhs));
      SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(e.target), e.lhs));
      stores += fmt::format("store_one({} + {}, {});\n", emitter_.pointer_name(e.target), at.offset.text, value.text);
    }
    return stores;
  }

  std::string parameters() const {
    std::vector<std::string> out = pointer_parameters(emitter_, out_.reads, {});
    for (size_t i = 0; i < partials_.size(); ++i) {
      out.push_back(fmt::format("const {}* SOLSTICE_RESTRICT {}", partials_[i].reduction.type, rows::partial_name(i)));
    }
    for (const std::string& written : pointer_parameters(emitter_, {}, out_.writes)) out.push_back(written);
    return fmt::format("{}", fmt::join(out, ", "));
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  rows::Shape& shape_;
  const std::vector<rows::Partial>& partials_;
  const Layout& l_;
  const int sharers_;
  Emitter emitter_;
  Fold out_;
};

}  // namespace

Result<Fold> emit_fold(const ir::Program& program, const ir::Kernel& kernel, rows::Shape& shape, const std::vector<rows::Partial>& partials,
                       const Layout& layout) {
  return FoldWriter(program, kernel, shape, partials, layout).write();
}

}  // namespace solstice::families::reduce
