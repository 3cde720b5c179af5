// E001: every read without `else` and every write is in range.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/binder.h"
#include "ir/to_tree.h"
#include "lang/print.h"

namespace solstice::ir {

Integers Binder::integers(const Draft& d, const std::vector<Fact>& facts) const {
  Integers out(d.equation.indices, [this](int tensor) { return states_[static_cast<size_t>(tensor)].values; });
  for (const Fact& f : facts) out.assume(f);
  return out;
}

void Binder::check_read(Draft& d, const SourceRead& read) {
  Integers known = integers(d, read.facts);
  for (size_t i = 0; i < read.indices.size(); ++i) {
    const int64_t extent = read.rank_binder >= 0 ? d.equation.indices[static_cast<size_t>(read.rank_binder)].extent
                                                 : extent_of(read.symbol, i);
    if (extent < 0) continue;
    const Linear form = known.linear(read.indices[i]);
    Proof low = known.prove_at_least(form, 0);
    Proof high = known.prove_at_most(form, extent - 1);
    const auto bad = [](Proof p) { return p == Proof::kRefuted || p == Proof::kUnknown; };
    if (!bad(low) && !bad(high)) continue;
    const ValueRange range = known.range(read.indices[i]);
    const std::string text = lang::print_tight(to_tree(program_, d.equation, read.indices[i]));
    const bool unknown = low == Proof::kUnknown || high == Proof::kUnknown;
    std::string message =
        !range.bounded() ? fmt::format("nothing bounds index `{}` in dimension {} of `{}`, which has 0..{}", text, i,
                                       read.rank_binder >= 0 ? "the ranking" : read.name, extent - 1)
        : read.rank_binder >= 0
            ? fmt::format("rank `{}` reaches {}..{} but only 0..{} are ranked", text, range.low, range.high, extent - 1)
            : fmt::format("index `{}` {} {}..{} in dimension {} of `{}`, which has 0..{}", text,
                          unknown ? "may reach" : "reaches", range.low, range.high, i, read.name, extent - 1);
    error("E001", read.span, std::move(message),
          "padding: `... else 0]` (`else -inf` under max); to read only a part, give the index a smaller "
          "range; or correct the offset");
    d.failed = true;
    return;
  }
}

void Binder::check_write(Draft& d) {
  const Tensor& t = program_.target_of(d.equation);
  Integers known = integers(d, {});
  for (size_t i = 0; i < d.equation.lhs.size(); ++i) {
    const ValueRange range = known.interval(known.linear(d.equation.lhs[i]));
    if (t.shape[i] < 0 || (range.low >= 0 && range.high < t.shape[i])) continue;
    error("E001", d.equation.span,
          fmt::format("`{}` writes {}..{} in dimension {} of `{}`, which has 0..{}",
                      lang::print_tight(to_tree(program_, d.equation, d.equation.lhs[i])), range.low, range.high, i,
                      t.name, t.shape[i] - 1),
          "the index takes its extent from what it reads; to write only a part, give it a range: `... for "
          "n<4`");
    d.failed = true;
    return;
  }
}

void Binder::check_ranges(Draft& d) {
  if (d.failed) return;
  for (const SourceRead& read : d.checks) {
    if (!d.failed) check_read(d, read);
  }
  if (!d.failed && d.equation.target >= 0) check_write(d);
  if (d.failed && d.equation.target >= 0) states_[static_cast<size_t>(d.equation.target)].poisoned = true;
}

// Integers whose range the equations fix (ranks, positions, index arithmetic) may index without a run-time
// check.
void Binder::note_values(const Draft& d) {
  const bool fresh = d.equation.target >= 0 && noted_.insert(d.equation.target).second;
  if (d.failed || d.equation.target < 0 || d.equation.rhs->kind == ValueKind::kReal) return;
  TensorState& state = states_[static_cast<size_t>(d.equation.target)];
  Integers known = integers(d, {});
  const ValueRange range = known.range(d.equation.rhs);
  if (!range.bounded()) {
    state.values.reset();
  } else if (fresh && state.writers.empty()) {
    state.values = range;
  } else if (state.values) {
    state.values = ValueRange{std::min(range.low, state.values->low), std::max(range.high, state.values->high)};
  }
}

}  // namespace solstice::ir
