#include "families/scan/emit.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "codegen/serial.h"
#include "families/map/draft.h"
#include "families/map/stores.h"
#include "families/map/streams.h"
#include "families/scan/scan_text.h"
#include "families/scan/walk_text.h"
#include "families/walk.h"

namespace solstice::families::scan {
namespace {

using codegen::Binding;
using codegen::CType;
using codegen::Emitter;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

constexpr int kRounds = 4;  // of the grid, that offers have room for (scan/grid.h)

// A tile: its vectors are loaded, turned into elements, scanned, and stored.
class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, Shape& shape)
      : kernel_(kernel),
        shape_(shape),
        settings_{shape.threads, shape.nest.vector, shape.unroll, {}},
        draft_(program, shape.nest, settings_),
        streams_(draft_),
        walk_{shape, draft_.index_type()} {}

  Result<Text> write() {
    draft_.emitter.set_hook([this](Emitter&, const ExprRef& node) { return given(node); });
    std::string loads;
    if (!streams_.empty()) {
      SOLSTICE_TRY(loads, vectors_text([this] { return streams_.loads(); }));
    }
    SOLSTICE_TRY(const std::string elements, elements_text());
    scanned_ = true;
    SOLSTICE_TRY(const std::string stores, vectors_text([this] { return stores_text(); }));
    const std::string once = draft_.emitter.take(0), histories = histories_text();
    return kernel_text(once + histories + tiles_text(loads, elements, stores));
  }

 private:
  Result<std::optional<Value>> given(const ExprRef& node) {
    for (size_t i = 0; scanned_ && i < shape_.prefixes.size(); ++i) {
      if (node != shape_.prefixes[i].elements) continue;
      return std::optional(draft_.emitter.variable(scans_[i].value_type, fmt::format("s{}[u][lane]{}", i, scans_[i].member), *lane_depth_));
    }
    if (node->op == Op::kReduce) {
      SOLSTICE_TRY(Value value, codegen::emit_serial_reduction(draft_.emitter, node));
      return std::optional(value);
    }
    if (!lane_depth_) return std::optional<Value>();
    std::optional<Value> loaded = streams_.element(node, *lane_depth_);
    loaded_behind_ |= scanned_ && loaded;
    return loaded;
  }

  std::string tiles_text(const std::string& loads, const std::string& elements, const std::string& stores) {
    const std::string declared = streams_.declarations();
    if (shape_.grid > 0) return declared + rounds_text(loads, elements, declared, stores);
    return fmt::format("#pragma unroll 1\nfor (int tile = 0; tile < {}; ++tile) {{\n{}{}{}{}{}{}}}\n", shape_.tiles(), declared, loads,
                       accumulators_text(scans_, shape_), elements, scans_text("history"), stores);
  }

