#include "families/reduce/emit.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "codegen/text/marks.h"
#include "families/emission.h"
#include "families/reduction/accumulate.h"
#include "families/reduction/phases.h"
#include "families/walk.h"

namespace solstice::families::reduce {
namespace {

using codegen::Binding;
using codegen::CType;
using codegen::Emitter;
using codegen::FlatEquation;
using codegen::Value;
using ir::ExprRef;
using ir::Op;
using reduction::Reduction;

// One kernel: names of the block and the thread, the warp that copies, the threads that read, the results.
class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, reduction::Shape& shape, const Layout& layout)
      : program_(program),
        kernel_(kernel),
        shape_(shape),
        l_(layout),
        emitter_(program, shape.flat.indices),
        inner_(shape.rows.back().stepping()) {}

  Result<Text> write() {
    const reduction::Phases phases = reduction::phases_of(shape_, true);
    if (phases.sweeps.size() != 1 || !phases.sweeps[0].stores.empty()) {
      return fail(Code::illegal_knobs,
                  fmt::format("kernel `{}` needs more than one pass over its rows: use family `rows`", kernel_.name));
    }
    emitter_.set_hook([this](Emitter&, const ExprRef& node) { return given(node); });
    const std::vector<codegen::Loop> outer(shape_.rows.begin(), shape_.rows.end() - 1);
    bind_loops(emitter_, outer, emitter_.variable(CType::kI32, "outer", 0, {0, l_.outer - 1}), 1, 0);
    std::string copying;
    if (!l_.direct()) {
      SOLSTICE_TRY(copying, copying_text());
      copying = codegen::marked(copying, -1, "producer");
    }
    SOLSTICE_TRY(const std::string reading,
                 l_.direct() ? direct_text(phases.sweeps[0].reductions) : reading_text(phases.sweeps[0].reductions));
    SOLSTICE_TRY(const std::string results, results_text());
    Text out;
    out.shared_bytes = std::max(l_.ring_bytes(), exchange_bytes());
    if (l_.split > 1) out.partials = partials_;
    finish(copying, reading, results, out);
    return out;
  }

 private:
  Result<std::optional<Value>> given(const ExprRef& node) {
    if (node->op == Op::kReduce) {
      for (size_t i = 0; i < partials_.size(); ++i) {
        if (partials_[i].node == node)
          return std::optional(emitter_.variable(partials_[i].reduction.value_type,
                                                 partials_[i].reduction.value_of(lane_of(i)), lane_depth_));
      }
      return fail(Code::internal, "a reduction is used before it is known");
    }
    const auto found = vectors_.find(node.get());
    if (found == vectors_.end()) return std::optional<Value>();
    const DType dtype = *program_.tensor(node->id).dtype;
    return std::optional(emitter_.define(codegen::computing_type(dtype), fmt::format("widen({})", found->second),
                                         lane_depth_, codegen::values_of(dtype)));
  }

  static std::string lane_of(size_t i) { return fmt::format("a{}[lane]", i); }
  std::string_view storage(const RunRead& s) const {
    return codegen::storage_type(*program_.tensor(s.access.tensor).dtype);
  }

  void bind_row(std::string_view name, int depth) {
    bind_loops(emitter_, shape_.columns, emitter_.variable(CType::kI32, std::string(name), depth, {0, l_.reduced - 1}),
               1, depth);
  }
  void bind_column(std::vector<std::pair<Value, int64_t>> terms) {
    emitter_.bind(inner_, Binding{0, std::move(terms)});
  }

  void bind_run() {
    if (l_.whole_rows()) return bind_column({});
    bind_column({{emitter_.variable(CType::kI32, "first_column", 0, {0, l_.columns - 1}), 1}});
  }

