#include "families/scan/emit.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "codegen/serial.h"
#include "families/map/draft.h"
#include "families/map/stores.h"
#include "families/map/streams.h"
#include "families/rows/reduction.h"
#include "families/walk.h"

namespace solstice::families::scan {
namespace {

using codegen::CType;
using codegen::Emitter;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

constexpr int64_t kSlot = 8;  // bytes of a warp's published value, the widest

// Where a thread is: which row (or, walking by columns, which vector of them), and its place among those that share it.
std::string thread_text(const Shape& shape, std::string_view type, int64_t inner) {
  if (shape.by_columns) {
    return fmt::format(
        "const {0} row = static_cast<{0}>(blockIdx.x) * {1} + static_cast<int>(threadIdx.x);\n"
        "[[maybe_unused]] const {0} outer = row / {2}, inner = row % {2};\n",
        type, shape.threads, inner);
  }
  return fmt::format(
      "const {0} row = static_cast<{0}>(blockIdx.x) * {1} + static_cast<int>(threadIdx.x) / {2};\n"
      "[[maybe_unused]] const int peer = static_cast<int>(threadIdx.x) % {3}, warp = static_cast<int>(threadIdx.x) % {2} / {3};\n",
      type, shape.rows_per_block(), shape.group, shape.lanes());
}

// A tile: its vectors are loaded, turned into elements, scanned, and stored.
class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, Shape& shape)
      : kernel_(kernel),
        shape_(shape),
        settings_{shape.threads, shape.nest.vector, shape.unroll, {}},
        draft_(program, shape.nest, settings_),
        streams_(draft_) {}

  Result<Text> write() {
    draft_.emitter.set_hook([this](Emitter&, const ExprRef& node) { return given(node); });
    std::string loads;
    if (!streams_.empty()) {
      SOLSTICE_TRY(loads, vectors_text([this] { return streams_.loads(); }));
    }
    SOLSTICE_TRY(const std::string elements, elements_text());
    const std::string scans = scans_text();
    scanned_ = true;
    SOLSTICE_TRY(const std::string stores, vectors_text([this] { return stores_text(); }));
    const std::string tiles = fmt::format("#pragma unroll 1\nfor (int tile = 0; tile < {}; ++tile) {{\n{}{}{}{}{}}}\n", shape_.tiles(),
                                          streams_.declarations(), loads, elements, scans, stores);
    return kernel_text(draft_.emitter.take(0) + carries_text() + tiles);
  }

 private:
  Result<std::optional<Value>> given(const ExprRef& node) {
    for (size_t i = 0; scanned_ && i < shape_.prefixes.size(); ++i) {
      if (node != shape_.prefixes[i].elements) continue;
      return std::optional(draft_.emitter.variable(scans_[i].value_type, fmt::format("s{}[u][lane]", i), *lane_depth_));
    }
    if (node->op == Op::kReduce) {
      SOLSTICE_TRY(Value value, codegen::emit_serial_reduction(draft_.emitter, node));
      return std::optional(value);
    }
    return lane_depth_ ? streams_.element(node, *lane_depth_) : std::optional<Value>();
  }

  int64_t inner_vectors() const {
    int64_t out = 1;
    for (size_t k = shape_.nest.loops.size(); shape_.by_columns && shape_.nest.loops[--k].indices.front() != shape_.along;)
      out *= shape_.nest.loops[k].extent;
    return shape_.by_columns ? out / shape_.nest.vector : 1;
  }

  // Vector `u` of the tile: k counts in the scan's order, q in memory's.
  std::string place_text() const {
    const int64_t vectors = shape_.row_vectors();
    const std::string k = shape_.by_columns
                              ? fmt::format("tile * {} + u", shape_.unroll)
                              : fmt::format("((tile * {} + warp) * {} + u) * {} + peer", shape_.warps(), shape_.unroll, shape_.lanes());
    const std::string place = shape_.reverse ? fmt::format("({} - k)", vectors - 1) : "k";
    const std::string q = shape_.by_columns ? fmt::format("(outer * {} + {}) * {} + inner", vectors, place, inner_vectors())
                                            : fmt::format("row * {} + {}", vectors, place);
    return fmt::format("const int k = {};\nconst {} q = {};\n", k, draft_.index_type(), q);
  }

  std::string inside() const {
    std::string out;
    const int64_t rows = shape_.by_columns ? shape_.rows() / shape_.nest.vector : shape_.rows();
    const int64_t of_block = shape_.by_columns ? shape_.threads : shape_.rows_per_block();
    if (shape_.row_vectors() % shape_.tile() != 0) out += fmt::format("k < {}", shape_.row_vectors());
    if (rows % of_block != 0) out += fmt::format("{}row < {}", out.empty() ? "" : " && ", rows);
    return out.empty() ? "" : fmt::format("if ({}) ", out);
  }

  // `write` once for all vectors of a tile, in a scope where their loops are bound; `first` (asked afterwards) runs
  // for vectors beyond the row too.
  template <class F>
  Result<std::string> vectors_text(F&& write, const std::function<std::string()>& first = nullptr) {
    const int depth = draft_.emitter.push();
    const Value q =
        draft_.emitter.variable(draft_.wide() ? CType::kI64 : CType::kI32, "q", depth, {0, shape_.nest.points / shape_.nest.vector - 1});
    bind_loops(draft_.emitter, shape_.nest.loops, q, shape_.nest.vector, depth);
    SOLSTICE_TRY(const std::string body, write());
    const std::string scope = draft_.emitter.take(depth);
    draft_.emitter.pop();
    return fmt::format("#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\n{}{}{}{{\n{}{}}}\n}}\n", shape_.unroll, first ? first() : "",
                       place_text(), inside(), scope, body);
  }

