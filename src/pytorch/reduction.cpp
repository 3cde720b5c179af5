#include "pytorch/reduction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pytorch/parts.h"

namespace solstice::pytorch {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::Reducer;
using ir::ValueKind;

}  // namespace

Reduction::Reduction(Writer& writer, const ir::Expr& e) : w_(writer), e_(e) {
  for (const int id : e.binders) w_.enter(id);
  if (e.op == Op::kReduce && e.args.size() > 1) where_ = e.args[1];
}

Status Reduction::check_size(const std::vector<int>& axes) const {
  double elements = 1;
  for (const int64_t extent : w_.extents_of(axes)) elements *= static_cast<double>(extent);
  if (elements <= static_cast<double>(kMostElements)) return success();
  return w_.refusal(fmt::format("its terms are {:.3g} elements at once", elements));
}

std::vector<int> Reduction::kept(const std::vector<int>& axes) const {
  std::vector<int> out;
  for (const int id : axes) {
    if (!contains(e_.binders, id)) out.push_back(id);
  }
  return out;
}

std::string Reduction::dims_of(const Value& v) const {
  std::vector<size_t> dims;
  for (size_t d = 0; d < v.axes.size(); ++d) {
    if (contains(e_.binders, v.axes[d])) dims.push_back(d);
  }
  return dims.size() == 1 ? std::to_string(dims[0]) : fmt::format("({})", fmt::join(dims, ", "));
}

Value Reduction::reduced(const Value& v, const std::string& method, const std::string& more) {
  Value out = v;
  out.text = fmt::format("{}.{}({}{})", v.at(kAtom), method, dims_of(v), more);
  out.axes = kept(v.axes);
  out.level = kAtom;
  out.view = false;
  out.kind = e_.kind;
  return out;
}

std::string Reduction::identity() const {
  switch (e_.reducer) {
    case Reducer::kProd:
      return "1";
    case Reducer::kAll:
      return "True";
    case Reducer::kAny:
      return "False";
    case Reducer::kMax:
    case Reducer::kArgMax:
    case Reducer::kLogSumExp:
      return e_.args[0]->kind == ValueKind::kReal ? "-float(\"inf\")" : "torch.iinfo(torch.int64).min";
    case Reducer::kMin:
    case Reducer::kArgMin:
      return e_.args[0]->kind == ValueKind::kReal ? "float(\"inf\")" : "torch.iinfo(torch.int64).max";
    default:
      return "0";
  }
}

Result<Value> Reduction::condition() {
  SOLSTICE_TRY(const Value c, w_.write(where_));
  return w_.tensor_of(w_.of_kind(c, ValueKind::kBool));
}

Value Reduction::count(const Value& condition, const std::vector<int>& axes) {
  Value all = w_.named(w_.expanded(condition, w_.united(axes, condition.axes)));
  Value out = reduced(all, "sum");
  out.kind = ValueKind::kInt;
  out.dtype = DType::kI64;
  return out;
}

Value Reduction::mean(const Value& v, const std::optional<Value>& condition) {
  if (!condition) return reduced(v, "mean");
  const Value sum = reduced(w_.named(w_.masked(*condition, v, "0")), "sum");
  return w_.joined(sum, "/", count(*condition, v.axes), kProduct, ValueKind::kReal);
}