  Result<std::string> copying_text() {
    const int depth = emitter_.push();
    bind_row("row", depth);
    bind_run();
    std::string copies;
    for (const RunRead& read : l_.streams) {
      SOLSTICE_TRY(const std::string copy, run_copy(emitter_, read));
      copies += copy;
    }
    const std::string once = emitter_.take(depth);
    emitter_.pop();
    const std::string count = l_.whole_rows() ? fmt::format("smaller({}, last - k) * {}", l_.rows, l_.columns)
                                              : fmt::format("smaller({}, {} - first_column)", l_.tile(), l_.columns);
    return fmt::format(
        "const int mine = static_cast<int>(threadIdx.x) % 32;\nfor (int k = first; k < last; k += {5}) "
        "{{\nring.wait_empty();\nu32 expected = 0;\n"
        "const int row = k + mine;\nif (mine < {1} && row < last) {{\nconst int count = "
        "{2};\n{3}{4}}}\nring.expect(expected);\nring.advance();\n}}\n",
        l_.rows, l_.whole_rows() ? 1 : l_.rows, count, once, copies, l_.rows * l_.split);
  }

  // The elements of a run, from this thread's first column on.
  Result<std::string> stream_pointers(int depth) {
    std::string out;
    for (size_t i = 0; i < l_.streams.size(); ++i) {
      const RunRead& s = l_.streams[i];
      const std::string run = l_.whole_rows() ? "" : fmt::format(" + i * {}", s.pitch);
      std::string skip;
      if (l_.vector == 1) {
        SOLSTICE_TRY(const std::string offset, run_begin(emitter_, s));
        skip = fmt::format(" + pipeline::BulkRun<{}>::before({})", storage(s), offset);
      }
      out += fmt::format("const {0}* const s{1} = reinterpret_cast<const {0}*>(ring.bytes() + {2}{3}){4};\n",
                         storage(s), i, s.offset, run, skip);
    }
    const std::string once = emitter_.take(depth);
    return once + out;
  }

  // The place of lane `lane` of row `i` after s0, s1 ...: columns that do not exist read the last that does.
  std::string element_of(size_t i) const {
    if (l_.whole_rows()) return fmt::format("s{}[i * {} + column0 + lane]", i, l_.columns);
    return l_.vector > 1 ? fmt::format("u{}.v[lane]", i) : fmt::format("s{}[column - first_column]", i);
  }
  std::string vector_loads() const {
    if (l_.vector == 1) return "";
    std::string out;
    for (size_t i = 0; i < l_.streams.size(); ++i) {
      const std::string place =
          l_.whole_rows() ? fmt::format("i * {} + column0", l_.columns) : "column0 - first_column";
      out += fmt::format("const Vec<{0}, {1}> u{2} = *reinterpret_cast<const Vec<{0}, {1}>*>(s{2} + {3});\n",
                         storage(l_.streams[i]), l_.vector, i, place);
    }
    return out;
  }

  // Binds the column of lane `lane`; gives the statement that defines it.
  std::string bind_lane() {
    if (l_.vector > 1 || l_.whole_rows()) {
      bind_column({{emitter_.variable(CType::kI32, "column0", 0, {0, l_.columns - 1}), 1},
                   {emitter_.variable(CType::kI32, "lane", lane_depth_, {0, l_.lanes - 1}), 1}});
      return "";
    }
    bind_column({{emitter_.variable(CType::kI32, "column", lane_depth_, {0, l_.columns - 1}), 1}});
    return fmt::format("const int column = smaller(column0 + lane * {}, {});\n", l_.threads, l_.columns - 1);
  }

