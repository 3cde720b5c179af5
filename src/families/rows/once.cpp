#include "families/rows/once.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/integer.h"
#include "families/rows/accumulate.h"
#include "families/rows/draft.h"
#include "families/rows/kept.h"
#include "families/rows/layout.h"
#include "families/rows/local.h"
#include "families/rows/staging.h"
#include "families/rows/stores.h"
#include "families/walk.h"

namespace solstice::families::rows {
namespace {

using codegen::CType;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings)
      : kernel_(kernel), settings_(settings), draft_(program, shape, settings), kept_(draft_), staging_(draft_, kept_) {}

  Result<Text> write() {
    SOLSTICE_TRY(findings_, findings_of(draft_.shape, draft_.phases));
    bind_rows(draft_.emitter, draft_.shape);
    draft_.emitter.set_hook([this](codegen::Emitter&, const ExprRef& node) { return given(node); });
    const EarlyReads early = early_reads_of(draft_.shape);
    SOLSTICE_TRY(const std::string direct, early_text(early.direct));
    SOLSTICE_TRY(const std::string loop, loop_text());
    SOLSTICE_TRY(const std::string gathers, early_text(early.gathers));  // behind the row's loads: they wait for what is read first
    SOLSTICE_TRY(const std::string joined, joined_text());
    SOLSTICE_TRY(const std::string outputs, row_output_text(draft_));
    return kernel_text(draft_, kernel_.name, direct + state_text() + loop + gathers + joined + outputs, {}, shared_);
  }

 private:
  // A reduction as a thread finds it in one chunk, and as what it finds in all of them adds up: in doubles where it rounds.
  struct Found {
    ExprRef node;
    Reduction own, total;
  };

