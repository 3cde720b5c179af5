// Operators that put tensors together, pad them, mask them by position, or gather from them.
#include <algorithm>
#include <limits>

#include "import/call/conversion.h"
#include "import/rules.h"
#include "import/rules/index.h"

namespace solstice::importer {
namespace {

// One declared tensor, written piece by piece along `axis`.
Status cat(Call& call) {
  SOLSTICE_TRY(const Operands parts, call.tensors_with_elements("tensors"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (parts.empty()) return call.unsupported("nothing to put together");
  const int rank = parts[0].rank();
  SOLSTICE_TRY(const int axis, call.axis("dim", rank));
  Axes axes;
  Size total(0);
  for (const Value& part : parts) total = total + call.loops().size(part.axis(axis));
  for (int i = 0; i < rank; ++i) {
    std::vector<const Axis*> aligned;
    for (const Value& part : parts) aligned.push_back(&part.axis(i));
    if (i != axis) {
      axes.push_back(call.loops().align(aligned));
      continue;
    }
    const DimId dim = call.dims().fresh(total.value());
    call.dims().derive(dim, {total, 1, 0});
    if (parts[0].axis(i).digits.size() == 1) {
      for (const std::string& name : call.dims().hints(parts[0].axis(i).digits[0].dim)) call.dims().hint(dim, name, 1);
    }
    axes.push_back(call.loops().axis_of(dim));
  }
  const int tensor = call.draft().declare(call.wish(), axes, dtype);
  Size offset(0);
  for (const Value& part : parts) {
    Axes at = axes;
    at[static_cast<size_t>(axis)] = call.loops().align(part.axis(axis));
    const Indices position = flat_all(at, call.loops());
    Indices target = position;
    target[static_cast<size_t>(axis)] = position[static_cast<size_t>(axis)] + Index(offset);
    const TermRef element = converted(call, part, read_at(part, position, call.loops()), dtype);
    call.draft().write(tensor, std::move(target), element);
    offset = offset + call.loops().size(part.axis(axis));
  }
  return call.yield(call.draft().whole(tensor, axes));
}

Status stack(Call& call) {
  SOLSTICE_TRY(const Operands parts, call.tensors("tensors"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const int axis, call.axis("dim", parts.at(0).rank() + 1));
  Axes axes;
  for (int i = 0; i < parts[0].rank(); ++i) {
    std::vector<const Axis*> aligned;
    for (const Value& part : parts) aligned.push_back(&part.axis(i));
    axes.push_back(call.loops().align(aligned));
  }
  const Indices position = flat_all(axes, call.loops());
  axes.insert_at(axis, call.loops().fresh_axis(static_cast<int64_t>(parts.size())));
  const int tensor = call.draft().declare(call.wish(), axes, dtype);
  for (size_t i = 0; i < parts.size(); ++i) {
    Indices target = position;
    target.insert_at(axis, Index(static_cast<int64_t>(i)));
    const TermRef element = converted(call, parts[i], read_at(parts[i], position, call.loops()), dtype);
    call.draft().write(tensor, std::move(target), element);
  }
  return call.yield(call.draft().whole(tensor, axes));
}

struct Pad {
  int64_t before = 0, after = 0;
};

// PyTorch lists pads from the last axis to the first.
Result<std::vector<Pad>> read_pads(Call& call, int rank) {
  SOLSTICE_TRY(const Integers flat, call.integers("pad"));
  std::vector<Pad> out(static_cast<size_t>(rank));
  if (flat.size() > 2 * out.size()) return call.unsupported("more pads than the tensor has axes");
  for (size_t i = 0; i + 1 < flat.size(); i += 2) out[out.size() - 1 - i / 2] = {flat[i], flat[i + 1]};
  return out;
}

Axis padded_axis(Call& call, const Axis& axis, const Pad& pad) {
  if (pad.before == 0 && pad.after == 0) return call.loops().align(axis);
  const Axis out = call.loops().fresh_axis(axis.extent() + pad.before + pad.after);
  if (out.digits.empty()) return out;
  const DimId dim = out.digits[0].dim;
  call.dims().derive(dim, {call.loops().size(axis) + Size(pad.before + pad.after), 1, 0});
  if (axis.digits.size() == 1) {
    for (const std::string& name : call.dims().hints(axis.digits[0].dim)) call.dims().hint(dim, name + "P", 1);
  }
  return out;
}

Status pad_constant(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const std::vector<Pad> pads, read_pads(call, x.rank()));
  TermRef fill = zero_of(dtype);
  if (!call.is_none("value")) {
    SOLSTICE_TRY(fill, element_of(call, "value", dtype));
  }
  std::vector<int> grown;
  for (int i = 0; i < x.rank(); ++i) {
    const Pad pad = pads[static_cast<size_t>(i)];
    if (pad.before > 0 || pad.after > 0) grown.push_back(i);
  }
  if (!grown.empty()) x = call.draft().paddable(x, grown);
  Axes axes;
  Indices at;
  for (int i = 0; i < x.rank(); ++i) {
    const Pad pad = pads[static_cast<size_t>(i)];
    axes.push_back(padded_axis(call, x.axis(i), pad));
    at.push_back(call.loops().flat(axes.back()) + Index(-pad.before));
  }
  TermRef term = grown.empty() ? read_at(x, at, call.loops()) : call.draft().read_padded(x, at, fill);
  return call.yield({std::move(axes), std::move(term), dtype});
}

// Position in the source for modes that read inside it: reflect, replicate, circular.
Result<Index> source_position(Call& call, const std::string& mode, const Index& at, const Size& extent) {
  const IndexRange range = range_of(at);
  if (range.low >= 0 && range.high < extent.value()) return at;
  if (mode == "circular") return modulo(at + Index(extent), extent, call.dims());
  const TermRef i = index_value(at);
  const TermRef last = size_value(extent - Size(1));
  if (mode == "replicate") return index_of_read(apply("min", {apply("max", {i, integer(0)}), last}), extent.value());
  if (mode != "reflect") return call.unsupported("padding mode " + mode);
  // |i| first, then the mirror at the far end; the 0 among the maxima keeps the range in sight of the static checks.
  const TermRef folded = apply("max", {i, integer(0), index_value(scale(at, Size(-1)))});
  const TermRef mirrored = size_value((extent - Size(1)) * Size(2)) - folded;
  return index_of_read(apply("min", {folded, mirrored}), extent.value());
}

Status pad_inside(Call& call, const std::string& mode) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const std::vector<Pad> pads, read_pads(call, x.rank()));
  Axes axes;
  Indices at;
  for (int i = 0; i < x.rank(); ++i) {
    const Pad pad = pads[static_cast<size_t>(i)];
    axes.push_back(padded_axis(call, x.axis(i), pad));
    const Index position = call.loops().flat(axes.back()) + Index(-pad.before);
    SOLSTICE_TRY(const Index source, source_position(call, mode, position, call.loops().size(x.axis(i))));
    at.push_back(source);
  }
  return call.yield(call.draft().define(call.wish(), axes, read_at(x, at, call.loops()), dtype));
}

Status pad(Call& call) {
  SOLSTICE_TRY(const std::string mode, call.text("mode"));
  return mode == "constant" ? pad_constant(call) : pad_inside(call, mode);
}

// Keeps the elements with column <= row + diagonal (tril) or >= (triu).
Status triangle(Call& call, const char* comparison) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t diagonal, call.integer("diagonal"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (x.rank() < 2) return call.unsupported("a triangle of a vector");
  Axes axes;
  for (const Axis& axis : x.axes) axes.push_back(call.loops().align(axis));
  const Indices at = flat_all(axes, call.loops());
  const Index row = at[at.size() - 2] + Index(diagonal);
  const TermRef inside = binary(comparison, index_value(at.back()), index_value(row));
  const TermRef element = read_at(x, at, call.loops());
  const bool is_true = dtype == DType::kBool && element->text == "true";
  TermRef rhs = is_true ? inside : select(inside, element, zero_of(dtype));
  if (!x.is_stored()) return call.yield({std::move(axes), std::move(rhs), dtype});
  return call.yield(call.draft().define(call.wish(), axes, std::move(rhs), dtype));
}
Status tril(Call& call) { return triangle(call, "<="); }
Status triu(Call& call) { return triangle(call, ">="); }

// Repeats the whole tensor along each axis.
Status repeat(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  const Integers shape = call.out_shape();
  lift(x, shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t times = shape[i] / std::max<int64_t>(x.axes[i].extent(), 1);
    if (times == 1) continue;
    Axis repeated = call.loops().fresh_axis(times);
    repeated.digits.insert(repeated.digits.end(), x.axes[i].digits.begin(), x.axes[i].digits.end());
    x.axes[i] = std::move(repeated);
  }
  return call.yield(std::move(x));
}

// y[.., i.., ..] = x[.., index[i..], ..]
Status take(Call& call, const Value& x, int axis, const Value& index) {
  Axes axes, own;
  for (const Axis& a : index.axes) own.push_back(call.loops().align(a));
  Indices at;
  const TermRef position = read_at(index, flat_all(own, call.loops()), call.loops());
  for (int i = 0; i < x.rank(); ++i) {
    if (i == axis) {
      axes.insert(axes.end(), own.begin(), own.end());
      at.push_back(index_at(call, position, x.axis(i)));
    } else {
      axes.push_back(call.loops().align(x.axis(i)));
      at.push_back(call.loops().flat(axes.back()));
    }
  }
  return call.yield(call.draft().define(call.wish(), axes, read_at(x, at, call.loops()), x.dtype));
}

Status embedding(Call& call) {
  SOLSTICE_TRY(const Value weight, call.tensor("weight"));
  SOLSTICE_TRY(const Value indices, call.tensor("indices"));
  return take(call, weight, 0, indices);
}

Status index_select(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const Value index, call.tensor("index"));
  return take(call, x, axis, index);
}

// y[i, j] = x[index[i, j], j] for axis 0
Status gather(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const Value index, call.tensor("index"));
  Axes axes;
  for (const Axis& a : index.axes) axes.push_back(call.loops().align(a));
  Indices at = flat_all(axes, call.loops());
  const TermRef position = read_at(index, at, call.loops());
  at[static_cast<size_t>(axis)] = index_at(call, position, x.axis(axis));
  return call.yield(call.draft().define(call.wish(), axes, read_at(x, at, call.loops()), x.dtype));
}

// `self` with the given part replaced by `src`.
Status copy(Call& call) {
  SOLSTICE_TRY(Value src, call.tensor("src"));
  const Integers shape = call.out_shape();
  lift(src, shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (src.axes[i].extent() != shape[i]) src.axes[i] = call.loops().fresh_axis(shape[i]);
  }
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (!changes_values(call, src, dtype)) {
    src.dtype = dtype;
    return call.yield(std::move(src));
  }
  return yield_pointwise(call, {src}, dtype, [&](const Terms& t) { return converted(call, src, t[0], dtype); });
}

}  // namespace

const RuleGroup kMoveRules = {
    "move",
    {
        {"aten.cat.default", cat},
        {"aten.stack.default", stack},
        {"aten.pad.default", pad},
        {"aten.constant_pad_nd.default", pad_constant},
        {"aten.tril.default", tril},
        {"aten.triu.default", triu},
        {"aten.repeat.default", repeat},
        {"aten.embedding.default", embedding},
        {"aten.index_select.default", index_select},
        {"aten.gather.default", gather},
        {"aten.copy.default", copy},
    },
};

}  // namespace solstice::importer
