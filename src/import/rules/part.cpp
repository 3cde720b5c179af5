// Parts of a tensor, and its elements in another order along an axis: index maps that cost no equation.
#include <algorithm>
#include <map>

#include "import/graph/damage.h"
#include "import/rules.h"

namespace solstice::importer {
namespace {

// The part of an axis that starts at `start` (elements), of the extent of `part`.
Value cut(Call& call, const Value& x, int axis, const Axis& part, const Index& position) {
  Value out = x;
  Substitution old;
  call.loops().place(x.axis(axis), position, old);
  out.term = substitute(x.term, old, call.dims());
  if (x.imaginary) out.imaginary = substitute(x.imaginary, old, call.dims());
  out.axes[static_cast<size_t>(axis)] = part;
  return out;
}

Status select_index(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t index, call.integer("index"));
  const Index position = index < 0 ? Index(call.loops().size(x.axis(axis)) + Size(index)) : Index(index);
  Value out = cut(call, x, axis, {}, position);
  out.axes.erase_at(axis);
  return call.yield(std::move(out));
}

// One end of a slice: a position from the front, or one counted from the end.
struct End {
  int64_t at = 0;  // within the axis
  bool from_end = false;

  Size size(const Size& whole) const { return from_end ? whole - Size(whole.value() - at) : Size(at); }
};

// Python's rules: below 0 counts from the end, beyond the end is the end.
Result<End> read_end(Call& call, const char* name, int64_t extent, End otherwise) {
  if (call.is_none(name)) return otherwise;
  SOLSTICE_TRY(const int64_t given, call.position(name));
  const int64_t at = std::clamp<int64_t>(given < 0 ? given + extent : given, 0, extent);
  return End{at, given < 0 || given > extent};
}

// Ends that are written as numbers, or that the code computed from a size that the trace no longer knows, make a dim of
// its own, which is related to no other extent.
Axis slice_axis(Call& call, int64_t length, int64_t step, const Size& reach) {
  const Axis out = call.loops().fresh_axis(length);
  if (!out.digits.empty() && !reach.is_constant())
    call.dims().derive(out.digits[0].dim, {reach + Size(step - 1), step, 0});
  return out;
}

Status slice(Call& call) {
  SOLSTICE_TRY(Value x, call.any_number("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t step, call.count("step"));
  const int64_t extent = x.extent(axis);
  SOLSTICE_TRY(const End start, read_end(call, "start", extent, {0, false}));
  SOLSTICE_TRY(const End end, read_end(call, "end", extent, {extent, true}));
  const int64_t length = (std::max(end.at - start.at, int64_t{0}) + step - 1) / step;
  if (length == extent) return call.yield(std::move(x));
  const Size whole = call.loops().size(x.axis(axis));
  const Axis part = slice_axis(call, length, step, end.size(whole) - start.size(whole));
  return call.yield(cut(call, x, axis, part, scale(call.loops().flat(part), Size(step)) + Index(start.size(whole))));
}

// Parts one after the other; equal parts share their dim, and the whole is their sum.
Status split_into(Call& call, const Value& x, int axis, const Integers& lengths) {
  Size start(0);
  std::map<int64_t, DimId> dims;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    if (!dims.count(lengths[i])) dims[lengths[i]] = call.dims().fresh(lengths[i]);
    const Axis part = call.loops().axis_of(dims[lengths[i]]);
    if (i < call.node().outs.size() && call.node().outs[i]) {
      SOLSTICE_CHECK(call.yield(i, cut(call, x, axis, part, call.loops().flat(part) + Index(start))));
    }
    start = start + (lengths[i] == 1 ? Size(1) : call.dims().size(dims[lengths[i]]));
  }
  const bool whole_dim = x.axis(axis).digits.size() == 1;
  if (whole_dim && start.value() == x.extent(axis)) call.dims().derive(x.axis(axis).digits[0].dim, {start, 1, 0});
  return success();
}

Integers parts_of(const Call& call, int64_t extent, int64_t size) {
  if ((extent + size - 1) / size > static_cast<int64_t>(call.node().outs.size())) damaged("fewer results than parts");
  Integers out;
  for (int64_t done = 0; done < extent; done += size) out.push_back(std::min(size, extent - done));
  return out;
}

Status split(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t size, call.count("split_size"));
  return split_into(call, x, axis, parts_of(call, x.extent(axis), size));
}

Status split_with_sizes(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const Integers sizes, call.integers("split_sizes"));
  return split_into(call, x, axis, sizes);
}