  // `write` once for all lanes of a vector.
  template <class F>
  Result<std::string> lanes_text(F&& write) {
    lane_depth_ = draft_.emitter.push();
    bind_lanes(draft_.emitter, shape_.nest.loops, shape_.nest.vector, *lane_depth_);
    SOLSTICE_TRY(const std::string body, write());
    const std::string text = draft_.emitter.take(*lane_depth_) + body;
    draft_.emitter.pop();
    lane_depth_.reset();
    if (shape_.nest.vector == 1) return "[[maybe_unused]] constexpr int lane = 0;\n" + text;
    return fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}}}\n", shape_.nest.vector, text);
  }

  Result<std::string> elements_text() {
    const auto elements = [this]() -> Result<std::string> {
      std::string out;
      for (size_t i = 0; i < shape_.prefixes.size(); ++i) {
        SOLSTICE_TRY(rows::Reduction scan, rows::begin_reduction(draft_.emitter, *shape_.prefixes[i].elements));
        out += fmt::format("{}s{}[u][lane] = {};\n", scan.test, i, scan.term);
        scans_.push_back(std::move(scan));
      }
      return out;
    };
    SOLSTICE_TRY(const std::string text, vectors_text([&] { return lanes_text(elements); }, [this] { return starts_text(); }));
    std::string declared;
    for (size_t i = 0; i < scans_.size(); ++i)
      declared += fmt::format("{} s{}[{}][{}];\n", scans_[i].type, i, shape_.unroll, shape_.nest.vector);
    return declared + text;
  }

  std::string starts_text() const {
    std::string out;
    for (size_t i = 0; i < scans_.size(); ++i) {
      out += fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) s{}[u][lane] = rows::{}::start<{}>();\n",
                         shape_.nest.vector, i, scans_[i].op, scans_[i].type);
    }
    return out;
  }

  std::string carries_text() const {
    std::string out;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const std::string rows = shape_.by_columns ? fmt::format("[{}]", shape_.nest.vector) : "";
      out += fmt::format("scan::Carry<rows::{}, {}> carry{}{};\n", scans_[i].op, scans_[i].type, i, rows);
    }
    return out;
  }

  std::string scans_text() const {
    std::string out;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const rows::Reduction& s = scans_[i];
      const bool exclusive = shape_.prefixes[i].exclusive;
      if (shape_.by_columns) {
        out += fmt::format("scan::tile_alone<rows::{}, {}>(s{}, carry{});\n", s.op, exclusive, i, i);
        continue;
      }
      const std::string slots = shape_.warps() > 1 ? fmt::format("reinterpret_cast<{}*>(shared + {}) + tile % 2 * {}", s.type,
                                                                 static_cast<int64_t>(i) * 2 * kSlot * shape_.warps(), shape_.warps())
                                                   : fmt::format("static_cast<{}*>(nullptr)", s.type);
      out += fmt::format("scan::tile<rows::{}, {}, {}, {}, {}>(s{}, carry{}, peer, warp, {});\n", s.op, shape_.lanes(), shape_.warps(),
                         shape_.reverse, exclusive, i, i, slots);
    }
    return out;
  }

  Result<std::string> stores_text() {
    SOLSTICE_TRY(const std::vector<map::NestStore> stores, map::nest_stores(draft_));
    std::string declared, stored;
    for (const map::NestStore& store : stores) {
      declared += map::declaration(draft_, store);
      stored += map::vector_store(draft_, store);
    }
    SOLSTICE_TRY(const std::string lanes, lanes_text([&]() -> Result<std::string> {
                   std::string out;
                   for (const map::NestStore& store : stores) {
                     SOLSTICE_TRY(const std::string text, map::lane_text(draft_, store));
                     out += text;
                   }
                   return out;
                 }));
    return declared + lanes + stored;
  }

  Text kernel_text(const std::string& body) const {
    Text out;
    const std::vector<int>& reads = draft_.emitter.tensors_read();
    const std::vector<int> writes = tensors_written(shape_.nest.flat);
    out.kernel.entry = codegen::entry_name(kernel_.name);
    out.kernel.parameters = reads;
    out.kernel.parameters.insert(out.kernel.parameters.end(), writes.begin(), writes.end());
    out.kernel.blocks = shape_.blocks();
    out.shared_bytes = shape_.warps() > 1 ? static_cast<int64_t>(scans_.size()) * 2 * kSlot * shape_.warps() : 0;
    out.kernel.code = fmt::format(
        "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"scan/scan.h\"\n\n"
        "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, 1) {}({}) {{\nusing namespace solstice;\nusing namespace solstice::math;\n{}{}{}}}\n",
        shape_.threads, out.kernel.entry, fmt::join(pointer_parameters(draft_.emitter, reads, writes), ", "),
        out.shared_bytes > 0 ? "unsigned char* const shared = shared_bytes();\n" : "",
        thread_text(shape_, draft_.index_type(), inner_vectors()), body);
    return out;
  }

  const ir::Kernel& kernel_;
  Shape& shape_;
  map::Settings settings_;
  map::Draft draft_;
  map::Streams streams_;
  std::vector<rows::Reduction> scans_;  // beside the shape's prefixes
  std::optional<int> lane_depth_;       // while lanes are written
  bool scanned_ = false;                // prefixes stand for the scans' results
};

}  // namespace

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape) {
  return Writer(program, kernel, shape).write();
}

}  // namespace solstice::families::scan
