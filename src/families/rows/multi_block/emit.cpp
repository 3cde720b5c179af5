#include "families/rows/multi_block/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/integer.h"
#include "codegen/text/marks.h"
#include "families/reduction/row_access.h"
#include "families/rows/accumulators.h"
#include "families/rows/draft.h"
#include "families/rows/multi_block/kernel.h"
#include "families/rows/multi_block/plan.h"
#include "families/rows/multi_block/walk.h"
#include "families/rows/resident_values.h"
#include "families/rows/staging.h"
#include "families/rows/stores.h"
#include "families/rows/sweep_step.h"

namespace solstice::families::rows {
namespace {

using codegen::Binding;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

// Settings of the parts of the text that do not know of teams: threads own a whole row and read it again.
Settings settings_for(const MultiBlock& team) {
  Settings s;
  s.threads = s.group = team.group_threads();
  s.vector = team.vector;
  s.shifted = team.shifted;
  s.residency = Residency::kReload;
  return s;
}

// The first lane tells for all of a warp that something was read or found: what the others did comes before.
constexpr const char* kTogether = "reduction::sync_warp();\nif (lane == 0) {\n";

// OnlineReductions go up from threads to warps, to blocks, to the row: `of_thread0`, `of_warp0`, ...
class MultiBlockWriter {
 public:
  MultiBlockWriter(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const MultiBlock& team)
      : kernel_(kernel),
        team_(team),
        settings_(settings_for(team)),
        draft_(program, shape, settings_),
        resident_(draft_),
        staging_(draft_, resident_),
        walk_(draft_, team),
        step_(
            draft_, [this](int depth) { walk_.bind_vector(depth); },
            [this](const std::string& text) { return walk_.lanes(text); }),
        accumulators_(draft_, step_, [this](const std::string& text) { return walk_.guarded_steps(text); }) {}

  Result<Emission> write() {
    SOLSTICE_CHECK(accumulators_.find());
    draft_.emitter.set_hook([this](codegen::Emitter&, const ExprRef& node) { return given(node); });
    MultiBlockText text;
    if (team_.shifted) {
      SOLSTICE_TRY(text.shift, walk_.shift_text());
    }
    SOLSTICE_TRY(text.copying, walk_.copying());
    text.copying = codegen::marked(text.copying, -1, "producer");
    SOLSTICE_TRY(text.arriving, arriving_text());
    SOLSTICE_TRY(text.exchanging, exchanging_text());
    text.exchanging = codegen::marked(text.exchanging, -1, "exchange");
    SOLSTICE_TRY(text.ahead, ahead_text());
    SOLSTICE_TRY(text.leaving, leaving_text());
    text.state = accumulators_.state_text() + weights_text();
    return multi_block_kernel(draft_, kernel_, team_, text);
  }

 private:
  // Results of the row or of part of it, and the elements of the piece.
  Result<std::optional<Value>> given(const ExprRef& node) {
    SOLSTICE_TRY(const std::optional<Value> seen, accumulators_.seen(node));
    if (seen || !step_.scope()) return seen;
    const SweepScope& scope = *step_.scope();
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      if (team_.streams[i].access.read == node)
        return std::optional(staging_.loaded_lane(node, fmt::format("x{}[k]", i), scope));
    }
    if (const auto number = held(node); storing_ && number) {
      const std::string name = fmt::format("held{}", *number);
      if (team_.shifted) return of_window(node, name, true);
      const std::string_view type = draft_.storage(node->id);
      const std::string vector =
          fmt::format("*reinterpret_cast<const {}*>({} + c * {})", draft_.vector_type(type), name, team_.vector);
      return std::optional(staging_.loaded_lane(node, staging_.copy_of(vector, type, scope), scope));
    }
    if (const auto found = ahead_.find(node.get()); storing_ && found != ahead_.end()) {
      if (team_.shifted) return of_window(node, found->second, false);
      return std::optional(staging_.loaded_lane(node, found->second + "[k]", scope));
    }
    return staging_.element(node, scope);
  }

  std::optional<size_t> held(const ExprRef& read) const {
    for (size_t i = 0; i < team_.held.size(); ++i) {
      if (team_.held[i].read == read) return i;
    }
    return std::nullopt;
  }

