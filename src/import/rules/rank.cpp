// Sorting and ranking: the index of each rank, and a gather through it.
//   i[m, k] = argtop[j; k](x[m, j])
//   v[m, k] = x[m, i[m, k]]
#include "import/rules.h"
#include "import/rules/index.h"

namespace solstice::importer {
namespace {

struct Ranking {
  Value x;
  int axis = 0;
  bool descending = false;
  Axes axes;    // of the result: `rank` in place of the ranked axis
  TermRef row;  // elements along the axis, at `along`
  Axis along;
};

Result<Ranking> ranking_of(Call& call, const Axis& rank, bool descending) {
  Ranking out;
  out.descending = descending;
  SOLSTICE_TRY(out.x, call.tensor("self"));
  if (out.x.rank() == 0) return call.unsupported("the rank of a single number");
  SOLSTICE_TRY(out.axis, call.axis("dim", out.x.rank()));
  Axes loops;
  for (int i = 0; i < out.x.rank(); ++i) {
    loops.push_back(i == out.axis ? single(call, out.x.axis(i)) : call.loops().align(out.x.axis(i)));
    out.axes.push_back(i == out.axis ? rank : loops.back());
  }
  out.along = loops[static_cast<size_t>(out.axis)];
  out.row = as_stored(call, out.x, read_at(out.x, flat_all(loops, call.loops()), call.loops()));
  return out;
}

// The index of rank `rank`, and the value there.
Value indices_of(Call& call, const Ranking& r, const Index& rank) {
  if (r.along.digits.empty()) return {r.axes, integer(0), DType::kI64};  // of one element
  const TermRef chosen = ranked(r.descending ? "argtop" : "argbot", r.along.digits[0], r.row, rank);
  return call.draft().define(r.descending ? "top" : "order", r.axes, chosen, DType::kI64);
}

Value values_of(Call& call, const Ranking& r, const Value& indices) {
  Indices at = flat_all(r.axes, call.loops());
  const TermRef position = read_at(indices, at, call.loops());
  at[static_cast<size_t>(r.axis)] = r.along.digits.empty() ? Index(0) : index_of_read(position, r.along.extent());
  return call.draft().define(call.wish(), r.axes, read_at(r.x, at, call.loops()), r.x.dtype);
}

// The loops over all ranks of an axis.
Result<Axis> all_ranks(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  if (x.rank() == 0) return call.unsupported("the rank of a single number");
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  return single(call, x.axis(axis));
}

// Values and indices of the first elements in order, as many as `rank` has.
Status yield_ranked(Call& call, const Axis& rank, bool descending) {
  SOLSTICE_TRY(const Ranking r, ranking_of(call, rank, descending));
  const Value indices = indices_of(call, r, call.loops().flat(rank));
  SOLSTICE_CHECK(call.yield(0, values_of(call, r, indices)));
  return call.yield(1, indices);
}

Status sort(Call& call) {
  SOLSTICE_TRY(const bool descending, call.flag("descending"));
  SOLSTICE_TRY(const Axis rank, all_ranks(call));
  return yield_ranked(call, rank, descending);
}

Status argsort(Call& call) {
  SOLSTICE_TRY(const bool descending, call.flag("descending"));
  SOLSTICE_TRY(const Axis rank, all_ranks(call));
  SOLSTICE_TRY(const Ranking r, ranking_of(call, rank, descending));
  return call.yield(indices_of(call, r, call.loops().flat(rank)));
}

Status topk(Call& call) {
  SOLSTICE_TRY(const int64_t k, call.integer("k"));
  SOLSTICE_TRY(const bool largest, call.flag("largest"));
  SOLSTICE_TRY(const bool sorted, call.flag("sorted"));
  if (!sorted && k > 1) call.note("the results are in order here; PyTorch leaves open in which order they come");
  return yield_ranked(call, call.loops().fresh_axis(k), largest);
}

// The k-th smallest, k from 1.
Status kth_value(Call& call) {
  SOLSTICE_TRY(const int64_t k, call.integer("k"));
  SOLSTICE_TRY(const bool keepdim, call.flag("keepdim"));
  SOLSTICE_TRY(const Ranking r, ranking_of(call, {}, false));
  Value indices = indices_of(call, r, Index(k - 1));
  Value values = values_of(call, r, indices);
  for (Value* result : {&indices, &values}) {
    if (!keepdim) result->axes.erase_at(r.axis);
  }
  SOLSTICE_CHECK(call.yield(0, std::move(values)));
  return call.yield(1, std::move(indices));
}

}  // namespace

const RuleGroup kRankRules = {
    "rank",
    {
        {"aten.sort.default", sort},
        {"aten.sort.stable", sort},
        {"aten.argsort.default", argsort},
        {"aten.argsort.stable", argsort},
        {"aten.topk.default", topk},
        {"aten.kthvalue.default", kth_value},
    },
};

}  // namespace solstice::importer
