// Bags of embeddings: each bag is a stretch of the list of indices.
//   y[b,d] = sum[t where start[b] <= t and t < start[b+1]](w[i[t],d])
#include "import/rules.h"
#include "import/rules/index.h"

namespace solstice::importer {
namespace {

enum class BagMode { kSum, kMean, kMax };

struct Bags {
  Axes axes;                // bag, feature
  std::vector<Loop> items;  // the list of indices
  TermRef member;           // an item lies in the bag
  TermRef count;            // of its items
  TermRef element;          // the item's feature
};

// Where a bag ends: where the next begins, the last one with the list.
TermRef end_of(Call& call, const Value& starts, const Index& bag, const Axis& items, bool has_last) {
  if (has_last) return read_at(starts, {bag + Index(1)}, call.loops());
  const Value beyond = call.draft().paddable(starts, {0});
  return call.draft().read_padded(beyond, {bag + Index(1)}, size_value(call.loops().size(items)));
}

Result<Bags> bags_of(Call& call) {
  SOLSTICE_TRY(const Value weight, call.tensor("weight"));
  SOLSTICE_TRY(const Value indices, call.tensor("indices"));
  SOLSTICE_TRY(const Value starts, call.tensor("offsets"));
  SOLSTICE_TRY(const std::optional<Value> factors, call.maybe_tensor("per_sample_weights"));
  SOLSTICE_TRY(const bool has_last, call.flag("include_last_offset"));
  SOLSTICE_TRY(const int64_t padding, call.integer("padding_idx"));
  if (indices.rank() != 1 || starts.rank() != 1) return call.unsupported("bags that are no stretches of one list");
  const Axis bag = has_last ? call.loops().fresh_axis(call.out_extent(0)) : call.loops().align(starts.axis(0));
  const Axis feature = call.loops().align(weight.axis(1));
  std::vector<const Axis*> lists = {&indices.axis(0)};
  if (factors) lists.push_back(&factors->axis(0));
  const Axis items = call.loops().align(lists);
  const Index b = call.loops().flat(bag), t = call.loops().flat(items);
  const TermRef row = read_at(indices, {t}, call.loops());
  Bags out{{bag, feature}, items.digits, nullptr, nullptr, nullptr};
  const TermRef start = read_at(starts, {b}, call.loops()), end = end_of(call, starts, b, items, has_last);
  out.member = binary("and", binary("<=", start, index_value(t)), binary("<", index_value(t), end));
  out.count = end - start;
  if (padding >= 0) {
    out.member = also(out.member, binary("!=", row, integer(padding)));
    out.count = reduce("sum", out.items, integer(1), out.member);
  }
  out.element = read_at(weight, {index_at(call, row, weight.axis(0)), call.loops().flat(feature)}, call.loops());
  if (factors) out.element = out.element * read_at(*factors, {t}, call.loops());
  return out;
}

// A bag without items is 0.
TermRef reduced(const Bags& bags, BagMode mode) {
  const auto over = [&](const char* reducer, const TermRef& x) { return reduce(reducer, bags.items, x, bags.member); };
  if (mode == BagMode::kSum) return over("sum", bags.element);
  if (mode == BagMode::kMean) return over("sum", bags.element) / apply("max", {bags.count, integer(1)});
  return importer::select(binary("==", bags.count, integer(0)), integer(0), over("max", bags.element));
}

Status embedding_bag(Call& call) {
  SOLSTICE_TRY(const int64_t mode, call.integer("mode"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  for (size_t i = 1; i < 4; ++i) {
    if (call.out_used(i)) return call.unsupported("the sizes of the bags, or where their maxima lie, as results");
  }
  if (mode < 0 || mode > 2) return call.unsupported("another way to reduce a bag");
  SOLSTICE_TRY(const Bags bags, bags_of(call));
  return call.yield(call.draft().define(call.wish(), bags.axes, reduced(bags, static_cast<BagMode>(mode)), dtype));
}

}  // namespace

const RuleGroup kBagRules = {
    "bag",
    {
        {"aten._embedding_bag.default", embedding_bag},
        {"aten._embedding_bag_forward_only.default", embedding_bag},
    },
};

}  // namespace solstice::importer