  // The center of what is being found, results of the row or of this thread, and the elements of the chunk.
  Result<std::optional<Value>> given(const ExprRef& node) {
    if (const auto center = centers_.find(node.get()); center != centers_.end()) return std::optional(center->second);
    if (node->op == Op::kReduce) {
      const auto found = values_.find(node.get());
      if (found == values_.end()) return fail(Code::internal, "a reduction is used before it is found");
      return std::optional(found->second);
    }
    if (!scope_) return std::optional<Value>();
    if (const auto loaded = loaded_.find(node.get()); loaded != loaded_.end()) {
      const DType dtype = *draft_.program.tensor(node->id).dtype;
      return std::optional(draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen({}[k].v[lane])", loaded->second),
                                                 scope_->lanes, codegen::values_of(dtype)));
    }
    return staging_.element(node, *scope_);
  }

  // Their loads are written here; what uses the values later finds them known.
  Result<std::string> early_text(const std::vector<ExprRef>& reads) {
    for (const ExprRef& read : reads) {
      if (auto value = draft_.emitter.emit(read); !value.ok()) return value.error();
    }
    return draft_.emitter.take(0);
  }

  // A chunk at a time: its loads, what it adds to findings of the row's data alone, and to those around a center.
  Result<std::string> loop_text() {
    SOLSTICE_TRY(const std::string loads, loads_text());
    Sweep first, second;
    first.reductions = findings_.first;
    for (const Corrected& c : findings_.second) second.reductions.push_back(c.reduction);
    SOLSTICE_TRY(const std::string found, finding_text(first));
    std::string centers;
    for (const Corrected& c : findings_.second) {
      SOLSTICE_TRY(const std::string center, center_text(c));
      centers += center;
    }
    SOLSTICE_TRY(const std::string more, around_centers(second));
    const std::string counted = counts() ? each_vector(fmt::format("elements += {};\n", settings_.vector)) : "";
    const std::string once = draft_.emitter.take(0);
    return once + fmt::format("#pragma unroll 1\nfor (int first = 0; first < {}; first += {}) {{\n{}{}{}{}{}}}\n", draft_.steps, at_once(),
                              loads, found, counted, centers, more);
  }

  int at_once() const { return vectors_at_once(draft_.program, draft_.shape, settings_); }
  bool counts() const {
    return std::any_of(findings_.second.begin(), findings_.second.end(),
                       [](const Corrected& c) { return c.correction == Correction::kSquares; });
  }

  // `text` for each vector of a chunk, `c` in its row.
  std::string each_vector(const std::string& text) const {
    const bool wide = column_type(draft_.shape, settings_.vector) == CType::kI64;
    const int64_t threads = int64_t{settings_.group} * settings_.sharers();
    const bool whole = draft_.steps % at_once() == 0 && !settings_.ragged(draft_.shape);
    return fmt::format(
               "#pragma unroll\nfor (int k = 0; k < {0}; ++k) {{\n[[maybe_unused]] const {1} c = static_cast<{1}>(first + k) * {2} + position;\n",
               at_once(), wide ? "long long" : "int", threads) +
           (whole ? text : fmt::format("if (c < {}) {{\n{}}}\n", ceil_div(draft_.shape.column_count, settings_.vector), text)) + "}\n";
  }

  // What lies along the row is loaded for the whole chunk before the first of it is used.
  Result<std::string> loads_text() {
    codegen::Emitter& emitter = draft_.emitter;
    const int depth = emitter.push();
    bind_columns(emitter, draft_.shape, settings_.vector, depth);
    std::string arrays, loads;
    for (const codegen::Access& access : codegen::accesses_of(draft_.program, draft_.shape.flat)) {
      if (!access.read || !draft_.streams(access.read) || loaded_.count(access.read.get())) continue;
      emitter.note_read(access.tensor);
      SOLSTICE_TRY(const codegen::Emitter::Place at, emitter.place(draft_.program.tensor(access.tensor), access.args));
      if (at.inside) continue;
      const std::string name = fmt::format("x{}", emitter.fresh());
      arrays += fmt::format("{} {}[{}];\n", draft_.vector_type(draft_.storage(access.tensor)), name, at_once());
      loads += fmt::format("{}[k] = load<{}, {}>({} + {});\n", name, settings_.vector, settings_.streaming.loads ? "kStream" : "kPlain",
                           emitter.pointer_name(access.tensor), at.offset.text);
      loaded_[access.read.get()] = name;
    }
    const std::string inner = emitter.take(depth);
    emitter.pop();
    return arrays + each_vector(inner + loads);
  }

  // One sweep over the chunk, added to the thread's findings.
  Result<std::string> finding_text(const Sweep& sweep) {
    std::vector<Reduction> reductions;
    SOLSTICE_TRY(const std::string step, step_text(sweep, reductions));
    std::string ends;
    for (size_t i = 0; i < reductions.size(); ++i) {
      Found found{sweep.reductions[i], reductions[i], reductions[i]};
      if (found.own.rounds()) found.total.type = "double", found.total.wide = true;
      ends += fold_lanes(reductions[i], i, settings_.vector);
      ends += fmt::format("{0} = rows::{1}::combine<{2}>({0}, static_cast<{2}>({3}));\n", of_thread(order_.size()), found.total.op,
                          found.total.type, found.own.name);
      order_.push_back(std::move(found));
    }
    return open_accumulators(reductions, settings_.vector) + each_vector(step) + ends + "}\n";
  }

  // In a scope of its own, since later the same terms stand for the row's center.
  Result<std::string> around_centers(const Sweep& sweep) {
    const int depth = draft_.emitter.push();
    for (const Corrected& c : findings_.second)
      centers_[c.center.get()] = draft_.emitter.variable(types_.at(c.reduction.get()), center_name(c), depth);
    SOLSTICE_TRY(const std::string sweeping, finding_text(sweep));
    std::string out = draft_.emitter.take(depth) + sweeping;
    draft_.emitter.pop();
    centers_.clear();
    return out;
  }

  // What one vector adds: a scope for it, and one inside for its lanes.
  Result<std::string> step_text(const Sweep& sweep, std::vector<Reduction>& reductions) {
    codegen::Emitter& emitter = draft_.emitter;
    const int vectors = emitter.push();
    bind_columns(emitter, draft_.shape, settings_.vector, vectors);
    const codegen::Binding base = emitter.binding(draft_.shape.columns.back().stepping());
    const int lanes = emitter.push();
    scope_.emplace(SweepScope{sweep, vectors, lanes, base});
    bind_lanes(emitter, draft_.shape.columns, settings_.vector, lanes);
    std::string each;
    for (const ExprRef& r : sweep.reductions) {
      SOLSTICE_TRY(Reduction reduction, begin_reduction(emitter, *r, settings_.vector > 1));
      each += accumulate(reduction, reductions.size(), false);
      reductions.push_back(std::move(reduction));
    }
    const std::string inner = emitter.take(lanes) + each;
    emitter.pop();
    const std::string outer = emitter.take(vectors);
    emitter.pop();
    scope_.reset();
    const std::string by_lane =
        settings_.vector == 1 ? "constexpr int lane = 0;\n" + inner
                              : fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}}}\n", settings_.vector, inner);
    return outer + open_vector(reductions) + by_lane + close_vector(reductions);
  }

  // The thread's center of what follows, as a variable: the mean of its first chunk, which is near enough to the row's; the largest
  // exponent so far, with what was found around a smaller one corrected.
  Result<std::string> center_text(const Corrected& c) {
    const int depth = draft_.emitter.push();
    see_thread(depth);
    SOLSTICE_TRY(const Value center, draft_.emitter.emit(c.center));
    const std::string text = draft_.emitter.take(depth);
    draft_.emitter.pop();
    types_[c.reduction.get()] = center.type;
    const std::string name = center_name(c);
    if (c.correction == Correction::kSquares) return fmt::format("if (first == 0) {{\n{}{} = {};\n}}\n", text, name, center.text);
    return fmt::format("{{\n{0}if ({1} != {2}) {{\n{3} *= rows::factor_of({1}, {2});\n{1} = {2};\n}}\n}}\n", text, name, center.text,
                       of_thread(number_of(c)));
  }

  // From the threads' findings to the row's: those of its data alone, with them the centers, and then what was found around others.
  Result<std::string> joined_text() {
    std::string out = settings_.cluster > 1 ? "rows::wait_for_start();\n" : "";
    out += exchange_text(0, firsts());
    know(0, firsts());
    std::string corrections;
    for (const Corrected& c : findings_.second) {
      SOLSTICE_TRY(const Value center, draft_.emitter.emit(c.center));
      corrections += correction_text(c, center.text);
    }
    out += draft_.emitter.take(0) + corrections + exchange_text(firsts(), order_.size());
    know(firsts(), order_.size());
    return out;
  }

  // From here on the equations see the row's results [from, to).
  void know(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const Reduction& r = order_[i].total;
      values_[order_[i].node.get()] = draft_.emitter.variable(r.value_type, r.value_of(of_row(i)), 0);
    }
  }

  // One barrier for the findings [from, to); a warp alone needs none.
  std::string exchange_text(size_t from, size_t to) {
    std::string publish, collect;
    if (exchange_bytes(settings_) == 0) {
      for (size_t i = from; i < to; ++i)
        collect += fmt::format("const {} {} = rows::reduce_lanes<rows::{}, {}>({});\n", order_[i].total.type, of_row(i), order_[i].total.op,
                               settings_.group, of_thread(i));
      return collect;
    }
    for (size_t i = from; i < to; ++i) {
      const Reduction& r = order_[i].total;
      const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, shared_);
      const std::string how = fmt::format("rows::{}, {}, {}, {}", r.op, settings_.threads, settings_.group, settings_.cluster);
      shared_ += exchange_bytes(settings_);
      publish += fmt::format("rows::publish<{}>({}, {}, rank);\n", how, of_thread(i), slots);
      collect += fmt::format("const {0} {1} = rows::collect<{2}, {0}>({3});\n", r.type, of_row(i), how, slots);
    }
    return publish + (settings_.cluster > 1 ? "rows::sync_cluster();\n" : "rows::sync_block();\n") + collect;
  }

  std::string correction_text(const Corrected& c, const std::string& center) const {
    const std::string value = of_thread(number_of(c));
    if (c.correction == Correction::kExponential) return fmt::format("{} *= rows::factor_of({}, {});\n", value, center_name(c), center);
    const auto sum = std::find(findings_.first.begin(), findings_.first.end(), c.sum) - findings_.first.begin();
    return fmt::format("{0} = rows::corrected_squares({0}, {1}, {2}, {3}, elements);\n", value, center_name(c), center,
                       of_thread(static_cast<size_t>(sum)));
  }

  // The equations see the thread's findings, as those of a row that is everywhere like it: near enough for a center.
  void see_thread(int depth) {
    for (size_t i = 0; i < firsts(); ++i) {
      const Reduction& r = order_[i].total;
      const std::string found = of_thread(i);
      const std::string sum = fmt::format("rows::as_of_row({}, rows::share_of(elements) * {}.0)", found, draft_.shape.column_count);
      const std::string text = r.op == "Max" ? fmt::format("rows::center_of({})", found) : r.value_of(r.op == "Sum" ? sum : found);
      values_[order_[i].node.get()] = draft_.emitter.variable(r.value_type, text, depth);
    }
  }

  std::string state_text() const {
    std::string out = "[[maybe_unused]] int elements = 0;\n";
    for (size_t i = 0; i < order_.size(); ++i)
      out += fmt::format("{0} {1} = rows::{2}::start<{0}>();\n", order_[i].total.type, of_thread(i), order_[i].total.op);
    for (const Corrected& c : findings_.second)
      out += fmt::format("{} {} = 0;\n", codegen::name_of(types_.at(c.reduction.get())), center_name(c));
    return out;
  }

  size_t firsts() const { return findings_.first.size(); }
  size_t number_of(const Corrected& c) const { return firsts() + static_cast<size_t>(&c - findings_.second.data()); }
  std::string center_name(const Corrected& c) const { return fmt::format("center{}", number_of(c)); }
  static std::string of_thread(size_t i) { return fmt::format("of_thread{}", i); }
  static std::string of_row(size_t i) { return fmt::format("of_row{}", i); }

  const ir::Kernel& kernel_;
  const Settings& settings_;
  Draft draft_;
  KeptValues kept_;
  Staging staging_;
  Findings findings_;
  std::vector<Found> order_;                       // firsts, then seconds
  std::map<const ir::Expr*, Value> values_;        // of reductions, as the equations see them at this place of the text
  std::map<const ir::Expr*, Value> centers_;       // variables, while what lies around them is written
  std::map<const ir::Expr*, CType> types_;         // of a reduction's center
  std::map<const ir::Expr*, std::string> loaded_;  // arrays of the chunk's data
  std::optional<SweepScope> scope_;                // while a sweep's lanes are written
  int64_t shared_ = 0;
};

}  // namespace