  // The block's part of the weights that it holds, to shared memory after accumulators and results: by the computing
  // threads, while the first pieces come.
  std::string weights_text() {
    if (team_.held.empty()) return "";
    const int beside = team_.shifted ? 1 : 0;
    std::string out =
        fmt::format("const int held_first = larger(0, first * {0} - {1}), held_end = (first + chunks) * {0} + {1};\n",
                    team_.piece, beside);
    for (size_t i = 0; i < team_.held.size(); ++i) {
      const HeldWeights& w = team_.held[i];
      draft_.emitter.note_read(w.tensor);
      out += fmt::format(
          "{0}* const held{1} = reinterpret_cast<{0}*>(reinterpret_cast<unsigned char*>(signals) + {2}) - held_first * "
          "{3};  // as the whole tensor would lie\n"
          "for (int v = held_first + static_cast<int>(threadIdx.x); v < smaller(held_end, {4}); v += {5}) {{\n"
          "*reinterpret_cast<{6}*>(held{1} + v * {3}) = load<{3}>({7} + v * {3});\n}}\n",
          draft_.storage(w.tensor), i, w.offset, team_.vector,
          elements_of(draft_.program.tensor(w.tensor)) / team_.vector, team_.threads,
          draft_.vector_type(draft_.storage(w.tensor)), draft_.emitter.pointer_name(w.tensor));
    }
    return out + "weights.arrive();\nweights.wait(0);\n";
  }

  // A lane of what was loaded ahead as the windows `name`, or of weights that are held; where the tensor ends near, it
  // is read here.
  Result<std::optional<Value>> of_window(const ExprRef& read, const std::string& name, bool is_held) {
    codegen::Emitter& emitter = draft_.emitter;
    const ir::Tensor& tensor = draft_.program.tensor(read->id);
    const int inner = draft_.shape.columns.back().stepping();
    const SweepScope& scope = *step_.scope();
    const Binding lanes = emitter.binding(inner);
    emitter.bind(inner, scope.base);
    SOLSTICE_TRY(const codegen::Emitter::Place at, emitter.place(tensor, draft_.reads.at(read.get()).args));
    emitter.bind(inner, lanes);
    const int id = emitter.fresh();
    const std::string window = is_held ? fmt::format("rows::held_window<{}, {}>({}, {})", team_.vector,
                                                     elements_of(tensor), name, at.offset.text)
                                       : name + "[k]";
    emitter.statement(scope.vectors,
                      fmt::format("const {0} u{1} = rows::from_window({2}, {3});\n"
                                  "const bool has_u{1} = !apart || (whole && rows::has_window<{4}, {5}>({3}));",
                                  draft_.vector_type(draft_.storage(read->id)), id, window, at.offset.text,
                                  team_.vector, elements_of(tensor)));
    return std::optional(emitter.define(codegen::computing_type(*tensor.dtype),
                                        fmt::format("has_u{0} ? widen(u{0}.v[lane]) : load_one({1} + {2} + lane)", id,
                                                    emitter.pointer_name(read->id), at.offset.text),
                                        scope.lanes, codegen::values_of(*tensor.dtype)));
  }

  void open_stage() {
    stage_ = draft_.emitter.push();
    walk_.bind_row(stage_);
    walk_.bind_piece(stage_);
  }
  std::string close_stage() {
    std::string out = draft_.emitter.take(stage_);
    draft_.emitter.pop();
    return out;
  }

