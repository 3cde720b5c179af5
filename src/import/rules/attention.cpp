// Scaled dot product attention.
//
// A mask is added to the scores, a boolean or a causal one as 0 and -inf, as PyTorch documents it: values that a query
// does not see are multiplied by 0, so that NaN stays NaN. (Some of its kernels skip keys beyond the diagonal instead.)
#include <cmath>

#include "import/rules.h"

namespace solstice::importer {
namespace {

struct Attention {
  Axes batch;
  Axis i, e, v;  // queries, features, features of the values
  Value q, k, value;
  std::optional<Value> mask;
  bool causal = false;
  DType dtype = DType::kF32;
  TermRef scale;

  Axis keys(Call& call) const {
    Axis out = call.loops().align({&k.axis(k.rank() - 2), &value.axis(value.rank() - 2)});
    for (Loop& loop : out.digits) loop.hint = "j";
    return out;
  }
};

Indices at(Call& call, const Value& value, const Axes& batch, const Axis& row, const Axis& column) {
  Indices out;
  for (int i = 0; i + 2 < value.rank(); ++i) {
    const size_t own = static_cast<size_t>(i) + batch.size() + 2 - static_cast<size_t>(value.rank());
    out.push_back(value.extent(i) == 1 ? Index(0) : call.loops().flat(batch[own]));
  }
  const int rank = value.rank();
  if (rank >= 2) out.push_back(value.extent(rank - 2) == 1 ? Index(0) : call.loops().flat(row));
  if (rank >= 1) out.push_back(value.extent(rank - 1) == 1 ? Index(0) : call.loops().flat(column));
  return out;
}

// Grouped queries: each head of keys and values serves as many neighbouring heads of queries.
Status share_heads(Call& call, const Value& q, Value& shared) {
  const int rank = q.rank();
  if (rank < 3 || shared.rank() != rank) return call.unsupported("grouped queries without an axis of heads");
  const int64_t heads = q.extent(rank - 3), own = shared.extent(rank - 3);
  if (own < 1 || heads % own != 0) return call.unsupported("heads of queries that are no multiple of those of keys");
  const Axis times = call.loops().fresh_axis(heads / own);
  std::vector<Loop>& digits = shared.axes.at(static_cast<size_t>(rank - 3)).digits;
  digits.insert(digits.end(), times.digits.begin(), times.digits.end());
  return success();
}

// The mask's own dims of queries and keys are those of the operands.
void join_mask(Call& call, const Attention& a) {
  const int rank = a.mask ? a.mask->rank() : 0;
  const auto join = [&](const Axis& own, const Axis& operand) {
    const bool plain = own.digits.size() == 1 && operand.digits.size() == 1;
    if (plain && own.extent() == operand.extent()) call.dims().unify(operand.digits[0].dim, own.digits[0].dim);
  };
  if (rank >= 1) join(a.mask->axis(rank - 1), a.k.axis(a.k.rank() - 2));
  if (rank >= 2) join(a.mask->axis(rank - 2), a.q.axis(a.q.rank() - 2));
}

Result<Attention> read_attention(Call& call) {
  Attention out;
  SOLSTICE_TRY(out.q, call.tensor("query"));
  SOLSTICE_TRY(out.k, call.tensor("key"));
  SOLSTICE_TRY(out.value, call.tensor("value"));
  SOLSTICE_TRY(out.mask, call.maybe_tensor("attn_mask"));
  SOLSTICE_TRY(out.causal, call.flag("is_causal"));
  SOLSTICE_TRY(const double dropout, call.number("dropout_p"));
  SOLSTICE_TRY(const bool grouped, call.flag("enable_gqa"));
  SOLSTICE_TRY(out.dtype, call.out_dtype());
  if (dropout != 0) return call.unsupported("dropout inside attention");
  if (grouped) {
    SOLSTICE_CHECK(share_heads(call, out.q, out.k));
    SOLSTICE_CHECK(share_heads(call, out.q, out.value));
  }
  const int rank = out.q.rank();
  if (rank != out.k.rank() || rank != out.value.rank() || rank < 2) return call.unsupported("operands of unequal rank");
  for (int i = 0; i + 2 < rank; ++i) {
    std::vector<const Axis*> axes;
    for (const Value* v : {&out.q, &out.k, &out.value}) {
      if (v->extent(i) != 1) axes.push_back(&v->axis(i));
    }
    out.batch.push_back(axes.empty() ? Axis{} : call.loops().align(axes));
  }
  out.i = call.loops().align(out.q.axis(rank - 2));
  for (Loop& loop : out.i.digits) loop.hint = "i";
  out.e = call.loops().align({&out.q.axis(rank - 1), &out.k.axis(rank - 1)});
  out.v = call.loops().align(out.value.axis(rank - 1));
  hint(call, out.q.axis(rank - 2), "T");
  hint(call, out.k.axis(rank - 2), "T");
  hint(call, out.q.axis(rank - 1), "D");
  join_mask(call, out);
  if (!call.is_none("scale")) {
    SOLSTICE_TRY(out.scale, call.scalar("scale", out.dtype));
  }
  return out;
}

// A query sees keys up to its own place, counted from the top left.
TermRef causal_mask(Call& call, const Attention& a, const Axis& j) {
  const TermRef seen = binary("<=", index_value(call.loops().flat(j)), index_value(call.loops().flat(a.i)));
  return select(seen, integer(0), negate(literal("inf")));
}

// s[.., i, j]: scaled and masked scores.
Value scores(Call& call, const Attention& a) {
  const Axis j = a.keys(call);
  TermRef s = reduce("sum", a.e.digits,
                     read_at(a.q, at(call, a.q, a.batch, a.i, a.e), call.loops()) *
                         read_at(a.k, at(call, a.k, a.batch, j, a.e), call.loops()));
  s = a.scale ? s * a.scale : s / apply("sqrt", {size_value(call.loops().size(a.e))});
  if (a.mask) {
    const TermRef mask = read_at(*a.mask, at(call, *a.mask, a.batch, a.i, j), call.loops());
    s = s + (a.mask->dtype == DType::kBool ? select(mask, integer(0), negate(literal("inf"))) : mask);
  }
  if (a.causal) s = s + causal_mask(call, a, j);
  Axes axes = a.batch;
  axes.push_back(a.i);
  axes.push_back(j);
  return call.draft().define("sc", axes, s, a.dtype);
}

Status attention(Call& call) {
  SOLSTICE_TRY(const Attention a, read_attention(call));
  const Value s = scores(call, a);
  Axes rows = a.batch;
  rows.push_back(a.i);
  const auto at_key = [&](const Value& value, const Axis& j) {
    Indices position = flat_all(rows, call.loops());
    position.push_back(call.loops().flat(j));
    return read_at(value, position, call.loops());
  };
  const auto values = [&](const Value& weights, const Axis& j) {
    return at_key(weights, j) * read_at(a.value, at(call, a.value, a.batch, j, a.v), call.loops());
  };
  const Axis j0 = a.keys(call), j1 = a.keys(call), j2 = a.keys(call), j3 = a.keys(call);
  const Value top = call.draft().define("mx", rows, reduce("max", j0.digits, at_key(s, j0)), a.dtype);
  Axes square = rows;
  square.push_back(j1);
  const TermRef e = apply("exp", {at_key(s, j1) - top.term});
  const Value p = call.draft().define("ex", square, e, a.dtype);
  TermRef weight = at_key(p, j1) / reduce("sum", j3.digits, at_key(p, j3));
  // A row that sees no key has -inf for its maximum: its weights are 0, not NaN.
  if (a.mask) weight = select(binary("==", top.term, negate(literal("inf"))), integer(0), weight);
  const Value weights = call.draft().define("pr", square, weight, a.dtype);
  const TermRef o = reduce("sum", j2.digits, values(weights, j2));
  Axes axes = rows;
  axes.push_back(a.v);
  return call.yield(call.draft().define(call.wish("attn"), axes, o, a.dtype));
}

}  // namespace

const RuleGroup kAttentionRules = {"attention", {{"aten.scaled_dot_product_attention.default", attention}}};

}  // namespace solstice::importer