Status check_looked_at_once(const Shape& shape) {
  const auto refuse = [](const std::string& why) { return fail(Code::illegal_knobs, "`residency=once`: " + why + "; drop it"); };
  if (shape.strided || shape.columns.empty()) return refuse("a row that is not contiguous in memory");
  const Phases phases = phases_of(shape, false);
  const bool stores = std::any_of(phases.sweeps.begin(), phases.sweeps.end(), [](const Sweep& s) { return !s.stores.empty(); });
  if (stores) return refuse("something is stored along the row, which is looked at again for that");
  if (phases.sweeps.size() == 1) return refuse("nothing of the row needs another result: it is looked at once as it is");
  const Result<Findings> findings = findings_of(shape, phases);
  return findings.ok() ? success() : Status(refuse(findings.error().message));
}

int vectors_at_once(const ir::Program& program, const Shape& shape, const Settings& settings) {
  std::set<const ir::Expr*> streams;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (access.read && is_stream(shape, access, settings.vector)) streams.insert(access.read.get());
  }
  return std::max(1, (settings.vector == 1 ? 8 : 4) / std::max(1, static_cast<int>(streams.size())));
}

Result<Text> emit_once(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings) {
  return Writer(program, kernel, shape, settings).write();
}

}  // namespace solstice::families::rows
