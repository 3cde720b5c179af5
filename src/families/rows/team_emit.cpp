#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "families/rows/accumulate.h"
#include "families/rows/draft.h"
#include "families/rows/kept.h"
#include "families/rows/layout.h"
#include "families/rows/local.h"
#include "families/rows/staging.h"
#include "families/rows/stores.h"
#include "families/rows/team.h"
#include "families/rows/team_kernel.h"
#include "families/rows/team_walk.h"
#include "families/walk.h"

namespace solstice::families::rows {
namespace {

using codegen::Binding;
using codegen::CType;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

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
        staging_(draft_, kept_),
        walk_(draft_, team) {}

  Result<Emission> write() {
    SOLSTICE_TRY(findings_, findings_of(draft_.shape, draft_.phases));
    draft_.emitter.set_hook([this](codegen::Emitter&, const ExprRef& node) { return given(node); });
    TeamText text;
    SOLSTICE_TRY(text.copying, walk_.copying());
    stage_ = draft_.emitter.push();
    bind_row(draft_, stage_);
    SOLSTICE_TRY(const std::string begin, begin_text());
    SOLSTICE_TRY(const std::string end, end_text());
    text.row = walk_.declarations() + exponentials_text() + begin + end;
    text.offers = order_.size();
    text.aside = aside_;
    return team_kernel(draft_, kernel_, team_, text);
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
    std::string loop = walk_.held(step);
    if (fills) {
      SOLSTICE_TRY(loop, walk_.arriving(step));
    }
    std::string folds, publish, collect;
    for (size_t i = 0; i < reductions.size(); ++i) {
      folds += fold_lanes(reductions[i], i, team_.vector);
      add_fold(reductions[i], reductions[i].name, publish, collect);
      note(sweep.reductions[i], reductions[i]);
    }
    return draft_.emitter.take(stage_) + open_accumulators(reductions, team_.vector) + loop + folds + publish + group_barrier(team_) +
           collect + "}\n";
  }

  void note(const ExprRef& r, const Reduction& found) {
    Found result{found, fmt::format("t{}", draft_.emitter.fresh()), ""};
    result.offers = fmt::format("offers + (turn * {} + {}) * {}", findings_.first.size() + findings_.second.size(), order_.size(),
                                int64_t{team_.blocks} * team_.blocks);
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
    std::string out = offers + publish + group_barrier(team_) + collect;
    // What the part's own results stand for is known no longer.
    draft_.emitter.pop();
    stage_ = draft_.emitter.push();
    bind_row(draft_, stage_);
    publish = collect = "";
    std::string corrections;
    for (const Corrected& c : findings_.second) {
      SOLSTICE_TRY(const std::string text, correction_text(c));
      corrections += text;
      add_fold(results_.at(c.reduction.get()).own, results_.at(c.reduction.get()).total, publish, collect);
    }
    out += corrections;
    if (!findings_.second.empty()) out += publish + group_barrier(team_) + collect;
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
    return draft_.emitter.take(stage_) + (step.empty() ? "" : walk_.held(step));
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

  // A reduction's value over all threads, through one slot a warp.
  void add_fold(const Reduction& r, const std::string& name, std::string& publish, std::string& collect) {
    const std::string with = fmt::format("rows::{}, {}, {}, 1", r.op, team_.groups * team_.threads, team_.threads);
    const std::string slots = fmt::format("reinterpret_cast<{}*>(aside + {})", r.type, aside_);
    aside_ += kLargestAccumulator * team_.groups * team_.threads / 32;
    publish += fmt::format("rows::publish<{}>({}, {}, 0);\n", with, name, slots);
    collect += fmt::format("{} = rows::collect<{}, {}>({});\n", name, with, r.type, slots);
  }

  std::string exponentials_text() const {
    std::string out;
    for (const Exponentials& e : exponentials_)
      out += fmt::format("{} {}[{}];\n", draft_.vector_type(codegen::name_of(e.type)), e.name, team_.steps);
    return out;
  }

  const ir::Kernel& kernel_;
  const Team& team_;
  Settings settings_;
  Draft draft_;
  KeptValues kept_;
  Staging staging_;
  TeamWalk walk_;
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