  // A block loads its next tile, and tells of it, before it asks what comes before this one (scan/grid.h). What the stores want
  // of this tile's loads is then read again, from L2.
  std::string rounds_text(const std::string& loads, const std::string& elements, const std::string& declared, const std::string& stores) {
    std::string tell, ask;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const Scan& s = scans_[i];
      const int64_t kept = int64_t{shape_.unroll} * shape_.nest.vector * shape_.threads;
      const std::string room = slots(s, 2 * kept), at = shape_.by_columns ? "[0]" : "";
      tell += fmt::format("history{0}{1}.tell(round, told{0}{1}.all);\nscan::keep<{2}>(s{0}, {3} + round % 2 * {4});\n", i, at,
                          shape_.threads, room, kept);
      const std::string place =
          shape_.by_columns ? "" : fmt::format(", tile, ((round - 1) * {} + {}) % {}", shape_.grid, shape_.grid - 1, shape_.tiles());
      ask += fmt::format("scan::recall<{0}, {1}>(s{2}, {3} + (round - 1) % 2 * {4}, history{2}{5}.before(round - 1{6}));\n", s.op,
                         shape_.threads, i, room, kept, at, place);
    }
    const std::string now = accumulators_text(scans_, shape_) + elements + told_text(scans_, shape_) + scans_text("told") + tell;
    const std::string next = fmt::format("if (round + 1 < {}) {{\n{}{}}}\n", shape_.rounds(), walk_.of_round("(round + 1)"), loads);
    const std::string last = accumulators_text(scans_, shape_) + ask + (loaded_behind_ ? declared + loads : "") + stores;
    return fmt::format(
        "{{\n{0}{1}}}\n#pragma unroll 1\nfor (int round = 0; round <= {2}; ++round) {{\nif (round < {2}) {{\n{3}{4}{5}}}\nif (round > 0) {{\n{6}{7}}}\n}}\n",
        walk_.of_round("0"), loads, shape_.rounds(), walk_.of_round("round"), now, next, walk_.of_round("(round - 1)"), last);
  }

  // `write` once for all vectors of a tile, in a scope where their loops are bound; `first` (asked afterwards) runs
  // for vectors beyond the row too.
  template <class F>
  Result<std::string> vectors_text(F&& write, const std::function<std::string()>& first = nullptr) {
    const int depth = draft_.emitter.push();
    bind_vector(depth);
    SOLSTICE_TRY(const std::string body, write());
    const std::string scope = draft_.emitter.take(depth);
    draft_.emitter.pop();
    return fmt::format("#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\n{}{}{}{{\n{}{}}}\n}}\n", shape_.unroll, first ? first() : "",
                       walk_.place(), walk_.inside(), scope, body);
  }

  void bind_vector(int depth) {
    const map::Nest& nest = shape_.nest;
    const CType type = draft_.wide() ? CType::kI64 : CType::kI32;
    if (!nest.shifted) {
      const Value q = draft_.emitter.variable(type, "q", depth, {0, nest.points / nest.vector - 1});
      return bind_loops(draft_.emitter, nest.loops, q, nest.vector, depth);
    }
    const std::vector<codegen::Loop> outer(nest.loops.begin(), nest.loops.end() - 1);
    bind_loops(draft_.emitter, outer, draft_.emitter.variable(type, "row", depth, {0, shape_.rows() - 1}), 1, depth);
    // Elements outside of the row are never asked for: its vectors may be taken to lie in it.
    const Value begin = draft_.emitter.variable(CType::kI32, "begin", depth, {0, shape_.extent - nest.vector});
    draft_.emitter.bind(shape_.along, Binding{0, {{begin, 1}}});
  }

  // `write` once for all lanes of a vector.
  template <class F>
  Result<std::string> lanes_text(F&& write) {
    const map::Nest& nest = shape_.nest;
    lane_depth_ = draft_.emitter.push();
    bind_lanes(draft_.emitter, nest.loops, nest.vector, *lane_depth_);
    SOLSTICE_TRY(const std::string body, write());
    const std::string text = draft_.emitter.take(*lane_depth_) + body;
    draft_.emitter.pop();
    lane_depth_.reset();
    if (nest.vector == 1) return "[[maybe_unused]] constexpr int lane = 0;\n" + text;
    const std::string test = nest.shifted ? fmt::format("if ({}) ", draft_.inside_row()) : "";
    return fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {}{{\n{}}}\n", nest.vector, test, text);
  }

  Result<std::string> elements_text() {
    const auto elements = [this]() -> Result<std::string> {
      std::string out;
      for (size_t i = 0; i < shape_.prefixes.size(); ++i) {
        const Prefix& prefix = shape_.prefixes[i];
        SOLSTICE_TRY(Scan scan, scan_text(draft_.emitter, prefix));
        out += fmt::format("{}s{}[u][lane] = {};\n", scan.test, i, scan.term);
        scans_.push_back(std::move(scan));
      }
      return out;
    };
    return vectors_text([&] { return lanes_text(elements); }, [this] { return starts_text(scans_, shape_); });
  }

  // Room of `count` accumulators in shared memory.
  std::string slots(const Scan& scan, int64_t count) {
    const std::string out = fmt::format("reinterpret_cast<{}*>(shared + {})", scan.type, shared_bytes_);
    shared_bytes_ += solstice::round_up(count * scan.bytes, 16);
    return out;
  }

  std::string histories_text() {
    std::string out;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const Scan& s = scans_[i];
      if (shape_.by_columns && shape_.grid > 0) {
        const int64_t team = shape_.grid / shape_.teams, apart = shape_.rows_per_block(), stride = shape_.teams * apart;
        out += fmt::format(
            "scan::SharedColumn<{}, {}, {}, {}, {}, {}> history{}[1] = {{{{offers + {} + blockIdx.x % {}u * {} + threadIdx.x % {}u, {}, member, warp}}}};\n",
            s.op, s.type, team, shape_.group, apart, stride, i, static_cast<int64_t>(i) * kRounds * team * stride, shape_.teams, apart,
            apart, slots(s, 4 * shape_.threads));
      } else if (shape_.by_columns) {
        out += fmt::format("scan::Alone<{}, {}> history{}[{}];\n", s.op, s.type, i, shape_.nest.vector);
      } else if (shape_.grid > 0) {
        out += fmt::format("scan::SharedRows<{}, {}, {}, {}> history{}(offers + {}, {}, rank);\n", s.op, s.type, shape_.grid,
                           shape_.threads, i, static_cast<int64_t>(i) * kRounds * shape_.grid, slots(s, 4 * shape_.warps()));
      } else {
        out += fmt::format("scan::Alone<{}, {}> history{};\n", s.op, s.type, i);
      }
    }
    return out;
  }

  // `history`: what is told of a tile and says what comes before it.
  std::string scans_text(std::string_view history) {
    std::string out;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const Scan& s = scans_[i];
      const bool exclusive = shape_.prefixes[i].exclusive;
      const int64_t values = shape_.by_columns ? int64_t{shape_.threads} * shape_.nest.vector : shape_.warps();
      const std::string room = shape_.warps() > 1 ? fmt::format("{} + {} * {}", slots(s, 2 * values), walk_.turn(), values)
                                                  : fmt::format("static_cast<{}*>(nullptr)", s.type);
      if (shape_.by_columns) {
        out += fmt::format("scan::tile_columns<{}, {}, {}, {}>(s{}, {}{}, warp, {});\n", s.op, shape_.group, shape_.rows_per_block(),
                           exclusive, i, history, i, room);
      } else {
        out += fmt::format("scan::tile<{}, {}, {}, {}, {}>(s{}, {}{}, peer, warp, {});\n", s.op, shape_.lanes(), shape_.warps(),
                           shape_.reverse, exclusive, i, history, i, room);
      }
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
    std::vector<std::string> parameters = pointer_parameters(draft_.emitter, reads, writes);
    const bool grid = shape_.grid > 0;
    if (grid) parameters.push_back("solstice::rows::Offer* offers");
    out.kernel.entry = codegen::entry_name(kernel_.name);
    out.kernel.parameters = reads;
    out.kernel.parameters.insert(out.kernel.parameters.end(), writes.begin(), writes.end());
    out.kernel.blocks = shape_.blocks();
    out.shared_bytes = shared_bytes_;
    out.offers = grid ? static_cast<int64_t>(scans_.size()) * kRounds * shape_.grid * (shape_.by_columns ? shape_.rows_per_block() : 1) : 0;
    out.kernel.code = fmt::format(
        "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"scan/{}.h\"\n\n"
        "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, {}) {}({}) {{\nusing namespace solstice;\nusing namespace solstice::math;\n{}{}{}}}\n",
        grid ? "grid" : "scan", shape_.threads, shape_.blocks_an_sm, out.kernel.entry, fmt::join(parameters, ", "),
        shared_bytes_ > 0 ? "unsigned char* const shared = shared_bytes();\n" : "", walk_.thread(), body);
    return out;
  }

  const ir::Kernel& kernel_;
  Shape& shape_;
  map::Settings settings_;
  map::Draft draft_;
  map::Streams streams_;
  WalkText walk_;
  std::vector<Scan> scans_;        // beside the shape's prefixes
  std::optional<int> lane_depth_;  // while lanes are written
  int64_t shared_bytes_ = 0;
  bool scanned_ = false;        // prefixes stand for the scans' results
  bool loaded_behind_ = false;  // a store wants what was loaded
};

}  // namespace

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape) {
  return Writer(program, kernel, shape).write();
}

}  // namespace solstice::families::scan