  // A piece that has arrived: into the thread's accumulators, and after the last one of the row into its warp's.
  Result<std::string> arriving_text() {
    open_stage();
    SOLSTICE_TRY(std::string out, walk_.pointers("ring", stage_));
    SOLSTICE_TRY(const std::string first, accumulators_.first_text());
    out = walk_.piece_text() + out + draft_.emitter.take(stage_) + walk_.declarations() + walk_.steps(walk_.loads()) +
          (team_.holds ? "" : "ring.release();\n") + first;
    const std::string whole =
        fmt::format("elements += reduction::taken<{}>(size, place) * {};\n", team_.group_threads(), team_.vector);
    const std::string tested = fmt::format("elements += rows::inside<{}>(element, {});\n", team_.vector, team_.extent);
    if (accumulators_.counts())
      out += team_.shifted ? fmt::format("if (!apart) {}else {{\n{}}}\n", whole, walk_.steps(tested)) : whole;
    SOLSTICE_TRY(const std::string centers, accumulators_.centers_text(fmt::format("chunk < {}", team_.groups)));
    SOLSTICE_TRY(const std::string second, accumulators_.second_text());
    out += draft_.emitter.take(stage_) + centers + second;
    SOLSTICE_TRY(const std::string end, row_end_text());
    return out + fmt::format("if (chunk >= chunks - {}) {{\n{}}}\n", team_.groups, end);
  }

  // The thread's accumulators of the row to its warp's, and these to the exchanging warp.
  Result<std::string> row_end_text() {
    SOLSTICE_TRY(const std::string fold, fold_text(accumulators_.thread(), warp_, 1));
    std::string out = fold + kTogether;
    for (size_t i = 0; i < accumulators_.count(); ++i)
      out += fmt::format("{} = {};\n", accumulator(i, "warp"), warp_.of(i));
    out += fmt::format("{} = {};\nfound(turn).arrive();\n}}\nreduction::sync_warp();\n",
                       accumulator(accumulators_.count(), "warp"), warp_.elements);
    return out + accumulators_.restart_text() + close_stage();
  }

  // The warps' accumulators of the row to the block's, those of all blocks to the row's.
  Result<std::string> exchanging_text() {
    open_stage();
    std::string out = fmt::format("const bool has = lane < {};\n", team_.warps());
    for (size_t i = 0; i < accumulators_.count(); ++i)
      out += fmt::format("{} {} = has ? {} : {};\n", type(i), one_warp_.of(i), accumulator(i, "lane"),
                         accumulators_.start(i));
    out +=
        fmt::format("const int {} = has ? {} : 0;\n", one_warp_.elements, accumulator(accumulators_.count(), "lane"));
    SOLSTICE_TRY(const std::string block, fold_text(one_warp_, block_, 1));
    out += block;
    const int each = static_cast<int>(ceil_div(team_.blocks, 32));
    for (size_t i = 0; i < accumulators_.count(); ++i)
      out += fmt::format("reduction::offer_to_all<{}, 32>({}, rank, lane, number, {});\n", team_.blocks, block_.of(i),
                         offers(i));
    out +=
        fmt::format("u64 seen[{0} * {1}];\nreduction::collect_offers<{2}, {0}, {1}>({3}, rank, lane, number, seen);\n",
                    accumulators_.count(), each, team_.blocks, offers(0));
    std::string values;
    for (size_t i = 0; i < accumulators_.count(); ++i) {
      out += fmt::format("{} of_blocks{}[{}];\n", type(i), i, each);
      values += fmt::format("{} = there ? reduction::offered<{}>(seen[{} * {} + k]) : {};\n", blocks_.of(i), type(i), i,
                            each, accumulators_.start(i));
    }
    out += fmt::format(
        "int of_elements[{0}];\n#pragma unroll\nfor (int k = 0; k < {0}; ++k) {{\nconst int block = k * 32 + "
        "lane;\nconst bool there = block < {3};\n"
        "const int from = block * {1} + smaller(block, {2}), to = from + {1} + (block < {2} ? 1 : 0);\n"
        "of_elements[k] = there ? elements_before(row, to) - elements_before(row, from) : 0;\n{4}}}\n",
        each, team_.row_pieces() / team_.blocks, team_.row_pieces() % team_.blocks, team_.blocks, values);
    SOLSTICE_TRY(const std::string row, fold_text(blocks_, row_, each));
    out += row + "if (lane == 0) {\n";
    for (size_t i = 0; i < accumulators_.count(); ++i) out += fmt::format("{} = {};\n", result(i), row_.of(i));
    // Every lane says that it has read its accumulators: warps may write those of a later row in their place.
    return out + "}\nknown(turn).arrive();\nreduction::sync_warp();\n" + close_stage();
  }

