#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/integer.h"
#include "families/emission.h"
#include "families/rows/accumulate.h"
#include "families/rows/draft.h"
#include "families/rows/layout.h"
#include "families/rows/stores.h"
#include "families/rows/team.h"
#include "families/walk.h"

namespace solstice::families::rows {
namespace {

using codegen::Binding;
using codegen::CType;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

constexpr int64_t kOffer = 16;  // bytes

// What the parts of the text that do not know of teams are written for: one group's threads, which own a whole row.
Settings settings_for(const Team& team) {
  Settings s;
  s.threads = s.group = team.threads;
  s.vector = team.vector;
  s.residency = Residency::kReload;
  return s;
}

class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Team& team)
      : kernel_(kernel), team_(team), settings_(settings_for(team)), draft_(program, shape, settings_) {}

  Result<Emission> write() {
    draft_.emitter.set_hook([this](codegen::Emitter&, const ExprRef& node) { return given(node); });
    SOLSTICE_TRY(const std::string copying, copying_text());
    SOLSTICE_TRY(const std::string row, row_text());
    return finish(copying, row);
  }

 private:
  Result<std::optional<Value>> given(const ExprRef& node) {
    if (node->op == Op::kReduce) {
      const auto found = results_.find(node.get());
      if (found == results_.end()) return fail(Code::internal, "a reduction is used before its sweep");
      return std::optional(found->second);
    }
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      if (team_.streams[i].access.read != node) continue;
      const DType dtype = *draft_.program.tensor(node->id).dtype;
      return std::optional(draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen(u{}.v[lane])", i), lane_depth_,
                                                 codegen::values_of(dtype)));
    }
    return std::optional<Value>();
  }

  void bind_row(int depth) {
    const CType type = draft_.shape.row_count > INT32_MAX / 2 ? CType::kI64 : CType::kI32;
    bind_loops(draft_.emitter, draft_.shape.rows, draft_.emitter.variable(type, "row", depth, {0, draft_.shape.row_count - 1}), 1, depth);
  }
  // Columns from the block's first one on.
  void bind_part(int depth) {
    const int64_t vectors = ceil_div(draft_.shape.column_count, team_.vector);
    draft_.emitter.bind(draft_.shape.columns.back().stepping(),
                        Binding{0, {{draft_.emitter.variable(CType::kI32, "first", depth, {0, vectors - 1}), team_.vector}}});
  }

  Result<std::string> copying_text() {
    codegen::Emitter& emitter = draft_.emitter;
    const int depth = emitter.push();
    bind_row(depth);
    bind_part(depth);
    std::string copies;
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      SOLSTICE_TRY(const std::string copy, run_copy(emitter, team_.streams[i]));
      copies += fmt::format("if (lane == {}) {}", i, copy);
    }
    const std::string once = emitter.take(depth);
    emitter.pop();
    return fmt::format(
        "const int lane = static_cast<int>(threadIdx.x) % 32;\nconstexpr int mine = 0;\n"
        "for ({0} row = team; row < {1}; row += {2}) {{\nring.wait_empty();\nu32 expected = 0;\nif (first < last) {{\n"
        "const int count = smaller((last - first) * {3}, {4} - first * {3});\n{5}{6}}}\nring.expect(expected);\nring.advance();\n}}\n",
        row_type(), draft_.shape.row_count, team_.teams, team_.vector, draft_.shape.column_count, once, copies);
  }

  std::string_view row_type() const { return draft_.shape.row_count > INT32_MAX / 2 ? "long long" : "int"; }

  Result<std::string> row_text() {
    bind_row(0);
    bind_part(0);
    std::string pointers;
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      const RunRead& s = team_.streams[i];
      const std::string_view type = draft_.storage(s.access.tensor);
      std::string skip;
      if (team_.vector == 1) {
        SOLSTICE_TRY(const std::string begin, run_begin(draft_.emitter, s));
        skip = fmt::format(" + reduce::Run<{}>::before({})", type, begin);
      }
      pointers += fmt::format("const {0}* const s{1} = reinterpret_cast<const {0}*>(ring.bytes() + {2}){3};\n", type, i, s.offset, skip);
    }
    std::string body = draft_.emitter.take(0) + pointers;
    for (const Sweep& sweep : draft_.phases.sweeps) {
      SOLSTICE_TRY(const std::string text, sweep_text(sweep));
      body += text;
    }
    SOLSTICE_TRY(const std::string outputs, row_output_text(draft_));
    return body + outputs;
  }

  Result<std::string> sweep_text(const Sweep& sweep) {
    codegen::Emitter& emitter = draft_.emitter;
    std::vector<Reduction> reductions;
    const int vectors = emitter.push();
    bind_columns(emitter, draft_.shape, team_.vector, vectors);
    SOLSTICE_TRY(const std::vector<RowStore> stores, row_stores(draft_, sweep));
    lane_depth_ = emitter.push();
    bind_lanes(emitter, draft_.shape.columns, team_.vector, lane_depth_);
    VectorText text;
    for (const ExprRef& r : sweep.reductions) {
      SOLSTICE_TRY(Reduction reduction, begin_reduction(emitter, *r, true));
      text.lanes += accumulate(reduction, reductions.size(), false);
      reductions.push_back(std::move(reduction));
    }
    text.before += open_vector(reductions);
    text.after += close_vector(reductions);
    for (const RowStore& store : stores) SOLSTICE_CHECK(write_store(draft_, store, text));
    const std::string lanes = emitter.take(lane_depth_) + text.lanes;
    emitter.pop();
    const std::string outer = emitter.take(vectors);
    emitter.pop();
    const std::string once = emitter.take(0);
    for (size_t i = 0; i < reductions.size(); ++i) {
      if (reductions[i].bytes() > 8) return fail(Code::illegal_knobs, "`team`: a reduction of more than 8 bytes; drop it");
      results_[sweep.reductions[i].get()] = emitter.variable(reductions[i].value_type, reductions[i].value(), 0);
    }
    return once + open_accumulators(reductions, team_.vector) + loop_text(outer, text.before, lanes, text.after) + combine_text(reductions);
  }

  std::string loop_text(const std::string& outer, const std::string& before, const std::string& lanes, const std::string& after) const {
    std::string loads;
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      const std::string_view type = draft_.storage(team_.streams[i].access.tensor);
      loads +=
          fmt::format("[[maybe_unused]] const Vec<{0}, {1}> u{2} = *reinterpret_cast<const Vec<{0}, {1}>*>(s{2} + (c - first) * {1});\n",
                      type, team_.vector, i);
    }
    return fmt::format(
        "#pragma unroll 4\nfor (int c = first + place; c < last; c += {0}) {{\n{1}{2}{3}#pragma unroll\nfor (int lane = 0; lane < {4}; ++lane) {{\n{5}}}\n{6}}}\n",
        team_.threads, outer, loads, before, team_.vector, lanes, after);
  }

  // A group's lanes to the row's results: its warps through shared memory, blocks through offers.
  std::string combine_text(const std::vector<Reduction>& reductions) {
    if (reductions.empty()) return "";
    const std::string with = fmt::format("{}, {}, 1", team_.groups * team_.threads, team_.threads);
    std::string publish, collect, offers, gathers, totals;
    for (size_t i = 0; i < reductions.size(); ++i) {
      const Reduction& r = reductions[i];
      const auto publish_text = [&](const std::string& slots) {
        return fmt::format("rows::publish<rows::{}, {}>({}, {}, 0);\n", r.op, with, r.name, slots);
      };
      const auto collect_text = [&](const std::string& slots) {
        return fmt::format("{} = rows::collect<rows::{}, {}, {}>({});\n", r.name, r.op, with, r.type, slots);
      };
      const std::string slots = take_slots(r);
      publish += fold_lanes(r, i, team_.vector) + publish_text(slots);
      collect += collect_text(slots);
      if (team_.blocks == 1) continue;
      const std::string place = fmt::format("offers + (turn * {} + {}) * {}", kReductionsMark, offers_++, team_.blocks);
      const std::string all = take_slots(r);
      offers += fmt::format("rows::offer({}, round, {} + rank);\n", r.name, place);
      gathers += fmt::format("{} = rows::gather<rows::{}, {}, {}, {}>({}, place, round);\n", r.name, r.op, team_.blocks, team_.threads,
                             r.type, place) +
                 publish_text(all);
      totals += collect_text(all);
    }
    std::string out = publish + sync() + collect;
    if (team_.blocks > 1) out += fmt::format("if (place == 0) {{\n{}}}\n{}{}{}", offers, gathers, sync(), totals);
    return out + "}\n";
  }
  std::string sync() const { return fmt::format("rows::sync_group<{}>(group);\n", team_.threads); }
  // One slot a warp.
  std::string take_slots(const Reduction& r) {
    const std::string slots = fmt::format("reinterpret_cast<{}*>(aside + {})", r.type, aside_);
    aside_ += kLargestAccumulator * team_.groups * team_.threads / 32;
    return slots;
  }

  Result<Emission> finish(const std::string& copying, std::string row) {
    // Only now is it known how many offers a row takes.
    for (size_t at = row.find(kReductionsMark); at != std::string::npos; at = row.find(kReductionsMark)) {
      row.replace(at, std::string_view(kReductionsMark).size(), std::to_string(offers_));
    }
    const std::vector<int>& reads = draft_.emitter.tensors_read();
    const std::vector<int> writes = tensors_written(draft_.shape.flat);
    std::vector<std::string> parameters = pointer_parameters(draft_.emitter, reads, writes);
    if (offers_ > 0) parameters.push_back("solstice::rows::Offer* all_offers");
    const int64_t ring = round_up(team_.slots * (team_.slot_bytes + 16), int64_t{128});
    const std::string code = fmt::format(
        "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"reduce/ring.h\"\n#include \"rows/team.h\"\n\n"
        "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({0}, 1) {1}({2}) {{\nusing namespace solstice;\nusing namespace solstice::math;\n"
        "unsigned char* const shared = shared_bytes();\n[[maybe_unused]] unsigned char* const aside = shared + {3};\n"
        "const int rank = static_cast<int>(blockIdx.x % {4}u), team = static_cast<int>(blockIdx.x / {4}u);\n"
        "const int first = rank * {5}, last = smaller(first + {5}, {6});\n"
        "reduce::Ring<{7}, {8}, {9}> ring(shared);\nrows::sync_block();\n"
        "if (threadIdx.x >= {10}) {{\n{11}return;\n}}\n"
        "const int group = static_cast<int>(threadIdx.x) / {12}, place = static_cast<int>(threadIdx.x) % {12};\n"
        "[[maybe_unused]] const int position = rank * {12} + place;\n"
        "for (int filling = group; ; filling += {13}) {{\nconst {14} row = team + static_cast<{14}>(filling) * {15};\nif (row >= {16}) break;\n"
        "{17}ring.go_to(filling);\nring.wait_full();\n{18}ring.release();\n{19}}}\n}}\n",
        team_.block_threads(), codegen::entry_name(kernel_.name), fmt::join(parameters, ", "), ring, team_.blocks, team_.part,
        ceil_div(draft_.shape.column_count, team_.vector), team_.slots, team_.slot_bytes, team_.threads / 32, team_.groups * team_.threads,
        copying, team_.threads, team_.groups, row_type(), team_.teams, draft_.shape.row_count, turn_text(), row, sync());
    std::vector<int> tensors = reads;
    tensors.insert(tensors.end(), writes.begin(), writes.end());
    SOLSTICE_TRY(Emission out, one_launch(draft_.program, kernel_, codegen::entry_name(kernel_.name), code, tensors,
                                          {team_.grid(), team_.block_threads(), 1, ring + aside_}));
    out.steps.front().cooperative = team_.blocks > 1;
    if (offers_ > 0) add_offers(out);
    return out;
  }

  // Which of the group's two sets of offers, and the number that marks this row's.
  std::string turn_text() const {
    if (offers_ == 0) return "";
    return fmt::format(
        "const int turn = filling / {0} % 2;\nconst u32 round = static_cast<u32>(filling / {0}) + 1;\nrows::Offer* const offers = all_offers + (team * {0} + group) * {1};\n",
        team_.groups, 2 * offers_ * team_.blocks);
  }

  void add_offers(Emission& out) const {
    PlanBuffer buffer;
    buffer.name = part_name(kernel_, "offers");
    buffer.dtype = DType::kU8;
    buffer.bytes = team_.teams * team_.groups * 2 * offers_ * team_.blocks * kOffer;
    buffer.shape = {buffer.bytes};
    buffer.strides = {1};
    out.steps.front().arguments.push_back(pointer_to(buffer.name));
    Step clear;
    clear.name = part_name(kernel_, "clear");
    clear.kind = StepKind::kMemset;
    clear.phase = out.steps.front().phase;
    clear.buffer = buffer.name;
    clear.bytes = buffer.bytes;
    out.steps.insert(out.steps.begin(), std::move(clear));
    out.workspace.push_back(std::move(buffer));
  }

  static constexpr const char* kReductionsMark = "@offers@";

  const ir::Kernel& kernel_;
  const Team& team_;
  Settings settings_;
  Draft draft_;
  std::map<const ir::Expr*, Value> results_;
  int lane_depth_ = 0;
  int offers_ = 0;     // of a row
  int64_t aside_ = 0;  // bytes of shared memory beside the ring
};

}  // namespace

Result<Emission> emit_team(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Team& team) {
  return Writer(program, kernel, shape, team).write();
}

}  // namespace solstice::families::rows
