#include "families/scan/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "codegen/serial.h"
#include "codegen/text/marks.h"
#include "families/elementwise/draft.h"
#include "families/elementwise/stores.h"
#include "families/elementwise/streams.h"
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

// A tile: its vectors are loaded, turned into elements, scanned, and stored. With stages, vectors are loaded into
// shared memory, tiles ahead, and taken from there.
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
      SOLSTICE_TRY(loads, vectors_text([this] { return streams_.loads(shape_.stages > 0 ? "pipeline::fetch" : ""); }));
    }
    if (shape_.stages > 0) rings_text();
    SOLSTICE_TRY(const std::string elements, elements_text());
    SOLSTICE_TRY(const std::string stores,
                 shape_.grid > 0 ? second_text() : vectors_text([this] { return stores_text(); }));
    const std::string once = draft_.emitter.take(0), histories = histories_text();
    return kernel_text(draft_, kernel_, shape_,
                       {walk_.thread(), once + histories + tiles_text(loads, elements, stores),
                        static_cast<int64_t>(scans_.size()), shared_bytes_});
  }

 private:
  Result<std::optional<Value>> given(const ExprRef& node) {
    for (size_t i = 0; scanned_ && i < shape_.prefixes.size(); ++i) {
      if (node != shape_.prefixes[i].elements) continue;
      return std::optional(draft_.emitter.variable(scans_[i].value_type,
                                                   fmt::format("s{}[u][lane]{}", i, scans_[i].member), *lane_depth_));
    }
    if (node->op == Op::kReduce) {
      SOLSTICE_TRY(Value value, codegen::emit_serial_reduction(draft_.emitter, node));
      return std::optional(value);
    }
    return lane_depth_ ? streams_.element(node, *lane_depth_) : std::optional<Value>();
  }

  std::string tiles_text(const std::string& loads, const std::string& elements, const std::string& stores) {
    const std::string declared = streams_.declarations();
    if (shape_.grid > 0) return rounds_text(loads, elements, stores);
    const std::string now = accumulators_text(scans_, shape_) + elements + scans_text() + stores;
    if (shape_.stages == 0)
      return fmt::format("#pragma unroll 1\nfor (int tile = 0; tile < {}; ++tile) {{\n{}{}{}}}\n", shape_.tiles(),
                         declared, loads, now);
    const auto ahead = [&](std::string_view tile) {
      return fmt::format("{{\nconst int tile = {};\n{}{}}}\n", tile, ring_text("", "tile"), loads);
    };
    std::string out;
    for (int64_t i = 0; i < shape_.stages; ++i)
      out += (i < shape_.tiles() ? ahead(std::to_string(i)) : "") + "pipeline::commit();\n";
    return out +
           fmt::format(
               "#pragma unroll 1\nfor (int done = 0; done < {0}; ++done) {{\npipeline::wait<{1}>();\n{{\nconst int "
               "tile = done;\n{2}{3}{4}}}\n"
               "if (done + {5} < {0}) {6}pipeline::commit();\n}}\n",
               shape_.tiles(), shape_.stages - 1, declared, ring_text("_ring", "tile"), now, shape_.stages,
               ahead(fmt::format("done + {}", shape_.stages)));
  }

  // A block tells what its next tile holds before it asks what comes before this one (scan/grid.h). Of a tile that was
  // told only the places of its vectors stay in registers; its elements are found again in shared memory.
  std::string rounds_text(const std::string& loads, const std::string& elements, const std::string& stores) {
    const int ahead = shape_.stages - 1;
    std::string places, glances, tell, ask, moved;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const Scan& s = scans_[i];
      const int count = shape_.by_columns ? 1 : shape_.unroll;
      places += fmt::format("{0} before{1}[{2}] = {{}}, before{1}_next[{2}] = {{}};\n", s.type, i, count);
      moved +=
          fmt::format("#pragma unroll\nfor (int u = 0; u < {1}; ++u) before{0}[u] = before{0}_next[u];\n", i, count);
      glances += fmt::format("history{}.glance(round - 1);\n", i);
      tell += publish_text(i);
      ask += look_back_text(i);
    }
    const auto load = [&](std::string_view round) { return walk_.of_round(round) + ring_text("", round) + loads; };
    std::string first;
    for (int64_t i = 0; i < ahead; ++i)
      first +=
          (i < shape_.rounds() ? fmt::format("{{\n{}}}\n", load(std::to_string(i))) : "") + "pipeline::commit();\n";
    const auto pass = [&](std::string_view round) {
      return walk_.of_round(round) + ring_text("_ring", round) + streams_.declarations() +
             accumulators_text(scans_, shape_);
    };
    return fmt::format(
        "{0}{1}#pragma unroll 1\nfor (int round = 0; round <= {2}; ++round) {{\nif (round > 0) {{\n{3}}}\n"
        "if (round < {2}) {{\npipeline::wait<{4}>();\n{5}{13}{6}}}\nif (round > 0) {{\n{7}{8}{9}}}\n{10}"
        "if (round + {11} < {2}) {{\n{12}}}\npipeline::commit();\n}}\n",
        first, places, shape_.rounds(), glances, ahead - 1, pass("round"), tell, pass("(round - 1)"), ask, stores,
        moved, ahead, load(fmt::format("(round + {})", ahead)), elements);
  }

  // The first scan of a tile: what it holds.
  std::string publish_text(size_t i) { return codegen::marked(tell_text(i), scans_[i].equation, "scan"); }
  std::string tell_text(size_t i) {
    const Scan& s = scans_[i];
    if (shape_.by_columns) {
      return fmt::format(
          "scan::scan_steps<{0}>(s{1});\n{2} all{1}[1];\nscan::scan_parts<{0}, {3}, {4}>(s{1}, before{1}_next, all{1}, "
          "warp, {5});\n"
          "history{1}.tell(round, all{1}[0]);\n",
          s.op, i, s.type, shape_.group, shape_.rows_per_block(), turns_text(s));
    }
    return fmt::format(
        "scan::scan_vectors<{0}, {1}>(s{2});\n"
        "history{2}.tell(round, scan::scan_tile<{0}, {3}, {4}, {1}>(s{2}, before{2}_next, peer, warp, {5}));\n",
        s.op, shape_.reverse, i, shape_.lanes(), shape_.warps(), turns_text(s));
  }

  // The prefix of this tile.
  std::string look_back_text(size_t i) const { return codegen::marked(ask_text(i), scans_[i].equation, "scan"); }
  std::string ask_text(size_t i) const {
    const Scan& s = scans_[i];
    if (shape_.by_columns)
      return fmt::format(
          "const {0} base{1} = {2}::combine(history{1}.before(round - 1), before{1}[0]);\n"
          "{0} own{1} = {2}::start<{0}>();\n",
          s.type, i, s.op);
    return fmt::format("const {} others{} = history{}.before(round - 1, tile, ((round - 1) * {} + {}) % {});\n", s.type,
                       i, i, shape_.grid, shape_.grid - 1, shape_.tiles());
  }

  // The second scan, of vector `u`: its prefixes.
  std::string behind_text() const {
    std::string out;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const Scan& s = scans_[i];
      const bool exclusive = shape_.prefixes[i].exclusive;
      if (shape_.by_columns) {
        out += codegen::mark(s.equation, "scan") +
               fmt::format("scan::put_behind<{0}, {1}>(s{2}[u][0], base{2}, own{2});\n", s.op, exclusive, i);
      } else {
        const std::string text = fmt::format(
            "scan::scan_vector<{0}, {1}>(s{2}[u]);\nscan::put_behind<{0}, {1}, {3}>(s{2}[u], {0}::combine(others{2}, "
            "before{2}[u]));\n",
            s.op, shape_.reverse, i, exclusive);
        out += codegen::marked(text, s.equation, "scan");
      }
    }
    return out;
  }

  // Room for the tiles of each stream.
  void rings_text() {
    for (const elementwise::Streams::Vector& v : streams_.vectors()) {
      const int64_t tile = v.bytes * shape_.unroll * shape_.threads;
      rings_.push_back(fmt::format("shared + {} + {{}} % {} * {}", shared_bytes_, shape_.stages, tile));
      shared_bytes_ += solstice::round_up(shape_.stages * tile, 16);
    }
  }

  // The places of this thread's vectors of tile or round `number`.
  std::string ring_text(std::string_view suffix, std::string_view number) const {
    std::string out;
    const std::vector<elementwise::Streams::Vector> vectors = streams_.vectors();
    for (size_t i = 0; i < vectors.size(); ++i) {
      out += fmt::format("const pipeline::ThreadSlots<{}, {}> {}{}({});\n", vectors[i].type, shape_.threads,
                         vectors[i].name, suffix, fmt::format(fmt::runtime(rings_[i]), number));
    }
    return out;
  }

  std::string takes_text() const {
    std::string out;
    if (shape_.stages == 0) return out;
    for (const elementwise::Streams::Vector& v : streams_.vectors())
      out += fmt::format("{0}[u] = pipeline::take({0}_ring[u]);\n", v.name);
    return out;
  }

  // `write` once for all vectors of a tile, in a scope where their loops are bound; `first` (asked afterwards) runs
  // for vectors beyond the row too.
  template <class F>
  Result<std::string> vectors_text(F&& write, const std::function<std::string()>& first = nullptr) {
    const int depth = vector_depth_ = draft_.emitter.push();
    bind_vector(depth);
    SOLSTICE_TRY(const std::string body, write());
    const std::string scope = draft_.emitter.take(depth);
    draft_.emitter.pop();
    return fmt::format("#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\n{}{}{}{{\n{}{}}}\n}}\n", shape_.unroll,
                       first ? first() : "", walk_.place(), walk_.inside(), scope, body);
  }

  // The row's number is taken apart, and where vector `u` stands along it is known: no vector's own number is divided.
  void bind_vector(int depth) {
    const elementwise::Nest& nest = shape_.nest;
    const CType type = draft_.wide() ? CType::kI64 : CType::kI32;
    const auto along = std::find_if(nest.loops.begin(), nest.loops.end(),
                                    [&](const codegen::Loop& loop) { return loop.indices.front() == shape_.along; });
    const std::vector<codegen::Loop> outer(nest.loops.begin(), along), inner(along + 1, nest.loops.end());
    const auto points = [](const std::vector<codegen::Loop>& loops) {
      int64_t out = 1;
      for (const codegen::Loop& loop : loops) out *= loop.extent;
      return out;
    };
    const char* const outer_name = shape_.by_columns ? "outer" : "row";
    bind_loops(draft_.emitter, outer, draft_.emitter.variable(type, outer_name, depth, {0, points(outer) - 1}), 1,
               depth);
    const bool single = shape_.by_columns || nest.shifted;
    // Elements outside of a shifted row are never asked for: its vectors may be taken to lie in it.
    const int64_t places = nest.shifted ? shape_.extent - nest.vector + 1 : shape_.row_vectors();
    const Value at = draft_.emitter.variable(CType::kI32, nest.shifted ? "begin" : "at", depth, {0, places - 1});
    draft_.emitter.bind(shape_.along, Binding{0, {{at, single ? 1 : nest.vector}}});
    if (!shape_.by_columns) return;
    bind_loops(draft_.emitter, inner,
               draft_.emitter.variable(type, "inner", depth, {0, points(inner) / nest.vector - 1}), nest.vector, depth);
  }

  // `write` once for all lanes of a vector.
  template <class F>
  Result<std::string> lanes_text(F&& write) {
    const elementwise::Nest& nest = shape_.nest;
    lane_depth_ = draft_.emitter.push();
    bind_lanes(draft_.emitter, nest.loops, nest.vector, *lane_depth_);
    SOLSTICE_TRY(const std::string body, write());
    const std::string text = draft_.emitter.take(*lane_depth_) + body;
    draft_.emitter.pop();
    lane_depth_.reset();
    bind_vector(vector_depth_);  // without lanes again
    if (nest.vector == 1) return fmt::format("{{\n[[maybe_unused]] constexpr int lane = 0;\n{}}}\n", text);
    const auto all = [&](std::string_view test) {
      return fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {}{{\n{}}}\n", nest.vector, test, text);
    };
    if (!nest.shifted) return all("");
    const std::string tested = all(fmt::format("if ({}) ", draft_.inside_row()));
    // In most warps no row ends.
    return shape_.group > kWarp ? fmt::format("if (whole) {{\n{}}} else {{\n{}}}\n", all(""), tested) : tested;
  }

  Result<std::string> elements_text() {
    return vectors_text([this] { return vector_elements_text(); }, [this] { return starts_text(scans_, shape_); });
  }

  // Vectors of the second scan, whose places are known: one after the other, each is scanned and stored.
  Result<std::string> second_text() {
    const auto write = [this]() -> Result<std::string> {
      SOLSTICE_TRY(const std::string elements, vector_elements_text());
      SOLSTICE_TRY(const std::string stores, stores_text());
      return elements + behind_text() + stores;
    };
    return vectors_text(write, [this] { return starts_text(scans_, shape_); });
  }

  // The elements of vector `u`, `s0[u]` and on.
  Result<std::string> vector_elements_text() {
    scans_.clear();
    const auto elements = [this]() -> Result<std::string> {
      std::string out;
      for (size_t i = 0; i < shape_.prefixes.size(); ++i) {
        const Prefix& prefix = shape_.prefixes[i];
        SOLSTICE_TRY(Scan scan, scan_text(draft_.emitter, prefix));
        out += codegen::mark(scan.equation) + fmt::format("{}s{}[u][lane] = {};\n", scan.test, i, scan.term);
        scans_.push_back(std::move(scan));
      }
      return out;
    };
    SOLSTICE_TRY(const std::string text, lanes_text(elements));
    return takes_text() + text;
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
            "scan::SharedColumn<{}, {}, {}, {}, {}, {}> history{}(offers + {} + blockIdx.x % {}u * {} + threadIdx.x % "
            "{}u, {}, member, warp);\n",
            s.op, s.type, team, shape_.group, apart, stride, i, static_cast<int64_t>(i) * kRounds * team * stride,
            shape_.teams, apart, apart, slots(s, 4 * shape_.threads));
      } else if (shape_.by_columns) {
        out += fmt::format("scan::Alone<{}, {}> history{}[{}];\n", s.op, s.type, i, shape_.nest.vector);
      } else if (shape_.grid > 0) {
        out += fmt::format("scan::SharedRows<{}, {}, {}, {}> history{}(offers + {}, {}, rank);\n", s.op, s.type,
                           shape_.grid, shape_.threads, i, static_cast<int64_t>(i) * kRounds * shape_.grid,
                           slots(s, 4 * shape_.warps()));
      } else {
        out += fmt::format("scan::Alone<{}, {}> history{};\n", s.op, s.type, i);
      }
    }
    return out;
  }

  // Exchange of partial results among warps, in the turn of this tile.
  std::string turns_text(const Scan& s) {
    const int64_t values = shape_.by_columns ? int64_t{shape_.threads} * shape_.nest.vector : shape_.warps();
    return shape_.warps() > 1 ? fmt::format("{} + {} * {}", slots(s, 2 * values), walk_.turn(), values)
                              : fmt::format("static_cast<{}*>(nullptr)", s.type);
  }

  std::string scans_text() {
    std::string out;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const Scan& s = scans_[i];
      const bool exclusive = shape_.prefixes[i].exclusive;
      if (shape_.by_columns) {
        out += codegen::mark(s.equation, "scan") +
               fmt::format("scan::tile_columns<{}, {}, {}, {}>(s{}, history{}, warp, {});\n", s.op, shape_.group,
                           shape_.rows_per_block(), exclusive, i, i, turns_text(s));
      } else {
        out += codegen::mark(s.equation, "scan") +
               fmt::format("scan::tile<{}, {}, {}, {}, {}>(s{}, history{}, peer, warp, {});\n", s.op, shape_.lanes(),
                           shape_.warps(), shape_.reverse, exclusive, i, i, turns_text(s));
      }
    }
    return out;
  }

  Result<std::string> stores_text() {
    scanned_ = true;
    SOLSTICE_TRY(const std::vector<elementwise::NestStore> stores, elementwise::nest_stores(draft_));
    std::string declared, stored;
    for (const elementwise::NestStore& store : stores) {
      declared += elementwise::declaration(draft_, store);
      stored += elementwise::vector_store(draft_, store);
    }
    SOLSTICE_TRY(const std::string lanes, lanes_text([&]() -> Result<std::string> {
                   std::string out;
                   for (const elementwise::NestStore& store : stores) {
                     SOLSTICE_TRY(const std::string text, elementwise::lane_text(draft_, store));
                     out += text;
                   }
                   return out;
                 }));
    scanned_ = false;
    return declared + lanes + stored;
  }

  const ir::Kernel& kernel_;
  Shape& shape_;
  elementwise::Settings settings_;
  elementwise::Draft draft_;
  elementwise::Streams streams_;
  WalkText walk_;
  std::vector<Scan> scans_;         // in the order of the shape's prefixes
  std::vector<std::string> rings_;  // in the order of the streams' vectors: the place of tile `{}`
  int vector_depth_ = 0;            // of what is the same for a vector's lanes
  std::optional<int> lane_depth_;   // while lanes are written
  int64_t shared_bytes_ = 0;
  bool scanned_ = false;  // prefixes stand for the scans' results
};

}  // namespace

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape) {
  return Writer(program, kernel, shape).write();
}

}  // namespace solstice::families::scan
