#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/integer.h"
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
  s.threads = s.group = team.group_threads();
  s.vector = team.vector;
  s.shifted = team.shifted;
  s.residency = Residency::kReload;
  return s;
}

// Findings go up from threads to warps, to blocks, to the row: `of_thread0`, `of_warp0`, ...
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
    if (team_.shifted) {
      SOLSTICE_TRY(text.shift, walk_.shift_text());
    }
    SOLSTICE_TRY(text.copying, walk_.copying());
    SOLSTICE_TRY(text.arriving, arriving_text());
    SOLSTICE_TRY(text.exchanging, exchanging_text());
    SOLSTICE_TRY(text.ahead, ahead_text());
    SOLSTICE_TRY(text.leaving, leaving_text());
    text.state = state_text() + weights_text();
    return team_kernel(draft_, kernel_, team_, text);
  }

 private:
  // A reduction as a thread finds it in one piece, and as what it finds in all of them adds up: in doubles where it rounds.
  struct Found {
    ExprRef node;
    Reduction own, total;
  };
  // What has findings: `name` and its number; `index` where there are several of each, `elements` that they are of.
  struct Holder {
    std::string name, index, elements;

    std::string of(size_t number) const { return fmt::format("of_{}{}{}", name, number, index); }
  };

  Result<std::optional<Value>> given(const ExprRef& node) {
    if (const auto center = centers_.find(node.get()); center != centers_.end()) return std::optional(center->second);
    if (node->op == Op::kReduce) {
      const auto found = values_.find(node.get());
      if (found == values_.end()) return fail(Code::internal, "a reduction is used before its sweep");
      return std::optional(found->second);
    }
    if (!scope_) return std::optional<Value>();
    for (size_t i = 0; i < team_.streams.size(); ++i) {
      if (team_.streams[i].access.read != node) continue;
      const DType dtype = *draft_.program.tensor(node->id).dtype;
      return std::optional(draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen(x{}[k].v[lane])", i), scope_->lanes,
                                                 codegen::values_of(dtype)));
    }
    if (const auto number = held(node); storing_ && number) {
      const std::string name = fmt::format("held{}", *number);
      if (team_.shifted) return of_window(node, name, true);
      const DType dtype = *draft_.program.tensor(node->id).dtype;
      const int id = draft_.emitter.fresh();
      draft_.emitter.statement(scope_->vectors, fmt::format("const {0} u{1} = *reinterpret_cast<const {0}*>({2} + c * {3});",
                                                            draft_.vector_type(draft_.storage(node->id)), id, name, team_.vector));
      return std::optional(draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen(u{}.v[lane])", id), scope_->lanes,
                                                 codegen::values_of(dtype)));
    }
    if (const auto found = ahead_.find(node.get()); storing_ && found != ahead_.end()) {
      if (team_.shifted) return of_window(node, found->second, false);
      const DType dtype = *draft_.program.tensor(node->id).dtype;
      return std::optional(draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen({}[k].v[lane])", found->second),
                                                 scope_->lanes, codegen::values_of(dtype)));
    }
    return staging_.element(node, *scope_);
  }

  std::optional<size_t> held(const ExprRef& read) const {
    for (size_t i = 0; i < team_.held.size(); ++i) {
      if (team_.held[i].read == read) return i;
    }
    return std::nullopt;
  }

  // The block's part of the weights that it holds, to shared memory behind findings and results: by the computing threads, while
  // the first pieces come.
  std::string weights_text() {
    if (team_.held.empty()) return "";
    const int beside = team_.shifted ? 1 : 0;
    std::string out =
        fmt::format("const int held_first = larger(0, first * {0} - {1}), held_end = (first + chunks) * {0} + {1};\n", team_.piece, beside);
    for (size_t i = 0; i < team_.held.size(); ++i) {
      const HeldWeights& w = team_.held[i];
      draft_.emitter.note_read(w.tensor);
      out += fmt::format(
          "{0}* const held{1} = reinterpret_cast<{0}*>(reinterpret_cast<unsigned char*>(signals) + {2}) - held_first * {3};  // as the whole tensor would lie\n"
          "for (int v = held_first + static_cast<int>(threadIdx.x); v < smaller(held_end, {4}); v += {5}) {{\n"
          "*reinterpret_cast<{6}*>(held{1} + v * {3}) = load<{3}>({7} + v * {3});\n}}\n",
          draft_.storage(w.tensor), i, w.offset, team_.vector, elements_of(draft_.program.tensor(w.tensor)) / team_.vector, team_.threads,
          draft_.vector_type(draft_.storage(w.tensor)), draft_.emitter.pointer_name(w.tensor));
    }
    return out + "weights.arrive();\nweights.wait(0);\n";
  }

  // A lane of what was loaded ahead as the windows `name`, or of weights that are held; where the tensor ends near, it is read here.
  Result<std::optional<Value>> of_window(const ExprRef& read, const std::string& name, bool is_held) {
    codegen::Emitter& emitter = draft_.emitter;
    const ir::Tensor& tensor = draft_.program.tensor(read->id);
    const int inner = draft_.shape.columns.back().stepping();
    const Binding lanes = emitter.binding(inner);
    emitter.bind(inner, scope_->base);
    SOLSTICE_TRY(const codegen::Emitter::Place at, emitter.place(tensor, draft_.reads.at(read.get()).args));
    emitter.bind(inner, lanes);
    const int id = emitter.fresh();
    const std::string window =
        is_held ? fmt::format("rows::held_window<{}, {}>({}, {})", team_.vector, elements_of(tensor), name, at.offset.text) : name + "[k]";
    emitter.statement(scope_->vectors, fmt::format("const {0} u{1} = rows::from_window({2}, {3});\n"
                                                   "const bool has_u{1} = !apart || (whole && rows::has_window<{4}, {5}>({3}));",
                                                   draft_.vector_type(draft_.storage(read->id)), id, window, at.offset.text, team_.vector,
                                                   elements_of(tensor)));
    return std::optional(emitter.define(
        codegen::computing_type(*tensor.dtype),
        fmt::format("has_u{0} ? widen(u{0}.v[lane]) : load_one({1} + {2} + lane)", id, emitter.pointer_name(read->id), at.offset.text),
        scope_->lanes, codegen::values_of(*tensor.dtype)));
  }

  size_t firsts() const { return findings_.first.size(); }
  size_t number_of(const Corrected& c) const { return firsts() + static_cast<size_t>(&c - findings_.second.data()); }
  std::string center_name(const Corrected& c) const { return fmt::format("center{}", number_of(c)); }

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

  // A piece that has arrived: into the thread's findings, and after the last one of the row into its warp's.
  Result<std::string> arriving_text() {
    open_stage();
    SOLSTICE_TRY(std::string out, walk_.pointers("ring", stage_));
    Sweep first, second;
    first.reductions = findings_.first;
    for (const Corrected& c : findings_.second) second.reductions.push_back(c.reduction);
    SOLSTICE_TRY(const std::string found, finding_text(first));
    out = walk_.piece_text() + out + draft_.emitter.take(stage_) + walk_.declarations() + walk_.steps(walk_.loads()) +
          (team_.holds ? "" : "ring.release();\n") + found;
    const std::string whole = fmt::format("elements += rows::taken<{}>(size, place) * {};\n", team_.group_threads(), team_.vector);
    const std::string tested = fmt::format("elements += rows::inside<{}>(element, {});\n", team_.vector, team_.extent);
    if (counts()) out += team_.shifted ? fmt::format("if (!apart) {}else {{\n{}}}\n", whole, walk_.steps(tested)) : whole;
    std::string centers, more;
    for (const Corrected& c : findings_.second) {
      SOLSTICE_TRY(const std::string center, center_text(c));
      centers += center;
    }
    if (!second.reductions.empty()) {
      SOLSTICE_TRY(more, around_centers(second));
    }
    out += centers + more;
    SOLSTICE_TRY(const std::string end, row_end_text());
    return out + fmt::format("if (chunk >= chunks - {}) {{\n{}}}\n", team_.groups, end);
  }

  // The sweep that finds what needs a center: in a scope of its own, since later the same terms stand for other centers.
  Result<std::string> around_centers(const Sweep& sweep) {
    const int depth = draft_.emitter.push();
    for (const Corrected& c : findings_.second)
      centers_[c.center.get()] = draft_.emitter.variable(types_.at(c.reduction.get()), center_name(c), depth);
    SOLSTICE_TRY(const std::string sweeping, finding_text(sweep));
    std::string out = draft_.emitter.take(stage_) + draft_.emitter.take(depth) + sweeping;
    draft_.emitter.pop();
    centers_.clear();
    return out;
  }

  // One sweep over a piece, added to the thread's findings.
  Result<std::string> finding_text(const Sweep& sweep) {
    std::vector<Reduction> reductions;
    SOLSTICE_TRY(const std::string step, step_text(sweep, reductions));
    std::string ends;
    for (size_t i = 0; i < reductions.size(); ++i) {
      const Found& found = note(sweep.reductions[i], reductions[i]);
      ends += fold_lanes(reductions[i], i, team_.vector);
      ends += fmt::format("{0} = rows::{1}::combine<{2}>({0}, static_cast<{2}>({3}));\n", thread_.of(order_.size() - 1), found.total.op,
                          found.total.type, found.own.name);
    }
    return open_accumulators(reductions, team_.vector) + walk_.guarded_steps(step) + ends + "}\n";
  }

  const Found& note(const ExprRef& node, const Reduction& own) {
    Found found{node, own, own};
    if (own.rounds()) found.total.type = "double", found.total.wide = true;
    order_.push_back(std::move(found));
    return order_.back();
  }

  // The thread's own center of what follows, as a variable: the mean of its first piece of the row, which is near enough to
  // its part's; the largest exponent so far, with what was found around a smaller one corrected.
  Result<std::string> center_text(const Corrected& c) {
    const int depth = draft_.emitter.push();
    see(thread_, "rows::share_of(elements)", depth);
    SOLSTICE_TRY(const Value center, draft_.emitter.emit(c.center));
    const std::string outer = draft_.emitter.take(stage_), text = draft_.emitter.take(depth);
    draft_.emitter.pop();
    types_[c.reduction.get()] = center.type;
    const std::string name = center_name(c);
    if (c.correction == Correction::kSquares)
      return outer + fmt::format("if (chunk < {}) {{\n{}{} = {};\n}}\n", team_.groups, text, name, center.text);
    return outer + fmt::format("{{\n{0}if ({1} != {2}) {{\n{3} *= rows::factor_of({1}, {2});\n{1} = {2};\n}}\n}}\n", text, name,
                               center.text, thread_.of(number_of(c)));
  }

  // The thread's findings of the row to its warp's, and these to the exchanging warp.
  Result<std::string> row_end_text() {
    SOLSTICE_TRY(const std::string fold, fold_text(thread_, warp_, 1));
    std::string out = fold + "if (lane == 0) {\n";
    for (size_t i = 0; i < order_.size(); ++i) out += fmt::format("{} = {};\n", finding(i, "warp"), warp_.of(i));
    out += fmt::format("{} = {};\nfound(turn).arrive();\n}}\nrows::sync_warp();\nelements = 0;\n", finding(order_.size(), "warp"),
                       warp_.elements);
    for (size_t i = 0; i < order_.size(); ++i) out += fmt::format("{} = {};\n", thread_.of(i), start(i));
    for (const Corrected& c : findings_.second) out += center_name(c) + " = 0;\n";
    return out + close_stage();
  }

  // The warps' findings of the row to the block's, those of all blocks to the row's.
  Result<std::string> exchanging_text() {
    open_stage();
    std::string out = fmt::format("const bool has = lane < {};\n", team_.warps());
    for (size_t i = 0; i < order_.size(); ++i)
      out += fmt::format("{} {} = has ? {} : {};\n", type(i), one_warp_.of(i), finding(i, "lane"), start(i));
    out += fmt::format("const int {} = has ? {} : 0;\n", one_warp_.elements, finding(order_.size(), "lane"));
    SOLSTICE_TRY(const std::string block, fold_text(one_warp_, block_, 1));
    out += block;
    const int each = static_cast<int>(ceil_div(team_.blocks, 32));
    for (size_t i = 0; i < order_.size(); ++i)
      out += fmt::format("rows::offer_to_all<{}, 32>({}, rank, lane, number, {});\n", team_.blocks, block_.of(i), offers(i));
    out += fmt::format("u64 seen[{0} * {1}];\nrows::collect_offers<{2}, {0}, {1}>({3}, rank, lane, number, seen);\n", order_.size(), each,
                       team_.blocks, offers(0));
    std::string values;
    for (size_t i = 0; i < order_.size(); ++i) {
      out += fmt::format("{} of_blocks{}[{}];\n", type(i), i, each);
      values += fmt::format("{} = there ? rows::offered<{}>(seen[{} * {} + k]) : {};\n", blocks_.of(i), type(i), i, each, start(i));
    }
    out += fmt::format(
        "int of_elements[{0}];\n#pragma unroll\nfor (int k = 0; k < {0}; ++k) {{\nconst int block = k * 32 + lane;\nconst bool there = block < {3};\n"
        "const int from = block * {1} + smaller(block, {2}), to = from + {1} + (block < {2} ? 1 : 0);\n"
        "of_elements[k] = there ? elements_before(row, to) - elements_before(row, from) : 0;\n{4}}}\n",
        each, team_.row_pieces() / team_.blocks, team_.row_pieces() % team_.blocks, team_.blocks, values);
    SOLSTICE_TRY(const std::string row, fold_text(blocks_, row_, each));
    out += row + "if (lane == 0) {\n";
    for (size_t i = 0; i < order_.size(); ++i) out += fmt::format("{} = {};\n", result(i), row_.of(i));
    return out + "known(turn).arrive();\n}\nrows::sync_warp();\n" + close_stage();
  }

  // Whether anything asks of how many elements a finding is.
  bool counts() const {
    return std::any_of(findings_.second.begin(), findings_.second.end(),
                       [](const Corrected& c) { return c.correction == Correction::kSquares; });
  }

  // A lane's findings (`count` of each) to those of all lanes.
  Result<std::string> fold_text(const Holder& from, const Holder& to, int count) {
    const bool several = !from.index.empty();
    const auto folded = [&](size_t i) {
      const Reduction& r = order_[i].total;
      std::string value = from.of(i), out = fmt::format("{} {} = {};\n", type(i), to.of(i), several ? start(i) : value);
      if (several)
        out += fmt::format("#pragma unroll\nfor (int k = 0; k < {0}; ++k) {1} = rows::{2}::combine<{3}>({1}, {4});\n", count, to.of(i),
                           r.op, r.type, value);
      return out + fmt::format("{0} = rows::reduce_lanes<rows::{1}, 32, {2}>({0});\n", to.of(i), r.op, r.type);
    };
    std::string out = several ? fmt::format("int {0} = 0;\n#pragma unroll\nfor (int k = 0; k < {1}; ++k) {0} += {2};\n", to.elements, count,
                                            from.elements)
                              : fmt::format("int {} = {};\n", to.elements, from.elements);
    if (counts()) out += fmt::format("{0} = rows::reduce_lanes<rows::Sum, 32, int>({0});\n", to.elements);
    for (size_t i = 0; i < firsts(); ++i) out += folded(i);
    for (const Corrected& c : findings_.second) {
      std::string outer;
      SOLSTICE_TRY(const std::string correction, correction_text(c, from, to, outer));
      out += outer + (several ? fmt::format("#pragma unroll\nfor (int k = 0; k < {}; ++k) {{\n{}}}\n", count, correction)
                              : "{\n" + correction + "}\n");
      out += folded(number_of(c));
    }
    return out;
  }

  // What was found around the center of `from` for the center of `to`. `outer`: what of it belongs ahead of a loop.
  Result<std::string> correction_text(const Corrected& c, const Holder& from, const Holder& to, std::string& outer) {
    SOLSTICE_TRY(const auto own, center_of(c, from));
    SOLSTICE_TRY(const auto center, center_of(c, to));
    outer = draft_.emitter.take(stage_);
    const std::string out = own.first + center.first, value = from.of(number_of(c));
    if (c.correction == Correction::kExponential)
      return out + fmt::format("{} *= rows::factor_of({}, {});\n", value, own.second, center.second);
    const auto sum = std::find(findings_.first.begin(), findings_.first.end(), c.sum) - findings_.first.begin();
    return out + fmt::format("{0} = rows::corrected_squares({0}, {1}, {2}, {3}, {4});\n", value, own.second, center.second,
                             from.of(static_cast<size_t>(sum)), from.elements);
  }

  // Statements and the center that they compute; a thread has it already.
  Result<std::pair<std::string, std::string>> center_of(const Corrected& c, const Holder& holder) {
    if (&holder == &thread_) return std::pair(std::string(), center_name(c));
    const int depth = draft_.emitter.push();  // a scope for each: what it knows must not meet another's
    see(holder, fmt::format("rows::share_of({})", holder.elements), depth);
    SOLSTICE_TRY(const Value center, draft_.emitter.emit(c.center));
    const std::string text = draft_.emitter.take(depth);
    draft_.emitter.pop();
    return std::pair(text, center.text);
  }

  // The equations see the holder's findings, as those of a row that is everywhere like it; of the row itself exactly.
  void see(const Holder& holder, const std::string& share, int depth) {
    for (size_t i = 0; i < firsts(); ++i) {
      const Reduction& r = order_[i].total;
      const std::string text =
          &holder == &row_ ? r.value_of(holder.of(i))
          : r.op == "Max"  ? fmt::format("rows::center_of({})", holder.of(i))
          : r.op == "Sum"  ? r.value_of(fmt::format("rows::as_of_row({}, {} * {}.0)", holder.of(i), share, draft_.shape.column_count))
                           : r.value_of(holder.of(i));
      values_[order_[i].node.get()] = draft_.emitter.variable(r.value_type, text, depth);
    }
  }

  static void add_reads(const ExprRef& e, std::vector<ExprRef>& out) {
    if (e->op == Op::kRead && std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
    if (e->op == Op::kReduce) return;
    for (const ExprRef& arg : e->args) add_reads(arg, out);
  }

  static int64_t elements_of(const ir::Tensor& tensor) {
    int64_t out = 1;
    for (size_t d = 0; d < tensor.shape.size(); ++d) out += (tensor.shape[d] - 1) * tensor.strides[d];
    return out;
  }
  // Whether what lies along the row can be read in windows (kernels/rows/window.h).
  bool has_windows(const ExprRef& read, const ir::Tensor& tensor) const {
    const auto access = draft_.reads.find(read.get());
    const int bytes = team_.vector * size_of(*tensor.dtype);
    return access != draft_.reads.end() && is_run(draft_.shape, access->second) && bytes % 4 == 0 &&
           elements_of(tensor) >= 2 * team_.vector;
  }

  // What the stores of a piece need beside the row's data (weights) is loaded ahead of the piece that arrives meanwhile.
  Result<std::string> ahead_text() {
    std::vector<ExprRef> reads;
    for (const Sweep& s : draft_.phases.sweeps) {
      for (const int k : s.stores) add_reads(draft_.equation(k).rhs, reads);
    }
    open_stage();
    const int depth = draft_.emitter.push();
    walk_.bind_vector(depth);
    std::string loads, arrays;
    for (const ExprRef& read : reads) {
      const bool stream = std::any_of(team_.streams.begin(), team_.streams.end(), [&](const RunRead& s) { return s.access.read == read; });
      const ir::Tensor& tensor = draft_.program.tensor(read->id);
      if (stream || held(read) || !(team_.shifted ? has_windows(read, tensor) : draft_.streams(read))) continue;
      draft_.emitter.note_read(read->id);
      SOLSTICE_TRY(const codegen::Emitter::Place at, draft_.emitter.place(tensor, draft_.reads.at(read.get()).args));
      if (at.inside) continue;
      const std::string name = fmt::format("w{}", draft_.emitter.fresh());
      const std::string type = team_.shifted ? fmt::format("rows::Window<{}, {}>", draft_.storage(read->id), team_.vector)
                                             : draft_.vector_type(draft_.storage(read->id));
      const std::string how = team_.shifted ? fmt::format("rows::window_at<{}, {}>({}, ", team_.vector, elements_of(tensor),
                                                          draft_.emitter.pointer_name(read->id))
                                            : fmt::format("load<{}, kPlain>({} + ", team_.vector, draft_.emitter.pointer_name(read->id));
      arrays += fmt::format("{} {}[{}];\n", type, name, team_.steps());
      loads += fmt::format("{}[k] = {}{});\n", name, how, at.offset.text);
      ahead_[read.get()] = name;
    }
    const std::string inner = draft_.emitter.take(depth);
    draft_.emitter.pop();
    const std::string outer = close_stage();
    if (loads.empty()) return std::string();
    return arrays + "if (step >= lag) {\nconst int chunk = chunk_out;\n" + row_text("round_out") + walk_.piece_text() + outer +
           walk_.steps(inner + loads) + "}\n";
  }
  std::string row_text(std::string_view round) const {
    return fmt::format("[[maybe_unused]] const {0} row = team + static_cast<{0}>({1}) * {2};\n", row_type(draft_.shape), round,
                       team_.teams);
  }

  // The piece's data is in registers; only then does anything go out, so that the slot is free while it does.
  std::string released() const { return team_.holds ? "behind.release();\n" : ""; }

  // What is stored of a piece.
  Result<std::string> leaving_text() {
    open_stage();
    std::string out = walk_.piece_text();
    for (size_t i = 0; i < order_.size(); ++i) {
      out += fmt::format("const {} {} = {};\n", type(i), row_.of(i), result(i));
      values_[order_[i].node.get()] = draft_.emitter.variable(order_[i].total.value_type, order_[i].total.value_of(row_.of(i)), stage_);
    }
    SOLSTICE_TRY(const std::string pointers, walk_.pointers("behind", stage_));
    SOLSTICE_TRY(const std::string outputs, row_output_text(draft_, stage_));
    out += pointers + "[[maybe_unused]] const int position = rank + chunk + place;  // 0: stores what a row has one of\n" + outputs;
    Sweep sweep;
    for (const Sweep& s : draft_.phases.sweeps) sweep.stores.insert(sweep.stores.end(), s.stores.begin(), s.stores.end());
    if (!sweep.stores.empty()) {
      std::vector<Reduction> none;
      storing_ = true;
      SOLSTICE_TRY(const std::string step, step_text(sweep, none));
      out += draft_.emitter.take(stage_) + walk_.declarations() + walk_.steps(walk_.loads()) + released() + walk_.guarded_steps(step);
    } else {
      out += released();
    }
    return out + close_stage();
  }

  // What one step does with its vector: a scope for it, and one inside for its lanes.
  Result<std::string> step_text(const Sweep& sweep, std::vector<Reduction>& reductions) {
    codegen::Emitter& emitter = draft_.emitter;
    const int vectors = emitter.push();
    walk_.bind_vector(vectors);
    const codegen::Binding base = emitter.binding(draft_.shape.columns.back().stepping());
    SOLSTICE_TRY(const std::vector<RowStore> stores, row_stores(draft_, sweep));
    const int lanes = emitter.push();
    scope_.emplace(SweepScope{sweep, vectors, lanes, base});
    bind_lanes(emitter, draft_.shape.columns, team_.vector, lanes);
    VectorText text;
    for (const ExprRef& r : sweep.reductions) {
      SOLSTICE_TRY(Reduction reduction, begin_reduction(emitter, *r, team_.vector > 1));
      text.lanes += accumulate(reduction, reductions.size(), false);
      reductions.push_back(std::move(reduction));
    }
    text.before += open_vector(reductions);
    text.after += close_vector(reductions);
    for (const RowStore& store : stores) SOLSTICE_CHECK(write_store(draft_, store, text));
    const std::string inner = emitter.take(lanes) + text.lanes;
    emitter.pop();
    const std::string outer = emitter.take(vectors);
    emitter.pop();
    scope_.reset();
    return outer + text.before + walk_.lanes(inner) + text.after;
  }

  const std::string& type(size_t i) const { return order_[i].total.type; }
  std::string start(size_t i) const { return fmt::format("rows::{}::start<{}>()", order_[i].total.op, type(i)); }
  // Places of shared memory, of the row's turn: of a warp's finding, of the row's result. Behind the last: of a warp's elements.
  std::string finding(size_t i, const std::string& warp) const {
    return fmt::format("*reinterpret_cast<{}*>(findings + (turn * {} + {}) * {} + {})", i < order_.size() ? type(i) : "int",
                       order_.size() + 1, i, team_.warps(), warp);
  }
  std::string result(size_t i) const {
    return fmt::format("*reinterpret_cast<{}*>(results + turn * {} + {})", type(i), order_.size() + 1, i);
  }
  std::string offers(size_t i) const {
    return fmt::format("offers + (round % rows::kTurns * {} + {}) * {}", order_.size(), i, int64_t{team_.blocks} * team_.blocks);
  }

  std::string state_text() const {
    std::string out = "[[maybe_unused]] int elements = 0;\n";
    for (size_t i = 0; i < order_.size(); ++i) out += fmt::format("{} {} = {};\n", type(i), thread_.of(i), start(i));
    for (const Corrected& c : findings_.second)
      out += fmt::format("{} {} = 0;\n", codegen::name_of(types_.at(c.reduction.get())), center_name(c));
    return out;
  }

  const Holder thread_{"thread", "", "elements"}, warp_{"warp", "", "warp_elements"};
  const Holder one_warp_{"one_warp", "", "elements"}, block_{"block", "", "block_elements"};
  const Holder blocks_{"blocks", "[k]", "of_elements[k]"}, row_{"row", "", "row_elements"};

  const ir::Kernel& kernel_;
  const Team& team_;
  Settings settings_;
  Draft draft_;
  KeptValues kept_;
  Staging staging_;
  TeamWalk walk_;
  Findings findings_;
  std::vector<Found> order_;                      // firsts, then seconds
  std::map<const ir::Expr*, Value> values_;       // of reductions, as the equations see them at this place of the text
  std::map<const ir::Expr*, Value> centers_;      // variables, while the sweeps around them are written
  std::map<const ir::Expr*, CType> types_;        // of a reduction's center
  std::optional<SweepScope> scope_;               // while a sweep's lanes are written
  std::map<const ir::Expr*, std::string> ahead_;  // arrays of what is loaded ahead for the stores
  bool storing_ = false;                          // while these are written
  int stage_ = 0;
};

}  // namespace

Result<Emission> emit_team(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Team& team) {
  return Writer(program, kernel, shape, team).write();
}

}  // namespace solstice::families::rows