  Result<std::string> reading_text(const std::vector<ExprRef>& nodes) {
    const int stage = emitter_.push();
    std::string pointers;
    if (l_.whole_rows()) {
      bind_row("k", stage);
      bind_run();
      SOLSTICE_TRY(pointers, stream_pointers(stage));
    }
    const int row = emitter_.push();
    bind_row("row", row);
    std::string row_pointers;
    if (!l_.whole_rows()) {
      bind_run();
      SOLSTICE_TRY(row_pointers, stream_pointers(row));
    }
    lane_depth_ = emitter_.push();
    SOLSTICE_TRY(const std::string lanes, lanes_text(nodes));
    const std::string once = emitter_.take(row);
    emitter_.pop();
    const std::string at_stage = emitter_.take(stage);
    emitter_.pop();
    return fmt::format(
        "for (int k = first; k < last; k += {9}) {{\nring.wait_full();\nconst int rows = smaller({0}, last - "
        "k);\n{1}{2}#pragma unroll 4\n"
        "for (int i = {3}; i < rows; i += {4}) {{\n[[maybe_unused]] const int row = k + "
        "i;\n{5}{6}{7}{8}}}\nring.release();\nring.advance();\n}}\n",
        l_.rows, at_stage, pointers, l_.whole_rows() ? "group" : "0", l_.whole_rows() ? l_.groups : 1, once,
        row_pointers, vector_loads(), lanes, l_.rows * l_.split);
  }

