#include "families/rows/accumulators.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/text/marks.h"
#include "families/reduction/accumulate.h"

namespace solstice::families::rows {

using codegen::Value;
using ir::ExprRef;

std::string AccumulatorSet::of(size_t number) const { return fmt::format("of_{}{}{}", name, number, index); }

Status AccumulatorText::find() {
  SOLSTICE_TRY(reductions_, online_reductions_of(draft_.shape, draft_.phases));
  return success();
}

std::string AccumulatorText::start(size_t number) const {
  return fmt::format("reduction::{}::start<{}>()", total(number).op, total(number).type);
}

std::string AccumulatorText::center_name(const Corrected& c) const { return fmt::format("center{}", number_of(c)); }

bool AccumulatorText::counts() const {
  return std::any_of(reductions_.second.begin(), reductions_.second.end(),
                     [](const Corrected& c) { return c.correction == Correction::kSquares; });
}

std::string AccumulatorText::state_text() const {
  std::string out = fmt::format("[[maybe_unused]] int {} = 0;\n", thread_.elements);
  for (size_t i = 0; i < count(); ++i) out += fmt::format("{} {} = {};\n", total(i).type, thread_.of(i), start(i));
  for (const Corrected& c : reductions_.second)
    out += fmt::format("{} {} = 0;\n", codegen::name_of(types_.at(c.reduction.get())), center_name(c));
  return out;
}

std::string AccumulatorText::restart_text() const {
  std::string out = thread_.elements + " = 0;\n";
  for (size_t i = 0; i < count(); ++i) out += fmt::format("{} = {};\n", thread_.of(i), start(i));
  for (const Corrected& c : reductions_.second) out += center_name(c) + " = 0;\n";
  return out;
}

Result<std::string> AccumulatorText::centers_text(const std::string& is_first) {
  std::string out;
  for (const Corrected& c : reductions_.second) {
    SOLSTICE_TRY(const Center center, center_of(c, thread_));
    types_[c.reduction.get()] = center.type;
    const std::string take = fmt::format("{} = {};\n", center_name(c), center.text);
    out += c.correction == Correction::kSquares
               ? fmt::format("if ({}) {{\n{}{}}}\n", is_first, center.statements, take)
               : fmt::format("{{\n{}if ({} != {}) {{\n{}{}}}\n}}\n", center.statements, center_name(c), center.text,
                             correction_text(c, center.text), take);
  }
  return out;
}

// In a scope of its own, since later the same terms stand for other centers.
Result<std::string> AccumulatorText::second_text() {
  if (reductions_.second.empty()) return std::string();
  const int depth = draft_.emitter.push();
  std::vector<ExprRef> reductions;
  for (const Corrected& c : reductions_.second) {
    around_[c.center.get()] = draft_.emitter.variable(types_.at(c.reduction.get()), center_name(c), depth);
    reductions.push_back(c.reduction);
  }
  SOLSTICE_TRY(const std::string found, accumulation_text(reductions));
  const std::string out = draft_.emitter.take(depth) + found;
  draft_.emitter.pop();
  around_.clear();
  return out;
}

// One sweep over a piece, added to the thread's accumulators.
Result<std::string> AccumulatorText::accumulation_text(const std::vector<ExprRef>& nodes) {
  Sweep sweep;
  sweep.reductions = nodes;
  std::vector<Reduction> reductions;
  SOLSTICE_TRY(const std::string step,
               step_.text(sweep, [&](const std::vector<RowStore>&) { return vector_text(sweep, reductions); }));
  std::string ends;
  for (size_t i = 0; i < reductions.size(); ++i) {
    Reduction total = reductions[i];
    if (total.rounds()) total.type = "double", total.wide = true;
    ends += fold_lanes(reductions[i], i, draft_.settings.vector);
    ends +=
        codegen::mark(total.equation) + fmt::format("{0} = reduction::{1}::combine<{2}>({0}, static_cast<{2}>({3}));\n",
                                                    thread_.of(count()), total.op, total.type, reductions[i].name);
    order_.push_back({nodes[i], std::move(total)});
  }
  return open_accumulators(reductions, draft_.settings.vector) + vectors_(step) + ends + "}\n";
}

Result<VectorText> AccumulatorText::vector_text(const Sweep& sweep, std::vector<Reduction>& reductions) {
  VectorText out;
  for (const ExprRef& r : sweep.reductions) {
    SOLSTICE_TRY(Reduction reduction, begin_reduction(draft_.emitter, *r, draft_.settings.vector > 1));
    out.lanes += accumulate(reduction, reductions.size(), false);
    reductions.push_back(std::move(reduction));
  }
  out.before = open_vector(reductions);
  out.after = close_vector(reductions);
  return out;
}

// A scope for each: what it knows must not meet another's.
Result<AccumulatorText::Center> AccumulatorText::center_of(const Corrected& c, const AccumulatorSet& holder) {
  const int depth = draft_.emitter.push();
  see(holder, firsts(), depth);
  SOLSTICE_TRY(const Value center, draft_.emitter.emit(c.center));
  Center out{draft_.emitter.take(depth), center.text, center.type};
  draft_.emitter.pop();
  return out;
}

Result<std::string> AccumulatorText::correction_text(const Corrected& c, const AccumulatorSet& from,
                                                     const AccumulatorSet& to) {
  Center own{"", center_name(c), {}};
  if (&from != &thread_) {
    SOLSTICE_TRY(own, center_of(c, from));
  }
  SOLSTICE_TRY(const Center center, center_of(c, to));
  return own.statements + center.statements + corrected_text(c, from, own.text, center.text);
}

std::string AccumulatorText::correction_text(const Corrected& c, const std::string& center) const {
  return corrected_text(c, thread_, center_name(c), center);
}

std::string AccumulatorText::corrected_text(const Corrected& c, const AccumulatorSet& holder, const std::string& own,
                                            const std::string& center) const {
  const std::string value = holder.of(number_of(c));
  if (c.correction == Correction::kExponential)
    return fmt::format("{} *= reduction::factor_of({}, {});\n", value, own, center);
  const auto sum = std::find(reductions_.first.begin(), reductions_.first.end(), c.sum) - reductions_.first.begin();
  return fmt::format("{0} = reduction::corrected_squares({0}, {1}, {2}, {3}, {4});\n", value, own, center,
                     holder.of(static_cast<size_t>(sum)), holder.elements);
}

void AccumulatorText::see(const AccumulatorSet& holder, size_t count, int depth) {
  for (size_t i = 0; i < count; ++i)
    seen_[order_[i].node.get()] = draft_.emitter.variable(total(i).value_type, value_of(i, holder), depth);
}

std::string AccumulatorText::value_of(size_t number, const AccumulatorSet& holder) const {
  const Reduction& r = total(number);
  const std::string found = holder.of(number);
  if (!holder.whole_row && r.op == "Max") return fmt::format("reduction::center_of({})", found);
  if (holder.whole_row || r.op != "Sum") return r.value_of(found);
  return r.value_of(fmt::format("reduction::as_of_row({}, reduction::share_of({}) * {}.0)", found, holder.elements,
                                draft_.shape.column_count));
}

Result<std::optional<Value>> AccumulatorText::seen(const ExprRef& node) const {
  if (const auto center = around_.find(node.get()); center != around_.end()) return std::optional(center->second);
  if (node->op != ir::Op::kReduce) return std::optional<Value>();
  const auto found = seen_.find(node.get());
  if (found == seen_.end()) return fail(Code::internal, "a reduction is used before it is found");
  return std::optional(found->second);
}

}  // namespace solstice::families::rows
