#include "families/elementwise/nest_text.h"

#include <fmt/format.h>

#include <optional>

#include "base/integer.h"
#include "codegen/serial.h"
#include "families/elementwise/draft.h"
#include "families/elementwise/stores.h"
#include "families/elementwise/streams.h"
#include "families/walk.h"

namespace solstice::families::elementwise {
namespace {

using codegen::CType;
using codegen::Emitter;
using codegen::Value;

// A thread takes `unroll` vectors: one loop loads what is streamed, a second one computes and stores.
class NestWriter {
 public:
  NestWriter(const ir::Program& program, Nest& nest, int id, const Settings& settings)
      : draft_(program, nest, settings), id_(id), streams_(draft_) {}

  Result<NestText> write(int64_t first_block) {
    draft_.emitter.set_hook([this](Emitter&, const ir::ExprRef& node) { return given(node); });
    SOLSTICE_TRY(const std::string loads, load_loop());
    SOLSTICE_TRY(const std::string computes, compute_loop());
    const std::string once = draft_.emitter.take(0);
    NestText out;
    out.reads = draft_.emitter.tensors_read();
    out.writes = tensors_written(draft_.nest.flat);
    out.function = fmt::format("template <bool kFull>\nSOLSTICE_DEVICE void nest{}({}, {} first) {{\n{}{}{}{}}}\n", id_,
                               parameters(out), draft_.index_type(), once, streams_.declarations(), loads, computes);
    out.call = call(out, first_block);
    out.blocks = ceil_div(draft_.nest.vectors(), draft_.block_step());
    return out;
  }

 private:
  Result<std::optional<Value>> given(const ir::ExprRef& node) {
    if (node->op == ir::Op::kReduce) {
      SOLSTICE_TRY(Value value, codegen::emit_serial_reduction(draft_.emitter, node));
      return std::optional(value);
    }
    return lane_depth_ ? streams_.element(node, *lane_depth_) : std::optional<Value>();
  }

  // Over the vectors number `q` of a thread.
  std::string loop_head() const {
    return fmt::format(
        "#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\nconst {} q = first + u * {} + "
        "static_cast<int>(threadIdx.x);\n"
        "if (!kFull && q >= {}) break;\n",
        draft_.unroll, draft_.index_type(), draft_.settings.threads, draft_.nest.vectors());
  }

  int open_loop() {
    const Nest& nest = draft_.nest;
    const int depth = draft_.emitter.push();
    const Value q =
        draft_.emitter.variable(draft_.wide() ? CType::kI64 : CType::kI32, "q", depth, {0, nest.vectors() - 1});
    bind_loops(draft_.emitter, nest.loops, q, nest.vector, depth);
    return depth;
  }

  std::string close_loop(int depth, const std::string& body) {
    std::string out = loop_head() + draft_.emitter.take(depth) + body + "}\n";
    draft_.emitter.pop();
    return out;
  }

  Result<std::string> load_loop() {
    if (streams_.empty()) return std::string();
    const int depth = open_loop();
    SOLSTICE_TRY(const std::string loads, streams_.loads());
    return close_loop(depth, loads);
  }

  Result<std::string> compute_loop() {
    const int depth = open_loop();
    SOLSTICE_TRY(const std::vector<NestStore> stores, nest_stores(draft_));
    lane_depth_ = draft_.emitter.push();
    bind_lanes(draft_.emitter, draft_.nest.loops, draft_.nest.vector, *lane_depth_);
    std::string lanes;
    for (const NestStore& store : stores) {
      SOLSTICE_TRY(const std::string text, lane_text(draft_, store));
      lanes += text;
    }
    lanes = draft_.emitter.take(*lane_depth_) + lanes;
    draft_.emitter.pop();
    lane_depth_.reset();
    std::string declarations, vector_stores;
    for (const NestStore& store : stores) {
      declarations += declaration(draft_, store);
      vector_stores += vector_store(draft_, store);
    }
    return close_loop(depth, declarations + lane_loop(lanes) + vector_stores);
  }

  std::string lane_loop(const std::string& text) const {
    const Nest& nest = draft_.nest;
    if (nest.vector == 1) return streams_.empty() ? text : "constexpr int lane = 0;\n" + text;
    const std::string stop =
        draft_.tail() == 0 ? "" : fmt::format("if (!kFull && q * {} + lane >= {}) break;\n", nest.vector, nest.points);
    return fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}{}}}\n", nest.vector, stop, text);
  }

  std::string parameters(const NestText& text) const {
    return fmt::format("{}", fmt::join(pointer_parameters(draft_.emitter, text.reads, text.writes), ", "));
  }

  // Whole blocks skip all tests.
  std::string call(const NestText& text, int64_t first_block) const {
    std::string pointers;
    for (const int tensor : text.reads) pointers += draft_.emitter.pointer_name(tensor) + ", ";
    for (const int tensor : text.writes) pointers += draft_.emitter.pointer_name(tensor) + ", ";
    const int64_t step = draft_.block_step();
    const std::string first = fmt::format("const {0} first = static_cast<{0}>(blockIdx.x - {1}u) * {2};\n",
                                          draft_.index_type(), first_block, step);
    const bool all_full = draft_.nest.points % (step * draft_.nest.vector) == 0;
    if (all_full) return fmt::format("{}nest{}<true>({}first);\n", first, id_, pointers);
    return fmt::format("{0}if (first + {1} <= {2}) nest{3}<true>({4}first);\nelse nest{3}<false>({4}first);\n", first,
                       step, draft_.whole_vectors(), id_, pointers);
  }

  Draft draft_;
  int id_;
  Streams streams_;
  std::optional<int> lane_depth_;  // while lanes are written
};

}  // namespace

Result<NestText> nest_text(const ir::Program& program, Nest& nest, int id, int64_t first_block,
                           const Settings& settings) {
  return NestWriter(program, nest, id, settings).write(first_block);
}

}  // namespace solstice::families::elementwise