  // Without a ring: a warp's rows are `groups` apart, and `ahead` of them are loaded before they are reduced.
  Result<std::string> direct_text(const std::vector<ExprRef>& nodes) {
    const int load = emitter_.push();
    bind_row("row", load);
    bind_column({{emitter_.variable(CType::kI32, "column0", 0, {0, l_.columns - 1}), 1}});
    std::string vectors, loads, names;
    for (size_t i = 0; i < l_.streams.size(); ++i) {
      const codegen::Access& access = l_.streams[i].access;
      emitter_.note_read(access.tensor);
      SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(access.tensor), access.args));
      vectors += fmt::format("Vec<{}, {}> w{}[{}];\n", storage(l_.streams[i]), l_.vector, i, l_.ahead);
      loads += codegen::mark(emitter_.indices().source_of(*access.read), "load") +
               fmt::format("w{}[i] = load<{}>({} + {});\n", i, l_.vector, emitter_.pointer_name(access.tensor),
                           at.offset.text);
      names += fmt::format("const auto& u{0} = w{0}[i];\n", i);
    }
    const std::string places = emitter_.take(load);
    emitter_.pop();
    const int row = emitter_.push();
    bind_row("row", row);
    lane_depth_ = emitter_.push();
    SOLSTICE_TRY(const std::string lanes, lanes_text(nodes));
    const std::string once = emitter_.take(row);
    emitter_.pop();
    const std::string head = fmt::format(
        "#pragma unroll\nfor (int i = 0; i < {}; ++i) {{\n[[maybe_unused]] const int row = k + i * {} + group;\n{}",
        l_.ahead, l_.groups, l_.reduced % l_.rows == 0 ? "" : "if (row >= last) break;\n");
    return fmt::format("#pragma unroll 1\nfor (int k = first; k < last; k += {}) {{\n{}{}{}{}}}\n{}{}{}{}}}\n}}\n",
                       l_.rows * l_.split, vectors, head, places, loads, head, once, names, lanes);
  }

  Result<std::string> lanes_text(const std::vector<ExprRef>& nodes) {
    const std::string column = bind_lane();
    for (size_t i = 0; i < l_.streams.size(); ++i)
      vectors_[l_.streams[i].access.read.get()] = l_.vector > 1 ? fmt::format("u{}.v[lane]", i) : element_of(i);
    const bool wide =
        std::all_of(l_.streams.begin(), l_.streams.end(), [](const RunRead& s) { return s.element >= 4; });
    std::string takes;
    std::vector<reduction::Partial> found;
    for (const ExprRef& node : nodes) {
      SOLSTICE_TRY(Reduction reduction, reduction::begin_reduction(emitter_, *node, wide));
      takes += reduction.wide
                   ? codegen::mark(reduction.equation) + fmt::format("{}a{}[lane] += static_cast<double>({});\n",
                                                                     reduction.test, found.size(), reduction.term)
                   : reduction::accumulate(reduction, found.size(), false);
      found.push_back({node, std::move(reduction)});
    }
    partials_ = std::move(found);
    const std::string inner = emitter_.take(lane_depth_);
    emitter_.pop();
    vectors_.clear();
    return fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}{}{}}}\n", l_.lanes, column, inner,
                       takes);
  }

  // Groups that share columns leave their sums in shared memory; the first one folds them.
  std::string exchange_text() const {
    if (l_.groups <= 1) return "";
    std::string publish, collect;
    int64_t offset = 0;
    for (size_t i = 0; i < partials_.size(); ++i) {
      const Reduction& r = partials_[i].reduction;
      const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, offset);
      offset += reduction::kLargestAccumulator * l_.groups * l_.tile();
      publish += codegen::mark(r.equation, "fold") + fmt::format("{}[at + lane] = a{}[lane];\n", slots, i);
      collect += codegen::mark(r.equation, "fold") +
                 fmt::format(
                     "for (int other = 1; other < {0}; ++other) a{1}[lane] = reduction::{2}::combine<{3}>(a{1}[lane], "
                     "{4}[other * {5} + at + lane]);\n",
                     l_.groups, i, r.op, r.type, slots, l_.tile());
    }
    const std::string lanes = fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n", l_.lanes);
    return fmt::format(
        "reduction::sync_block();\nif (!copies && group < {0}) {{\n{1}{2}}}\n}}\nreduction::sync_block();\nif (!copies "
        "&& group "
        "== 0) {{\n{1}{3}}}\n}}\n",
        l_.groups, lanes, publish, collect);
  }
  int64_t exchange_bytes() const {
    return l_.groups <= 1
               ? 0
               : reduction::kLargestAccumulator * l_.groups * l_.tile() * static_cast<int64_t>(partials_.size());
  }

  Result<std::string> results_text() {
    lane_depth_ = emitter_.push();
    const std::string column = bind_lane();
    std::string stores;
    if (l_.split > 1) {
      const std::string at = fmt::format("static_cast<long long>(part) * {} + static_cast<long long>(outer) * {} + {}",
                                         l_.outputs(), l_.columns, column.empty() ? "column0 + lane" : "column");
      for (size_t i = 0; i < partials_.size(); ++i)
        stores += codegen::mark(partials_[i].reduction.equation, "store") +
                  fmt::format("{}[{}] = a{}[lane];\n", reduction::partial_name(i), at, i);
    } else {
      for (const FlatEquation& e : shape_.flat.equations) {
        SOLSTICE_TRY(const Value value, emitter_.emit(e.rhs));
        SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(e.target), e.lhs));
        stores += codegen::mark(e.equation, "store") +
                  fmt::format("store_one({} + {}, {});\n", emitter_.pointer_name(e.target), at.offset.text, value.text);
      }
    }
    const std::string inner = emitter_.take(lane_depth_);
    emitter_.pop();
    const std::string exists = l_.direct()       ? "group == 0 && mine_exist"
                               : l_.whole_rows() ? "group == 0"
                               : l_.vector > 1   ? "mine_exist"
                                                 : fmt::format("column0 + lane * {} < {}", l_.threads, l_.columns);
    return exchange_text() +
           fmt::format(
               "#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\nif (copies || !({})) break;\n{}{}{}}}\n",
               l_.lanes, exists, column, inner, stores);
  }

  // Names that all parts use: the block's tile and rows, the thread's columns.
  std::string names_text() const {
    std::string out = fmt::format(
        "const unsigned block = blockIdx.x / {0}u;\nconst int part = static_cast<int>(block % {1}u);\n[[maybe_unused]] "
        "const int outer = static_cast<int>(block / {1}u);\n"
        "const int first = part * {2}, last = {3};\n[[maybe_unused]] const int first_column = "
        "static_cast<int>(blockIdx.x % {0}u) * {4};\n"
        "const bool copies = {5};\n",
        l_.tiles(), l_.split, l_.rows, l_.reduced, l_.whole_rows() ? 0 : l_.tile(),
        l_.direct() ? "false" : fmt::format("threadIdx.x >= {}", l_.threads));
    if (l_.direct()) {
      out += fmt::format(
          "[[maybe_unused]] const int at = static_cast<int>(threadIdx.x) * {0}, group = static_cast<int>(threadIdx.x) "
          "/ 32;\n"
          "const int mine = first_column + static_cast<int>(threadIdx.x) % 32 * {0};\nconst bool mine_exist = mine < "
          "{1};\n"
          "const int column0 = mine_exist ? mine : {1} - {0};\n",
          l_.vector, l_.columns);
    } else if (l_.whole_rows()) {
      out += fmt::format(
          "[[maybe_unused]] const int at = static_cast<int>(threadIdx.x) * {0};\nconst int group = at / {1} < {2} && "
          "!copies ? at / {1} : {3};\nconst int column0 = at % {1};\n",
          l_.vector, l_.columns, l_.groups, l_.rows);
    } else if (l_.vector > 1) {
      out += fmt::format(
          "const bool mine_exist = first_column + static_cast<int>(threadIdx.x) * {0} < {1};\n"
          "const int column0 = mine_exist ? first_column + static_cast<int>(threadIdx.x) * {0} : {1} - {0};\n",
          l_.vector, l_.columns);
    } else {
      out += "const int column0 = first_column + static_cast<int>(threadIdx.x);\n";
    }
    return out;
  }

  std::string accumulators_text() const {
    std::string out;
    for (size_t i = 0; i < partials_.size(); ++i) {
      const Reduction& r = partials_[i].reduction;
      out += fmt::format(
          "{0} a{1}[{2}];\n#pragma unroll\nfor (int lane = 0; lane < {2}; ++lane) a{1}[lane] = "
          "reduction::{3}::start<{0}>();\n",
          r.type, i, l_.lanes, r.op);
    }
    return out;
  }

  void finish(const std::string& copying, const std::string& reading, const std::string& results, Text& out) {
    const std::vector<int>& reads = emitter_.tensors_read();
    const std::vector<int> writes = l_.split > 1 ? std::vector<int>() : tensors_written(shape_.flat);
    std::vector<std::string> parameters = pointer_parameters(emitter_, reads, writes);
    for (size_t i = 0; i < out.partials.size(); ++i) {
      parameters.push_back(
          fmt::format("{}* SOLSTICE_RESTRICT {}", partials_[i].reduction.type, reduction::partial_name(i)));
    }
    out.entry = codegen::entry_name(kernel_.name);
    out.parameters = reads;
    out.parameters.insert(out.parameters.end(), writes.begin(), writes.end());
    const std::string ring = fmt::format("pipeline::BulkRing<{}, {}, {}> ring(shared);\nreduction::sync_block();\n",
                                         l_.slots, l_.slot_bytes, l_.threads / 32);
    out.code = fmt::format(
        "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"pipeline/bulk_ring.h\"\n#include "
        "\"reduction/reduce.h\"\n\n"
        "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, {}) {}({}) {{\nusing namespace solstice;\nusing namespace "
        "solstice::math;\n"
        "[[maybe_unused]] unsigned char* const shared = shared_bytes();\n{}{}{}{}{}{}}}\n",
        l_.block_threads(), l_.direct() && partials_.size() <= 2 ? l_.resident_blocks(0) : 1, out.entry,
        fmt::join(parameters, ", "), names_text(), l_.direct() ? "" : ring, accumulators_text(), emitter_.take(0),
        l_.direct() ? reading : fmt::format("if (copies) {{\n{}}} else {{\n{}}}\n", copying, reading), results);
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  reduction::Shape& shape_;
  const Layout& l_;
  Emitter emitter_;
  int inner_;  // the axis that stays and is contiguous
  int lane_depth_ = 0;
  std::map<const ir::Expr*, std::string> vectors_;  // a stream's element, while the lanes of a row are written
  std::vector<reduction::Partial> partials_;
};

}  // namespace

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, reduction::Shape& shape,
                         const Layout& layout) {
  return Writer(program, kernel, shape, layout).write();
}

}  // namespace solstice::families::reduce
