#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/integer.h"
#include "families/emission.h"
#include "families/rows/accumulate.h"
#include "families/rows/draft.h"
#include "families/rows/kept.h"
#include "families/rows/layout.h"
#include "families/rows/local.h"
#include "families/rows/staging.h"
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
constexpr int64_t kTurns = 2;   // of kernels/rows/team.h

// What the parts of the text that do not know of teams are written for: threads that own a whole row and read it again.
Settings settings_for(const Team& team) {
  Settings s;
  s.threads = s.group = team.threads;
  s.vector = team.vector;
  s.residency = Residency::kReload;
  return s;
}

// For each row a group finds what it can of its part and offers it (`begin_text`); with everyone's offers it corrects
// that and writes the outputs (`end_text`).
class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Team& team)
      : kernel_(kernel),
        team_(team),
        settings_(settings_for(team)),
        draft_(program, shape, settings_),
        kept_(draft_),
        staging_(draft_, kept_) {}

  Result<Emission> write() {
    SOLSTICE_TRY(findings_, findings_of(draft_.shape, draft_.phases));
    draft_.emitter.set_hook([this](codegen::Emitter&, const ExprRef& node) { return given(node); });
    SOLSTICE_TRY(const std::string copying, copying_text());
    stage_ = draft_.emitter.push();
    bind_row(stage_);
    SOLSTICE_TRY(const std::string begin, begin_text());
    SOLSTICE_TRY(const std::string end, end_text());
    return finish(copying, arrays_text() + begin + end);
  }

 private:
  // A result as one block finds it and as all blocks together do.
  struct Found {
    Reduction own;
    std::string total;   // name
    std::string offers;  // where they are
  };
  // A part's exp(x - m), kept around the part's center; with its factor they are the row's.
  struct Exponentials {
    ExprRef node;
    std::string name, own, factor;  // the array, the part's center
    CType type = CType::kF32;
  };

  Result<std::optional<Value>> given(const ExprRef& node) {
    if (node->op == Op::kReduce) {
      const auto found = values_.find(node.get());
      if (found == values_.end()) return fail(Code::internal, "a reduction is used before its sweep");
      return std::optional(found->second);
    }
    if (!scope_) return std::optional<Value>();
    for (const Exponentials& e : exponentials_) {
      if (e.node == node && !e.factor.empty())
        return std::optional(draft_.emitter.define(e.type, fmt::format("{}[k].v[lane] * {}", e.name, e.factor), scope_->lanes));
    }
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      if (team_.streams[i].access.read != node) continue;
      const DType dtype = *draft_.program.tensor(node->id).dtype;
      return std::optional(draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen(x{}[k].v[lane])", i), scope_->lanes,
                                                 codegen::values_of(dtype)));
    }
    return staging_.element(node, *scope_);
  }

  std::string_view row_type() const { return draft_.shape.row_count > INT32_MAX / 2 ? "long long" : "int"; }
  void bind_row(int depth) {
    const CType type = draft_.shape.row_count > INT32_MAX / 2 ? CType::kI64 : CType::kI32;
    bind_loops(draft_.emitter, draft_.shape.rows, draft_.emitter.variable(type, "row", depth, {0, draft_.shape.row_count - 1}), 1, depth);
  }
  // The run that begins with the row's vector `name`.
  void bind_run(const std::string& name, int depth) {
    for (const codegen::Loop& loop : draft_.shape.columns) draft_.emitter.bind(loop.stepping(), Binding{});
    draft_.emitter.bind(draft_.shape.columns.back().stepping(),
                        Binding{0, {{draft_.emitter.variable(CType::kI32, name, depth, {0, team_.vectors - 1}), team_.vector}}});
  }

  // The copying warp: every row's part, chunk by chunk.
  Result<std::string> copying_text() {
    codegen::Emitter& emitter = draft_.emitter;
    const int rows = emitter.push();
    bind_row(rows);
    const int depth = emitter.push();
    bind_run("begin", depth);
    std::string copies;
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      SOLSTICE_TRY(const std::string copy, run_copy(emitter, team_.streams[i]));
      copies += fmt::format("if (lane == {}) {}", i, copy);
    }
    const std::string inner = emitter.take(depth);
    emitter.pop();
    const std::string outer = emitter.take(rows);
    emitter.pop();
    return fmt::format(
        "const int lane = static_cast<int>(threadIdx.x) % 32;\nconstexpr int mine = 0;\nint copied = 0;\n"
        "for ({0} row = team; row < {1}; row += {2}) {{\n{3}for (int chunk = 0; chunk < {4}; ++chunk) {{\n"
        "ring.wait_landed(copied++ - rows::kInFlight);\nring.wait_empty();\nu32 expected = 0;\n"
        "const int begin = first + chunk * {5};\nif (begin < last) {{\n"
        "const int count = smaller(smaller(last - begin, {5}) * {6}, {7} - begin * {6});\n{8}{9}}}\nring.expect(expected);\nring.advance();\n}}\n}}\n",
        row_type(), draft_.shape.row_count, team_.teams, outer, team_.chunks(), team_.chunk * team_.threads, team_.vector,
        draft_.shape.column_count, inner, copies);
  }

  // What the block finds, and its offers.
  Result<std::string> begin_text() {
    Sweep first, second;
    first.reductions = findings_.first;
    for (const Corrected& c : findings_.second) second.reductions.push_back(c.reduction);
    SOLSTICE_TRY(std::string out, finding_text(first, true));
    for (const ExprRef& r : findings_.first) set_value(r, stand_in(r, results_.at(r.get()).own.name, "share"), stage_);
    if (!second.reductions.empty()) {
      for (const Corrected& c : findings_.second) {
        if (c.exponential) SOLSTICE_CHECK(keep(c));
      }
      SOLSTICE_TRY(const std::string more, finding_text(second, false));
      out += more;
    }
    std::string offers;
    for (const ExprRef& r : order_) {
      const Found& result = results_.at(r.get());
      offers += fmt::format("rows::offer_to_all<{}, {}>({}, rank, place, round, {});\n", team_.blocks, team_.threads, result.own.name,
                            result.offers);
    }
    return out + offers;
  }

  // Remembers the exponentials of a sum, and the part's center.
  Status keep(const Corrected& c) {
    for (const Exponentials& e : exponentials_) {
      if (e.node == c.exponential) return success();
    }
    SOLSTICE_TRY(const Value own, draft_.emitter.emit(c.center));
    exponentials_.push_back(
        {c.exponential, fmt::format("e{}", exponentials_.size()), own.text, "", own.type == CType::kF64 ? CType::kF64 : CType::kF32});
    return success();
  }

  // One sweep over the part, its lanes and warps folded: every thread has the part's results.
  Result<std::string> finding_text(const Sweep& sweep, bool fills) {
    std::vector<Reduction> reductions;
    SOLSTICE_TRY(const std::string step, step_text(sweep, reductions));
    std::string loop = loop_text(step);
    if (fills) {
      SOLSTICE_TRY(loop, filling_text(step));
    }
    std::string folds, publish, collect;
    for (size_t i = 0; i < reductions.size(); ++i) {
      if (reductions[i].bytes() > 8) return fail(Code::illegal_knobs, "`team`: a reduction of more than 8 bytes; drop it");
      folds += fold_lanes(reductions[i], i, team_.vector);
      add_fold(reductions[i], reductions[i].name, publish, collect);
      note(sweep.reductions[i], reductions[i]);
    }
    return draft_.emitter.take(stage_) + open_accumulators(reductions, team_.vector) + loop + folds + publish + sync() + collect + "}\n";
  }

  void note(const ExprRef& r, const Reduction& found) {
    Found result{found, fmt::format("t{}", draft_.emitter.fresh()), ""};
    result.offers = fmt::format("offers + (turn * {} + {}) * {}", kOffersMark, order_.size(), int64_t{team_.blocks} * team_.blocks);
    results_[r.get()] = std::move(result);
    order_.push_back(r);
  }
  void set_value(const ExprRef& r, const std::string& text, int depth) {
    values_[r.get()] = draft_.emitter.variable(results_.at(r.get()).own.value_type, text, depth);
  }

  // What `found` in a part stands for in the center of the part's other findings.
  std::string stand_in(const ExprRef& r, const std::string& found, const std::string& share) const {
    const Reduction& own = results_.at(r.get()).own;
    if (own.op == "Max") return fmt::format("rows::center_of({})", found);
    if (own.op == "Sum") return own.value_of(fmt::format("rows::as_of_row({}, {})", found, share));
    return own.value_of(found);
  }

  // Everyone's findings to the row's results, then what is stored.
  Result<std::string> end_text() {
    std::string offers, publish, collect;
    for (const ExprRef& r : order_) {
      const Found& result = results_.at(r.get());
      offers += fmt::format("{0} {1} = rows::offer_of<rows::{2}, {3}, {0}>({4}, rank, place, round);\n", result.own.type, theirs(result),
                            result.own.op, team_.blocks, result.offers);
      offers += fmt::format("{} {} = {};\n", result.own.type, result.total, theirs(result));
    }
    for (const ExprRef& r : findings_.first) add_fold(results_.at(r.get()).own, results_.at(r.get()).total, publish, collect);
    std::string out = offers + publish + sync() + collect;
    // What the part's own results stand for is known no longer.
    draft_.emitter.pop();
    stage_ = draft_.emitter.push();
    bind_row(stage_);
    publish = collect = "";
    std::string corrections;
    for (const Corrected& c : findings_.second) {
      SOLSTICE_TRY(const std::string text, correction_text(c));
      corrections += text;
      add_fold(results_.at(c.reduction.get()).own, results_.at(c.reduction.get()).total, publish, collect);
    }
    out += corrections;
    if (!findings_.second.empty()) out += publish + sync() + collect;
    for (const ExprRef& r : order_) set_total(r, stage_);
    SOLSTICE_TRY(const std::string stores, storing_text());
    SOLSTICE_TRY(const std::string outputs, row_output_text(draft_, stage_));
    return out + stores + outputs;
  }

  static std::string theirs(const Found& result) { return "of_" + result.total; }
  void set_total(const ExprRef& r, int depth) {
    const Found& result = results_.at(r.get());
    set_value(r, result.own.value_of(result.total), depth);
  }

  // A part's finding for the row's center. The center is written twice: with the part's results, with the row's.
  Result<std::string> correction_text(const Corrected& c) {
    codegen::Emitter& emitter = draft_.emitter;
    const int part = emitter.push();  // a scope for each: what it knows must not meet the other's
    for (const ExprRef& r : findings_.first) set_value(r, stand_in(r, theirs(results_.at(r.get())), "their_share"), part);
    SOLSTICE_TRY(const Value own, emitter.emit(c.center));
    const std::string first = emitter.take(stage_) + emitter.take(part);
    emitter.pop();
    const int row = emitter.push();
    for (const ExprRef& r : findings_.first) set_total(r, row);
    SOLSTICE_TRY(const Value center, emitter.emit(c.center));
    const std::string second = emitter.take(stage_) + emitter.take(row);
    emitter.pop();
    const std::string& total = results_.at(c.reduction.get()).total;
    if (c.correction == Correction::kSquares)
      return fmt::format("{0}{1}{2} = rows::corrected_squares({2}, {3}, {4}, their_count);\n", first, second, total, own.text, center.text);
    std::string factors;
    for (Exponentials& e : exponentials_) {
      if (e.node != c.exponential || !e.factor.empty()) continue;
      e.factor = "f" + e.name;
      factors = fmt::format("const {} {} = rows::factor_of({}, {});\n", codegen::name_of(e.type), e.factor, e.own, center.text);
    }
    return fmt::format("{0}{1}{2}{3} *= rows::factor_of({4}, {5});\n", first, second, factors, total, own.text, center.text);
  }

  // All that is stored along the row, in one sweep.
  Result<std::string> storing_text() {
    Sweep sweep;
    for (const Sweep& s : draft_.phases.sweeps) {
      sweep.stores.insert(sweep.stores.end(), s.stores.begin(), s.stores.end());
      sweep.reads.insert(sweep.reads.end(), s.reads.begin(), s.reads.end());
    }
    std::vector<Reduction> none;
    std::string step;
    if (!sweep.stores.empty()) {
      SOLSTICE_TRY(step, step_text(sweep, none));
    }
    return draft_.emitter.take(stage_) + (step.empty() ? "" : loop_text(step));
  }

  // What one step does with its vector, number `c` of the row: a scope for it, and one inside for its lanes.
  Result<std::string> step_text(const Sweep& sweep, std::vector<Reduction>& reductions) {
    codegen::Emitter& emitter = draft_.emitter;
    const int vectors = emitter.push();
    bind_columns(emitter, draft_.shape, team_.vector, vectors);
    const codegen::Binding base = emitter.binding(draft_.shape.columns.back().stepping());
    SOLSTICE_TRY(const std::vector<RowStore> stores, row_stores(draft_, sweep));
    const int lanes = emitter.push();
    scope_.emplace(SweepScope{sweep, vectors, lanes, base});
    bind_lanes(emitter, draft_.shape.columns, team_.vector, lanes);
    VectorText text;
    for (const ExprRef& r : sweep.reductions) {
      SOLSTICE_TRY(Reduction reduction, begin_reduction(emitter, *r, team_.vector > 1 || !is_costly(r->args[0])));
      text.lanes += accumulate(reduction, reductions.size(), false);
      reductions.push_back(std::move(reduction));
    }
    text.before += open_vector(reductions);
    text.after += close_vector(reductions);
    for (const RowStore& store : stores) SOLSTICE_CHECK(write_store(draft_, store, text));
    for (const Exponentials& e : exponentials_) {
      if (!e.factor.empty()) continue;  // written by an earlier sweep
      SOLSTICE_TRY(const Value value, emitter.emit(e.node));
      text.lanes += fmt::format("{}[k].v[lane] = {};\n", e.name, value.text);
    }
    const std::string inner = emitter.take(lanes) + text.lanes;
    emitter.pop();
    const std::string outer = emitter.take(vectors);
    emitter.pop();
    scope_.reset();
    return fmt::format("{}{}#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}}}\n{}", outer, text.before, team_.vector, inner,
                       text.after);
  }

  // Of step `k`; parts differ by one vector.
  std::string column_text() const {
    return fmt::format("const int c = first + k * {} + place;\nif (k >= {} && c >= last) break;\n", team_.threads, team_.sure_steps());
  }
  std::string loop_text(const std::string& step) const {
    return fmt::format("#pragma unroll\nfor (int k = 0; k < {}; ++k) {{\n{}{}}}\n", team_.steps, column_text(), step);
  }

  // The first sweep takes its data out of the ring, which goes on with other rows' data.
  Result<std::string> filling_text(const std::string& step) {
    codegen::Emitter& emitter = draft_.emitter;
    std::string loads, pointers;
    const int depth = emitter.push();
    bind_run("first", depth);
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      const RunRead& s = team_.streams[i];
      const std::string_view type = draft_.storage(s.access.tensor);
      std::string skip;
      if (team_.vector * s.element < 16) {  // rows begin between two units of the copy engine
        SOLSTICE_TRY(const std::string begin, run_begin(emitter, s));
        skip = fmt::format(" + reduce::Run<{}>::before({})", type, begin);
      }
      pointers += fmt::format("const {0}* const s{1} = reinterpret_cast<const {0}*>(ring.bytes() + {2}){3};\n", type, i, s.offset, skip);
      loads += fmt::format("x{0}[k] = *reinterpret_cast<const {1}*>(s{0} + (i * {2} + place) * {3});\n", i, draft_.vector_type(type),
                           team_.threads, team_.vector);
    }
    const std::string places = emitter.take(depth);
    emitter.pop();
    const std::string steps =
        fmt::format("#pragma unroll\nfor (int i = 0; i < {0}; ++i) {{\nconst int k = chunk * {0} + i;\nif (k >= {1}) break;\n{2}",
                    team_.chunk, team_.steps, column_text());
    return fmt::format(
        "#pragma unroll\nfor (int chunk = 0; chunk < {0}; ++chunk) {{\nring.go_to(filling * {0} + chunk);\nring.wait_full();\n{1}{2}{3}{4}}}\n"
        "ring.release();\n{3}{5}}}\n}}\n",
        team_.chunks(), places, pointers, steps, loads, step);
  }

  // A reduction's value over all threads, through one slot a warp.
  void add_fold(const Reduction& r, const std::string& name, std::string& publish, std::string& collect) {
    const std::string with = fmt::format("rows::{}, {}, {}, 1", r.op, team_.groups * team_.threads, team_.threads);
    const std::string slots = fmt::format("reinterpret_cast<{}*>(aside + {})", r.type, aside_);
    aside_ += kLargestAccumulator * team_.groups * team_.threads / 32;
    publish += fmt::format("rows::publish<{}>({}, {}, 0);\n", with, name, slots);
    collect += fmt::format("{} = rows::collect<{}, {}>({});\n", name, with, r.type, slots);
  }
  std::string sync() const { return fmt::format("rows::sync_group<{}>(group);\n", team_.threads); }

  std::string arrays_text() const {
    std::string out;
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      out += fmt::format("{} x{}[{}];\n", draft_.vector_type(draft_.storage(team_.streams[i].access.tensor)), i, team_.steps);
    }
    for (const Exponentials& e : exponentials_)
      out += fmt::format("{} {}[{}];\n", draft_.vector_type(codegen::name_of(e.type)), e.name, team_.steps);
    return out;
  }

  Result<Emission> finish(const std::string& copying, std::string row) {
    // Only now is it known how many offers a row takes.
    for (size_t at = row.find(kOffersMark); at != std::string::npos; at = row.find(kOffersMark)) {
      row.replace(at, std::string_view(kOffersMark).size(), std::to_string(order_.size()));
    }
    const std::vector<int>& reads = draft_.emitter.tensors_read();
    const std::vector<int> writes = tensors_written(draft_.shape.flat);
    std::vector<std::string> parameters = pointer_parameters(draft_.emitter, reads, writes);
    parameters.push_back("solstice::rows::Offer* all_offers");
    const int64_t ring = round_up(team_.slots * (team_.slot_bytes + 16), int64_t{128});
    const std::string code = fmt::format(
        "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"reduce/ring.h\"\n#include \"rows/team.h\"\n\n"
        "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({all_threads}, 1) {entry}({parameters}) {{\nusing namespace solstice;\nusing namespace solstice::math;\n"
        "unsigned char* const shared = shared_bytes();\nunsigned char* const aside = shared + {ring};\n"
        "const int rank = static_cast<int>(blockIdx.x % {blocks}u), team = static_cast<int>(blockIdx.x / {blocks}u);\n"
        "const int first = rank * {least} + smaller(rank, {rest}), last = first + {least} + (rank < {rest} ? 1 : 0);\n"
        "reduce::Ring<{slots}, {slot}, {readers}> ring(shared);\nrows::sync_block();\n"
        "if (threadIdx.x >= {reading}) {{\nrows::give_registers<{few}>();\nif (threadIdx.x >= {reading} + 32) return;\n{copying}return;\n}}\n"
        "rows::take_registers<{many}>();\n"
        "const int group = static_cast<int>(threadIdx.x) / {threads}, place = static_cast<int>(threadIdx.x) % {threads};\n"
        "[[maybe_unused]] const int position = rank * {threads} + place;\n"
        "[[maybe_unused]] const int count = (last - first) * {vector};\n"
        "[[maybe_unused]] const int their_count = place < {blocks} ? ({least} + (place < {rest} ? 1 : 0)) * {vector} : 0;\n"
        "[[maybe_unused]] const double share = count > 0 ? {columns}.0 / count : 0.0, their_share = their_count > 0 ? {columns}.0 / their_count : 0.0;\n"
        "{once}for (int filling = group;; filling += {groups}) {{\nconst {type} row = team + static_cast<{type}>(filling) * {teams};\n"
        "if (row >= {rows}) break;\nconst u32 round = static_cast<u32>(filling / {groups}) + 1;\n"
        "rows::Offer* const offers = all_offers + (team * {groups} + group) * {offers};\nconst int turn = filling / {groups} % rows::kTurns;\n{row}{sync}}}\n}}\n",
        fmt::arg("all_threads", team_.block_threads()), fmt::arg("entry", codegen::entry_name(kernel_.name)),
        fmt::arg("parameters", fmt::to_string(fmt::join(parameters, ", "))), fmt::arg("ring", ring), fmt::arg("blocks", team_.blocks),
        fmt::arg("least", team_.vectors / team_.blocks), fmt::arg("rest", team_.vectors % team_.blocks), fmt::arg("slots", team_.slots),
        fmt::arg("slot", team_.slot_bytes), fmt::arg("readers", team_.threads / 32), fmt::arg("reading", team_.groups * team_.threads),
        fmt::arg("few", Team::kCopyRegisters), fmt::arg("copying", copying), fmt::arg("many", team_.registers()),
        fmt::arg("threads", team_.threads), fmt::arg("vector", team_.vector), fmt::arg("columns", draft_.shape.column_count),
        fmt::arg("once", draft_.emitter.take(0)), fmt::arg("groups", team_.groups), fmt::arg("type", row_type()),
        fmt::arg("teams", team_.teams), fmt::arg("rows", draft_.shape.row_count), fmt::arg("offers", kTurns * offers_of_a_row()),
        fmt::arg("row", row), fmt::arg("sync", sync()));
    std::vector<int> tensors = reads;
    tensors.insert(tensors.end(), writes.begin(), writes.end());
    SOLSTICE_TRY(Emission out, one_launch(draft_.program, kernel_, codegen::entry_name(kernel_.name), code, tensors,
                                          {team_.grid(), team_.block_threads(), 1, ring + aside_}));
    out.steps.front().cooperative = true;
    add_offers(out);
    return out;
  }

  int64_t offers_of_a_row() const { return static_cast<int64_t>(order_.size()) * team_.blocks * team_.blocks; }

  void add_offers(Emission& out) const {
    PlanBuffer buffer;
    buffer.name = part_name(kernel_, "offers");
    buffer.dtype = DType::kU8;
    buffer.bytes = team_.teams * team_.groups * kTurns * offers_of_a_row() * kOffer;
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

  static constexpr const char* kOffersMark = "@offers@";

  const ir::Kernel& kernel_;
  const Team& team_;
  Settings settings_;
  Draft draft_;
  KeptValues kept_;
  Staging staging_;
  Findings findings_;
  std::vector<Exponentials> exponentials_;
  std::vector<ExprRef> order_;  // of the offers
  std::map<const ir::Expr*, Found> results_;
  std::map<const ir::Expr*, Value> values_;  // what the equations see of them at this place of the text
  std::optional<SweepScope> scope_;          // while a sweep's lanes are written
  int stage_ = 0;
  int64_t aside_ = 0;  // bytes of shared memory beside the ring
};

}  // namespace

Result<Emission> emit_team(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Team& team) {
  return Writer(program, kernel, shape, team).write();
}

}  // namespace solstice::families::rows