// All terms at once.
Result<Value> Reduction::whole() {
  std::optional<Value> condition;
  if (where_) {
    SOLSTICE_TRY(condition, this->condition());
    condition = w_.named(*condition);
    ++w_.guards_;
  }
  Result<Value> body = w_.write(e_.args[0]);
  if (where_) --w_.guards_;
  if (!body.ok()) return body;
  const bool averages =
      e_.reducer == Reducer::kMean || e_.reducer == Reducer::kVar || e_.reducer == Reducer::kLogSumExp;
  Value v = w_.named(averages ? w_.of_kind(*body, ValueKind::kReal) : w_.of_kind(*body, e_.args[0]->kind));
  if (e_.reducer == Reducer::kSum || e_.reducer == Reducer::kProd) v = w_.of_kind(v, e_.kind);
  std::vector<int> axes = w_.united(v.axes, e_.binders);
  if (condition) axes = w_.united(axes, condition->axes);
  if (!v.view || condition) SOLSTICE_CHECK(check_size(axes));
  v = w_.named(w_.expanded(v, axes));
  if (e_.reducer == Reducer::kMean) return mean(v, condition);
  if (e_.reducer == Reducer::kVar) {
    if (!condition) return reduced(v, "var", ", correction=0");
    Value center = w_.named(mean(v, condition));
    Value off = w_.joined(v, "-", center, kSum, ValueKind::kReal);
    off.text = fmt::format("({}) ** 2", off.text);
    off.level = kPower;
    return mean(w_.named(off), condition);
  }
  if (condition) v = w_.named(w_.masked(*condition, v, identity()));
  switch (e_.reducer) {
    case Reducer::kSum:
      return reduced(v, "sum");
    case Reducer::kMax:
      return reduced(v, "amax");
    case Reducer::kMin:
      return reduced(v, "amin");
    case Reducer::kLogSumExp:
      return reduced(v, "logsumexp");
    case Reducer::kArgMax:
    case Reducer::kArgMin: {
      Value out = reduced(v, e_.reducer == Reducer::kArgMax ? "argmax" : "argmin");
      out.dtype = DType::kI64;
      return out;
    }
    default:
      break;
  }
  // One dimension after another, the last first.
  const char* const method = e_.reducer == Reducer::kProd ? "prod" : e_.reducer == Reducer::kAny ? "any" : "all";
  for (size_t d = v.axes.size(); d-- > 0;) {
    if (!contains(e_.binders, v.axes[d])) continue;
    v.text = fmt::format("{}.{}({})", v.at(kAtom), method, d);
    v.level = kAtom;
    v.axes.erase(v.axes.begin() + static_cast<std::ptrdiff_t>(d));
  }
  v.kind = e_.kind;
  v.view = false;
  return v;
}

Result<Value> Reduction::write() {
  for (const auto way : {&Reduction::running, &Reduction::scattered, &Reduction::convolution, &Reduction::product}) {
    SOLSTICE_TRY(std::optional<Value> made, (this->*way)());
    if (made) return std::move(*made);
  }
  return whole();
}

// The index of a rank, by a stable sort.
Result<Value> Reduction::rank() {
  const int bound = e_.binders[0];
  SOLSTICE_TRY(Value v, w_.write(e_.args[0]));
  v = w_.of_kind(v, e_.args[0]->kind);
  v = w_.named(w_.expanded(v, w_.united(v.axes, {bound})));
  SOLSTICE_CHECK(check_size(v.axes));
  const auto dim = std::find(v.axes.begin(), v.axes.end(), bound) - v.axes.begin();
  Value sorted = v;
  sorted.kind = ValueKind::kInt;
  sorted.dtype = DType::kI64;
  sorted.view = false;
  sorted.level = kAtom;
  sorted.text = fmt::format("torch.sort({}, dim={}, descending={}, stable=True).indices", v.text, dim,
                            e_.reducer == Reducer::kArgTop ? "True" : "False");
  sorted.text = w_.body_.temporary(sorted.text);
  SOLSTICE_TRY(Value place, w_.write(e_.args[1]));
  place = w_.of_kind(place, ValueKind::kInt);
  std::vector<int> axes = kept(v.axes);
  if (place.host) {
    sorted.text = fmt::format("{}.select({}, {})", sorted.text, dim, place.text);
    sorted.axes = axes;
    return sorted;
  }
  // Along the last dimension, for every element of the place.
  axes.push_back(bound);
  if (v.axes != axes) sorted.text += fmt::format(".movedim({}, -1)", dim);
  sorted.axes = axes;
  const std::vector<int> result = w_.united(kept(axes), place.axes);
  std::vector<int> wide = result;
  wide.push_back(bound);
  const auto widened = [&](Value x, std::vector<int> own) {
    x.axes = std::move(own);
    std::vector<std::string> places;
    for (const int id : wide) places.emplace_back(contains(x.axes, id) ? ":" : "None");
    return fmt::format("{}[{}]", x.at(kAtom), fmt::join(places, ", "));
  };
  Value out = sorted;
  out.text = fmt::format("torch.take_along_dim({}, {}, -1).squeeze(-1)", widened(sorted, axes),
                         widened(w_.named(place), place.axes));
  out.axes = result;
  return out;
}

Result<Value> write_reduction(Writer& writer, const ir::Expr& reduction) {
  return Reduction(writer, reduction).write();
}

Result<Value> write_rank(Writer& writer, const ir::Expr& rank) { return Reduction(writer, rank).rank(); }

}  // namespace solstice::pytorch