  // A lane's accumulators (`count` of each) to those of all lanes.
  Result<std::string> fold_text(const AccumulatorSet& from, const AccumulatorSet& to, int count) {
    const bool several = !from.index.empty();
    const std::string each = several ? fmt::format("#pragma unroll\nfor (int k = 0; k < {}; ++k) ", count) : "";
    const auto folded = [&](size_t i) {
      const Reduction& r = accumulators_.total(i);
      std::string value = from.of(i),
                  out = fmt::format("{} {} = {};\n", type(i), to.of(i), several ? accumulators_.start(i) : value);
      if (several)
        out += fmt::format("{0}{1} = reduction::{2}::combine<{3}>({1}, {4});\n", each, to.of(i), r.op, r.type, value);
      out += fmt::format("{0} = reduction::reduce_lanes<reduction::{1}, 32, {2}>({0});\n", to.of(i), r.op, r.type);
      return codegen::marked(out, r.equation, "fold");
    };
    std::string out = several ? fmt::format("int {0} = 0;\n{1}{0} += {2};\n", to.elements, each, from.elements)
                              : fmt::format("int {} = {};\n", to.elements, from.elements);
    if (accumulators_.counts())
      out += fmt::format("{0} = reduction::reduce_lanes<reduction::Sum, 32, int>({0});\n", to.elements);
    for (size_t i = 0; i < accumulators_.firsts(); ++i) out += folded(i);
    for (const Corrected& c : accumulators_.corrected()) {
      SOLSTICE_TRY(const std::string correction, accumulators_.correction_text(c, from, to));
      out += draft_.emitter.take(stage_) + each + "{\n" + correction + "}\n" + folded(accumulators_.number_of(c));
    }
    return out;
  }

  static int64_t elements_of(const ir::Tensor& tensor) {
    int64_t out = 1;
    for (size_t d = 0; d < tensor.shape.size(); ++d) out += (tensor.shape[d] - 1) * tensor.strides[d];
    return out;
  }
  // True if data along the row can be read in windows (kernels/rows/window.h).
  bool has_windows(const ExprRef& read, const ir::Tensor& tensor) const {
    const auto access = draft_.reads.find(read.get());
    const int bytes = team_.vector * size_of(*tensor.dtype);
    return access != draft_.reads.end() && is_run(draft_.shape, access->second) && bytes % 4 == 0 &&
           elements_of(tensor) >= 2 * team_.vector;
  }

  // Operands of a piece's stores other than the row's data (weights) are loaded ahead of the piece that arrives
  // meanwhile.
  Result<std::string> ahead_text() {
    const std::vector<ExprRef> reads = reads_of_stores(draft_.shape, draft_.phases);
    open_stage();
    const int depth = draft_.emitter.push();
    walk_.bind_vector(depth);
    std::string loads, arrays;
    for (const ExprRef& read : reads) {
      const bool stream = std::any_of(team_.streams.begin(), team_.streams.end(),
                                      [&](const RunRead& s) { return s.access.read == read; });
      const ir::Tensor& tensor = draft_.program.tensor(read->id);
      if (stream || held(read) || !(team_.shifted ? has_windows(read, tensor) : draft_.streams(read))) continue;
      draft_.emitter.note_read(read->id);
      SOLSTICE_TRY(const codegen::Emitter::Place at, draft_.emitter.place(tensor, draft_.reads.at(read.get()).args));
      if (at.inside) continue;
      const std::string name = fmt::format("w{}", draft_.emitter.fresh());
      const std::string type = team_.shifted
                                   ? fmt::format("rows::Window<{}, {}>", draft_.storage(read->id), team_.vector)
                                   : draft_.vector_type(draft_.storage(read->id));
      const std::string how =
          team_.shifted ? fmt::format("rows::window_at<{}, {}>({}, ", team_.vector, elements_of(tensor),
                                      draft_.emitter.pointer_name(read->id))
                        : fmt::format("load<{}, kPlain>({} + ", team_.vector, draft_.emitter.pointer_name(read->id));
      arrays += fmt::format("{} {}[{}];\n", type, name, team_.steps());
      loads += codegen::mark(draft_.emitter.indices().source_of(*read), "load") +
               fmt::format("{}[k] = {}{});\n", name, how, at.offset.text);
      ahead_[read.get()] = name;
    }
    const std::string inner = draft_.emitter.take(depth);
    draft_.emitter.pop();
    const std::string outer = close_stage();
    if (loads.empty()) return std::string();
    return arrays + "if (step >= lag) {\nconst int chunk = chunk_out;\n" + row_text("round_out") + walk_.piece_text() +
           outer + walk_.steps(inner + loads) + "}\n";
  }
  std::string row_text(std::string_view round) const {
    return fmt::format("[[maybe_unused]] const {0} row = team + static_cast<{0}>({1}) * {2};\n", row_type(draft_.shape),
                       round, team_.teams);
  }

