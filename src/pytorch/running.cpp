// Prefixes, and additions at places that are data.
#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/reads.h"
#include "ir/domain.h"
#include "pytorch/reduction.h"

namespace solstice::pytorch {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::Reducer;
using ir::ValueKind;

bool depends_on(const ExprRef& e, int index) { return ir::indices_of(e).contains(index); }

}  // namespace

// sum[j where j <= i](x[.., j]) over the whole of i.
Result<std::optional<Value>> Reduction::running() {
  const std::optional<Value> none;
  if (!where_ || e_.binders.size() != 1 || where_->args.size() != 2) return none;
  const bool upwards = where_->op == Op::kLe, turned = where_->op == Op::kGe;
  if (!upwards && !turned) return none;
  const ExprRef &small = where_->args[upwards ? 0 : 1], &large = where_->args[upwards ? 1 : 0];
  const int bound = e_.binders[0];
  if (small->op != Op::kIndex || large->op != Op::kIndex || small->id != bound || large->id == bound) return none;
  const int end = large->id;
  const bool fits = !w_.is_step(end) && w_.extent(end) == w_.extent(bound) && !depends_on(e_.args[0], end);
  const char* const name = e_.reducer == Reducer::kSum    ? "cumsum"
                           : e_.reducer == Reducer::kProd ? "cumprod"
                           : e_.reducer == Reducer::kMax  ? "cummax"
                           : e_.reducer == Reducer::kMin  ? "cummin"
                                                          : nullptr;
  if (!fits || !name) return none;
  SOLSTICE_TRY(Value v, w_.write(e_.args[0]));
  v = w_.of_kind(v, e_.kind);
  v = w_.named(w_.expanded(v, w_.united(v.axes, {bound})));
  const auto dim = std::find(v.axes.begin(), v.axes.end(), bound) - v.axes.begin();
  v.text = fmt::format("{}.{}({})", v.at(kAtom), name, dim);
  if (std::string_view(name).starts_with("cumm")) v.text += ".values";
  v.level = kAtom;
  v.view = false;
  v.kind = e_.kind;
  // The last index is another one now, at another place.
  std::vector<int> axes = v.axes;
  std::replace(axes.begin(), axes.end(), bound, end);
  const std::vector<int> wanted = w_.united(axes, {});
  v.text += permuted(axes, wanted);
  v.axes = wanted;
  return std::optional(std::move(v));
}

// sum[j where i[j] == r](x[j, ..]) as an addition at places.
Result<std::optional<Value>> Reduction::scattered() {
  const std::optional<Value> none;
  if (!where_ || e_.reducer != Reducer::kSum || where_->op != Op::kEq) return none;
  for (const int side : {0, 1}) {
    const ExprRef &place = where_->args[static_cast<size_t>(side)], &at = where_->args[static_cast<size_t>(1 - side)];
    if (at->op != Op::kIndex || contains(e_.binders, at->id) || w_.is_step(at->id)) continue;
    if (!ir::reads_values(place) || depends_on(place, at->id) || depends_on(e_.args[0], at->id)) continue;
    SOLSTICE_TRY(Value index, w_.write(place));
    index = w_.of_kind(index, ValueKind::kInt);
    std::vector<int> binders = w_.united(e_.binders, {});
    if (index.host || index.axes != binders) return none;
    SOLSTICE_TRY(Value body, w_.write(e_.args[0]));
    body = w_.of_kind(body, e_.kind);
    const std::vector<int> rest = kept(body.axes);
    std::vector<int> axes = binders;
    axes.insert(axes.end(), rest.begin(), rest.end());
    body = w_.named(w_.expanded(body, w_.united(axes, {})));
    const int64_t rows = w_.extent(at->id);
    index = w_.named(index);
    // What lies outside is added to a row of its own.
    const std::string flat =
        fmt::format("torch.where(({0} >= 0) & ({0} < {1}), {0}, {1}).flatten()", index.at(kAtom), rows);
    std::vector<int64_t> shape = w_.extents_of(rest);
    shape.insert(shape.begin(), rows + 1);
    std::string terms = body.at(kAtom) + permuted(body.axes, axes);
    if (binders.size() > 1) terms += fmt::format(".flatten(0, {})", binders.size() - 1);
    Value out;
    out.kind = e_.kind;
    out.dtype = body.dtype;
    out.text = fmt::format("torch.zeros({}, dtype={}, device={}).index_add(0, {}, {})[:{}]", tuple_text(shape),
                           torch_name(body.dtype), w_.body_.device(), flat, terms, rows);
    std::vector<int> order = {at->id};
    order.insert(order.end(), rest.begin(), rest.end());
    const std::vector<int> wanted = w_.united(order, {});
    out.text += permuted(order, wanted);
    out.axes = wanted;
    return std::optional(std::move(out));
  }
  return none;
}

}  // namespace solstice::pytorch