Status chunk(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t chunks, call.count("chunks"));
  return split_into(call, x, axis, parts_of(call, x.extent(axis), (x.extent(axis) + chunks - 1) / chunks));
}

Status unbind(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  for (int64_t i = 0; i < x.extent(axis); ++i) {
    Value out = cut(call, x, axis, {}, Index(i));
    out.axes.erase_at(axis);
    SOLSTICE_CHECK(call.yield(static_cast<size_t>(i), std::move(out)));
  }
  return success();
}

Status narrow(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t start, call.integer("start"));
  SOLSTICE_TRY(const int64_t length, call.integer("length"));
  const Axis part = call.loops().fresh_axis(length);
  const int64_t from = start < 0 ? start + x.extent(axis) : start;
  return call.yield(cut(call, x, axis, part, call.loops().flat(part) + Index(from)));
}

Status flip(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const std::vector<int> axes, call.axes("dims", x.rank()));
  for (const int axis : axes) {
    const Axis mirrored = call.loops().align(x.axis(axis));
    const Index last(call.loops().size(mirrored) - Size(1));
    x = cut(call, x, axis, mirrored, last + scale(call.loops().flat(mirrored), Size(-1)));
  }
  return call.yield(std::move(x));
}

Status roll(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const Integers shifts, call.integers("shifts"));
  SOLSTICE_TRY(const std::vector<int> axes, call.listed_axes("dims", x.rank()));
  if (axes.size() != shifts.size()) return call.unsupported("rolling the flattened tensor");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axes[i];
    const int64_t extent = x.extent(axis);
    const int64_t by = ((-shifts[i]) % extent + extent) % extent;
    if (by == 0) continue;
    const Axis rolled = call.loops().align(x.axis(axis));
    const Index position = modulo(call.loops().flat(rolled) + Index(by), call.loops().size(rolled), call.dims());
    x = cut(call, x, axis, rolled, position);
  }
  return call.yield(std::move(x));
}

// Windows along one axis: y[.., p, .., i] = x[.., step*p + i, ..]
Status unfold(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dimension", x.rank()));
  SOLSTICE_TRY(const int64_t size, call.count("size"));
  SOLSTICE_TRY(const int64_t step, call.count("step"));
  if (x.rank() == 0) return call.unsupported("windows of a single number");
  if (size > x.extent(axis)) damaged("windows longer than the axis");
  const Axis places = call.loops().fresh_axis((x.extent(axis) - size) / step + 1);
  if (!places.digits.empty()) {
    call.dims().derive(places.digits[0].dim, {call.loops().size(x.axis(axis)) - Size(size), step, 1});
  }
  const Axis window = size == 1 ? Axis{} : Axis{{call.loops().window(size, "i")}};
  const Index at = scale(call.loops().flat(places), Size(step)) + call.loops().flat(window);
  Value out = cut(call, x, axis, places, at);
  out.axes.push_back(window);
  return call.yield(std::move(out));
}

// The main diagonal of two axes, as the last axis of the result.
Status diagonal(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t offset, call.integer("offset"));
  SOLSTICE_TRY(const int a, call.axis("dim1", x.rank()));
  SOLSTICE_TRY(const int b, call.axis("dim2", x.rank()));
  const Axis along = call.loops().fresh_axis(call.out_extent(-1));
  x = cut(call, x, a, along, call.loops().flat(along) + Index(std::max<int64_t>(-offset, 0)));
  x = cut(call, x, b, along, call.loops().flat(along) + Index(std::max<int64_t>(offset, 0)));
  x.axes.erase_at(std::max(a, b));
  x.axes.erase_at(std::min(a, b));
  x.axes.push_back(along);
  return call.yield(std::move(x));
}

}  // namespace

const RuleGroup kPartRules = {
    "part",
    {
        {"aten.slice.Tensor", slice},
        {"aten.select.int", select_index},
        {"aten.split.Tensor", split},
        {"aten.split_with_sizes.default", split_with_sizes},
        {"aten.chunk.default", chunk},
        {"aten.unbind.int", unbind},
        {"aten.narrow.default", narrow},
        {"aten.flip.default", flip},
        {"aten.roll.default", roll},
        {"aten.diagonal.default", diagonal},
        {"aten.unfold.default", unfold},
    },
};

}  // namespace solstice::importer
