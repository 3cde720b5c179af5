// Sums of products.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/domain.h"
#include "pytorch/reduction.h"

namespace solstice::pytorch {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::Reducer;
using ir::ValueKind;

void flatten(const ExprRef& e, Op op, std::vector<ExprRef>& out) {
  if (e->op == op) {
    for (const ExprRef& arg : e->args) flatten(arg, op, out);
  } else {
    out.push_back(e);
  }
}

}  // namespace

Result<std::vector<Value>> Reduction::factors_of(const ExprRef& body) {
  std::vector<ExprRef> parts;
  flatten(body, Op::kMul, parts);
  std::vector<Value> out;
  std::optional<DType> narrow;
  bool one_format = w_.body_.keeps_narrow();
  for (const ExprRef& part : parts) {
    SOLSTICE_TRY(Value v, w_.write_raw(part));
    const bool is_narrow = !v.host && v.kind == ValueKind::kReal && size_of(v.dtype) == 2;
    one_format = one_format && is_narrow && (!narrow || *narrow == v.dtype);
    narrow = v.dtype;
    out.push_back(w_.named(std::move(v)));
  }
  if (one_format && !where_) return out;
  for (Value& v : out) v = w_.named(w_.of_kind(v, ValueKind::kReal));
  return out;
}

// A condition is a factor of 0 and 1, within one that has its indices where there is such.
Status Reduction::mask_factors(std::vector<Value>& factors) {
  if (!where_) return success();
  std::vector<ExprRef> parts;
  flatten(where_, Op::kAnd, parts);
  for (const ExprRef& part : parts) {
    SOLSTICE_TRY(Value c, w_.write(part));
    c = w_.named(w_.tensor_of(w_.of_kind(c, ValueKind::kBool)));
    const auto holds = [&](const Value& f) {
      return !f.host && std::all_of(c.axes.begin(), c.axes.end(), [&](int id) { return contains(f.axes, id); });
    };
    const auto found = std::find_if(factors.begin(), factors.end(), holds);
    if (found != factors.end())
      *found = w_.named(w_.masked(c, *found, "0"));
    else
      factors.push_back(w_.named(w_.of_kind(c, ValueKind::kReal)));
  }
  return success();
}

Value Reduction::einsum(const std::vector<Value>& factors, const std::vector<int>& result) {
  std::vector<int> letters;
  std::string terms, operands;
  const auto word = [&](const std::vector<int>& axes) {
    std::string out;
    for (const int id : axes) {
      if (!contains(letters, id)) letters.push_back(id);
      const auto at = std::find(letters.begin(), letters.end(), id) - letters.begin();
      out += static_cast<char>(at < 26 ? 'a' + at : 'A' + (at - 26));
    }
    return out;
  };
  for (const Value& f : factors) {
    terms += (terms.empty() ? "" : ",") + word(f.axes);
    operands += ", " + f.text;
  }
  Value out;
  out.dtype = factors[0].dtype;
  for (const Value& f : factors) out.dtype = f.dtype == DType::kF64 ? f.dtype : out.dtype;
  out.axes = result;
  out.text = fmt::format("torch.einsum(\"{}->{}\"{})", terms, word(result), operands);
  return out;
}

// Factors, and conditions, that the sum couples run over different indices.
bool Reduction::runs_apart() const {
  std::vector<ExprRef> parts, conditions;
  flatten(e_.args[0], Op::kMul, parts);
  if (where_) flatten(where_, Op::kAnd, conditions);
  std::vector<ir::IndexSet> sets;
  const auto add = [&](const ExprRef& part, bool condition) {
    const ir::IndexSet own = ir::indices_of(part);
    if (std::none_of(e_.binders.begin(), e_.binders.end(), [&](int id) { return own.contains(id); })) return;
    const bool known = std::any_of(sets.begin(), sets.end(), [&](const ir::IndexSet& set) {
      return condition ? std::includes(set.begin(), set.end(), own.begin(), own.end()) : set == own;
    });
    if (!known) sets.push_back(own);
  };
  for (const ExprRef& part : parts) add(part, false);
  for (const ExprRef& part : conditions) add(part, true);
  return sets.size() > 1;
}

// Sums of products of factors that run over different indices.
Result<std::optional<Value>> Reduction::product() {
  const std::optional<Value> none;
  if (e_.reducer != Reducer::kSum || e_.kind != ValueKind::kReal) return none;
  if (!runs_apart()) return none;
  if (where_) ++w_.guards_;
  Result<std::vector<Value>> made = factors_of(e_.args[0]);
  if (where_) --w_.guards_;
  if (!made.ok()) return made.error();
  std::vector<Value> factors = std::move(*made), plain;
  SOLSTICE_CHECK(mask_factors(factors));
  std::vector<Value> outside;
  std::vector<int> all;
  for (Value& f : factors) {
    const bool bound = std::any_of(f.axes.begin(), f.axes.end(), [&](int id) { return contains(e_.binders, id); });
    if (!bound) {
      outside.push_back(f);
      continue;
    }
    all = w_.united(all, f.axes);
    const auto like = std::find_if(plain.begin(), plain.end(), [&](const Value& p) { return p.axes == f.axes; });
    if (like != plain.end())
      *like = w_.named(w_.joined(*like, "*", f, kProduct, ValueKind::kReal));
    else
      plain.push_back(f);
  }
  if (plain.size() < 2 || all.size() > 50) return none;
  int64_t missing = 1;
  for (const int id : e_.binders) missing *= contains(all, id) ? 1 : w_.extent(id);
  Value out = einsum(plain, kept(all));
  if (missing != 1) {
    Value times;
    times.host = true;
    times.text = real_text(static_cast<double>(missing));
    outside.push_back(times);
  }
  for (const Value& f : outside)
    out =
        w_.joined(w_.of_kind(out, ValueKind::kReal), "*", w_.of_kind(f, ValueKind::kReal), kProduct, ValueKind::kReal);
  return std::optional(std::move(out));
}

}  // namespace solstice::pytorch
