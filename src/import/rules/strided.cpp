// Parts of a tensor that lie at even distances in its memory, read and written: as_strided of row-major tensors,
// diagonals.
//   d[i] = x[i, i];  y[m,n] = select(m == n, d[m], x[m,n])
#include <algorithm>
#include <set>

#include "import/graph/damage.h"
#include "import/rules.h"

namespace solstice::importer {
namespace {

// Positions of the part's elements: one in each axis of the whole, over the part's loops.
struct Part {
  Axes axes;
  Indices at;
};

// Each stride split into steps along the axes. False where a position would carry over into the next row.
bool split_strides(const Value& x, const Axes& axes, const Integers& strides, int64_t offset, const Loops& loops,
                   Indices& at) {
  Integers room, weight(x.axes.size(), 1);
  for (const Axis& axis : x.axes) room.push_back(axis.extent());
  for (size_t a = weight.size(); a-- > 1;) weight[a - 1] = product_of(weight[a], room[a]);
  at.assign(x.axes.size(), Index(0));
  const auto advance = [&](int64_t distance, int64_t steps, const Index* loop) {
    for (size_t a = 0; a < weight.size(); ++a) {
      const int64_t each = distance / weight[a];
      distance %= weight[a];
      if (each == 0) continue;
      at[a] = at[a] + (loop ? scale(*loop, Size(each)) : Index(each));
      room[a] -= product_of(each, steps);
    }
    return distance == 0;
  };
  if (!advance(offset, 1, nullptr)) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Index loop = loops.flat(axes[i]);
    if (!advance(strides[i], axes[i].extent() - 1, &loop)) return false;
  }
  return std::all_of(room.begin(), room.end(), [](int64_t left) { return left >= 1; });
}

Result<Part> strided_part(Call& call, const Value& x) {
  SOLSTICE_TRY(const Integers shape, call.integers("size"));
  SOLSTICE_TRY(const Integers strides, call.integers("stride", shape.size()));
  int64_t offset = 0;
  if (!call.is_none("storage_offset")) {
    SOLSTICE_TRY(offset, call.integer("storage_offset"));
  }
  if (!call.is_row_major("self")) return call.unsupported("a tensor that is not row-major, or a part of one");
  Part out;
  for (const int64_t extent : shape) {
    if (extent < 1) return call.unsupported("a part without elements");
    out.axes.push_back(call.loops().fresh_axis(extent));
  }
  const bool forward = offset >= 0 && std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s >= 0; });
  if (!forward || !split_strides(x, out.axes, strides, offset, call.loops(), out.at)) {
    return call.unsupported("strides that are no steps along the axes");
  }
  return out;
}

Status as_strided(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(Part part, strided_part(call, x));
  TermRef element = read_at(x, part.at, call.loops());
  return call.yield({std::move(part.axes), std::move(element), x.dtype});
}

// The loop that an axis of the whole steps along by one, and where it starts; null if it is no such axis.
const Loop* single_step(const Index& at) {
  if (at.terms.size() != 1 || !at.terms[0].coefficient.is_one()) return nullptr;
  return at.terms[0].atom->kind == AtomKind::kLoop ? &at.terms[0].atom->loop : nullptr;
}

// `src` in place of the part. Each loop of the part must be a step along some axis, which gives its position.
Status replace_part(Call& call, const Value& x, const Part& part) {
  SOLSTICE_TRY(const Value src, call.tensor("src"));
  Axes axes;
  for (const Axis& a : x.axes) axes.push_back(call.loops().align(a));
  const Indices whole = flat_all(axes, call.loops());
  Substitution position;
  std::set<size_t> solved;  // axes that gave a position
  TermRef inside;
  const auto require = [&](const TermRef& condition) { inside = also(inside, condition); };
  for (size_t a = 0; a < whole.size(); ++a) {
    const Loop* loop = single_step(part.at.at(a));
    if (!loop || position.count(loop->id)) continue;
    const Index found = whole[a] + scale(Index(part.at[a].offset), Size(-1));
    position[loop->id] = found;
    solved.insert(a);
    if (range_of(found).low < 0) require(binary(">=", index_value(found), integer(0)));
    if (range_of(found).high >= loop->extent)
      require(binary("<", index_value(found), size_value(call.dims().size(loop->dim))));
  }
  Indices at;
  for (const Axis& a : part.axes) {
    if (!a.digits.empty() && !position.count(a.digits[0].id)) return call.unsupported("steps of several elements");
    at.push_back(a.digits.empty() ? Index(0) : position[a.digits[0].id]);
  }
  for (size_t a = 0; a < whole.size(); ++a) {
    if (solved.count(a)) continue;
    require(binary("==", index_value(whole[a]), index_value(substitute(part.at[a], position, call.dims()))));
  }
  const TermRef before = read_at(x, whole, call.loops());
  const TermRef after = read_at(src, at, call.loops());
  return call.yield(
      call.draft().define(call.wish(), axes, inside ? importer::select(inside, after, before) : after, x.dtype));
}

Status as_strided_scatter(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Part part, strided_part(call, x));
  return replace_part(call, x, part);
}

Status diagonal_scatter(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value src, call.tensor("src"));
  SOLSTICE_TRY(const int64_t offset, call.integer("offset"));
  SOLSTICE_TRY(const int a, call.axis("dim1", x.rank()));
  SOLSTICE_TRY(const int b, call.axis("dim2", x.rank()));
  if (a == b || src.rank() != x.rank() - 1) damaged("a diagonal of one axis");
  Part part;
  const Axis along = call.loops().fresh_axis(src.extent(src.rank() - 1));
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t start = i == a ? std::max<int64_t>(-offset, 0) : std::max<int64_t>(offset, 0);
    if (i == a || i == b) {
      part.at.push_back(call.loops().flat(along) + Index(start));
      continue;
    }
    part.axes.push_back(call.loops().fresh_axis(x.extent(i)));
    part.at.push_back(call.loops().flat(part.axes.back()));
  }
  part.axes.push_back(along);
  return replace_part(call, x, part);
}

}  // namespace

const RuleGroup kStridedRules = {
    "strided",
    {
        {"aten.as_strided.default", as_strided},
        {"aten.as_strided_scatter.default", as_strided_scatter},
        {"aten.diagonal_scatter.default", diagonal_scatter},
    },
};

}  // namespace solstice::importer