  // The piece's data is in registers; only then does anything go out, so that the slot is free while it does.
  std::string released() const { return team_.holds ? "behind.release();\n" : ""; }

  // The stores of a piece.
  Result<std::string> leaving_text() {
    open_stage();
    std::string out = walk_.piece_text();
    for (size_t i = 0; i < accumulators_.count(); ++i)
      out += fmt::format("const {} {} = {};\n", type(i), row_.of(i), result(i));
    accumulators_.see(row_, accumulators_.count(), stage_);
    SOLSTICE_TRY(const std::string pointers, walk_.pointers("behind", stage_));
    SOLSTICE_TRY(const std::string outputs, row_output_text(draft_, stage_));
    out += pointers +
           "[[maybe_unused]] const int position = rank + chunk + place;  // 0: stores what a row has one of\n" +
           outputs;
    Sweep sweep;
    for (const Sweep& s : draft_.phases.sweeps)
      sweep.stores.insert(sweep.stores.end(), s.stores.begin(), s.stores.end());
    if (!sweep.stores.empty()) {
      storing_ = true;
      SOLSTICE_TRY(const std::string step,
                   step_.text(sweep, [this](const auto& stores) { return stores_text(stores); }));
      out += draft_.emitter.take(stage_) + walk_.declarations() + walk_.steps(walk_.loads()) + released() +
             walk_.guarded_steps(step);
    } else {
      out += released();
    }
    return out + close_stage();
  }

  Result<VectorText> stores_text(const std::vector<RowStore>& stores) {
    VectorText out;
    for (const RowStore& store : stores) SOLSTICE_CHECK(write_store(draft_, store, out));
    return out;
  }

  const std::string& type(size_t i) const { return accumulators_.total(i).type; }
  // Places of shared memory, of the row's turn: of a warp's accumulator, of the row's result. After the last: of a
  // warp's elements.
  std::string accumulator(size_t i, const std::string& warp) const {
    return fmt::format("*reinterpret_cast<{}*>(accumulators + (turn * {} + {}) * {} + {})",
                       i < accumulators_.count() ? type(i) : "int", accumulators_.count() + 1, i, team_.warps(), warp);
  }
  std::string result(size_t i) const {
    return fmt::format("*reinterpret_cast<{}*>(results + turn * {} + {})", type(i), accumulators_.count() + 1, i);
  }
  std::string offers(size_t i) const {
    return fmt::format("offers + (round % reduction::kTurns * {} + {}) * {}", accumulators_.count(), i,
                       int64_t{team_.blocks} * team_.blocks);
  }

  const AccumulatorSet warp_{"warp", "warp_elements"}, one_warp_{"one_warp", "elements"},
      block_{"block", "block_elements"};
  const AccumulatorSet blocks_{"blocks", "of_elements[k]", "[k]"},
      row_{.name = "row", .elements = "row_elements", .whole_row = true};

  const ir::Kernel& kernel_;
  const MultiBlock& team_;
  Settings settings_;
  Draft draft_;
  ResidentValues resident_;
  Staging staging_;
  MultiBlockWalk walk_;
  SweepStep step_;
  AccumulatorText accumulators_;
  std::map<const ir::Expr*, std::string> ahead_;  // arrays of what is loaded ahead for the stores
  bool storing_ = false;                          // while these are written
  int stage_ = 0;
};

}  // namespace

Result<Emission> emit_multi_block(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                                  const MultiBlock& team) {
  return MultiBlockWriter(program, kernel, shape, team).write();
}

}  // namespace solstice::families::rows
