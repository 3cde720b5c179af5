// Views and identities: index maps that cost no equation.
#include <algorithm>
#include <limits>

#include "ir/import/rules.h"

namespace solstice::ir::importer {
namespace {

Status identity(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  return call.yield(std::move(x));
}

// A conversion keeps the value; a narrowing one rounds, a real made integral truncates.
Status to_dtype(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype == x.dtype) return call.yield(std::move(x));
  const bool widens = (is_float(dtype) && !is_float(x.dtype)) ||
                      (is_float(dtype) && is_float(x.dtype) && size_of(dtype) > size_of(x.dtype)) ||
                      (is_integer(dtype) && (x.dtype == DType::kBool || (is_integer(x.dtype) && size_of(dtype) > size_of(x.dtype))));
  if (widens) {
    x.dtype = dtype;
    return call.yield(std::move(x));
  }
  SOLSTICE_TRY(Value y, pointwise(call, {x}, dtype, [&](const auto& t) {
                 if (dtype == DType::kBool) return binary("!=", as_stored(call, x, t[0]), integer(0));
                 const TermRef source = is_float(dtype) ? t[0] : as_stored(call, x, t[0]);
                 return apply(std::string(name_of(dtype)), {source});
               }));
  return call.yield(std::move(y));
}

Value reshaped(Call& call, const Value& x, const std::vector<int64_t>& shape) {
  Value out = x;
  Substitution old;
  out.axes = call.loops().reshape(x.axes, shape, old);
  out.term = substitute(x.term, old, call.dims());
  return out;
}

// [N, C, ..] with the channels read as [C/groups, groups] instead of [groups, C/groups].
Status channel_shuffle(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t groups, call.integer("groups"));
  std::vector<int64_t> split = call.out_shape();
  const int64_t channels = split[1];
  split[1] = groups;
  split.insert(split.begin() + 2, channels / groups);
  Value out = reshaped(call, x, split);
  std::swap(out.axes[1], out.axes[2]);
  return call.yield(reshaped(call, out, call.out_shape()));
}

// [N, C*r*r, H, W] to [N, C, H*r, W*r]
Status pixel_shuffle(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t r, call.integer("upscale_factor"));
  if (x.rank() != 4) return call.unsupported("only four axes have equations");
  Value out = reshaped(call, x, {x.extent(0), x.extent(1) / (r * r), r, r, x.extent(2), x.extent(3)});
  out.axes = {out.axes[0], out.axes[1], out.axes[4], out.axes[2], out.axes[5], out.axes[3]};
  return call.yield(reshaped(call, out, call.out_shape()));
}

Status view(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  return call.yield(reshaped(call, x, call.out_shape()));
}

Status permute(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const std::vector<int64_t> order, call.integers("dims", static_cast<size_t>(x.rank())));
  Value out = x;
  for (size_t i = 0; i < order.size(); ++i) {
    out.axes[i] = x.axis(static_cast<int>(order[i] < 0 ? order[i] + x.rank() : order[i]));
  }
  return call.yield(std::move(out));
}

Status transpose(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int a, call.axis("dim0", x.rank()));
  SOLSTICE_TRY(const int b, call.axis("dim1", x.rank()));
  if (x.rank() > 0) std::swap(x.axes[static_cast<size_t>(a)], x.axes[static_cast<size_t>(b)]);
  return call.yield(std::move(x));
}

Status t(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  if (x.rank() == 2) std::swap(x.axes[0], x.axes[1]);
  return call.yield(std::move(x));
}

Status unsqueeze(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int at, call.axis("dim", x.rank() + 1));
  x.axes.insert(x.axes.begin() + at, Axis{});
  return call.yield(std::move(x));
}

Status squeeze(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  std::vector<int> axes;
  if (call.node().args.find("dim")) {
    SOLSTICE_TRY(axes, call.axes("dim", x.rank()));
  } else {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  for (size_t i = axes.size(); i-- > 0;) {
    if (x.extent(axes[i]) == 1) x.axes.erase(x.axes.begin() + axes[i]);
  }
  return call.yield(std::move(x));
}

// All operands with the common shape.
Status broadcast_tensors(Call& call) {
  SOLSTICE_TRY(const std::vector<Value> operands, call.tensors("tensors"));
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, operands));
  for (size_t i = 0; i < operands.size(); ++i) {
    SOLSTICE_CHECK(call.yield(i, {shape.axes, read_at(operands[i], shape.at[i], call.loops()), operands[i].dtype}));
  }
  return success();
}

// A check that PyTorch makes while tracing.
Status nothing(Call&) { return success(); }

// Broadcast axes get loops that the term does not use.
Status expand(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  const std::vector<int64_t>& shape = call.out_shape();
  const size_t added = shape.size() - x.axes.size();
  x.axes.insert(x.axes.begin(), added, Axis{});
  for (size_t i = 0; i < shape.size(); ++i) {
    if (x.axes[i].extent() != shape[i]) x.axes[i] = call.loops().fresh_axis(shape[i]);
  }
  return call.yield(std::move(x));
}

// The part of an axis that starts at `start` (elements), of the extent of `part`.
Value cut(Call& call, const Value& x, int axis, const Axis& part, const Index& position) {
  Value out = x;
  Substitution old;
  call.loops().place(x.axis(axis), position, old);
  out.term = substitute(x.term, old, call.dims());
  out.axes[static_cast<size_t>(axis)] = part;
  return out;
}

Status select_index(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t index, call.integer("index"));
  const Index position = index < 0 ? Index(call.loops().size(x.axis(axis)) + Size(index)) : Index(index);
  Value out = cut(call, x, axis, {}, position);
  out.axes.erase(out.axes.begin() + axis);
  return call.yield(std::move(out));
}

struct Range {
  int64_t start = 0, end = 0;
  bool from_end = false;  // start was counted from the end
};

Result<Range> read_range(Call& call, int64_t extent, const char* start, const char* end) {
  Range out{0, extent, false};
  if (!call.is_none(start)) {
    SOLSTICE_TRY(out.start, call.integer(start));
  }
  if (!call.is_none(end)) {
    SOLSTICE_TRY(out.end, call.integer(end));
  }
  out.from_end = out.start < 0;
  const auto clipped = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent); };
  out.start = clipped(out.start);
  out.end = std::max(clipped(out.end), out.start);
  return out;
}

Status slice(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t step, call.integer("step"));
  const int64_t extent = x.extent(axis);
  SOLSTICE_TRY(const Range range, read_range(call, extent, "start", "end"));
  const int64_t length = (range.end - range.start + step - 1) / step;
  if (length == extent) return call.yield(std::move(x));
  if (length == 0) return call.unsupported("an empty slice");
  const Size whole = call.loops().size(x.axis(axis));
  const Axis part = call.loops().fresh_axis(length);
  if (!part.digits.empty() && step == 1) {
    call.dims().derive(part.digits[0].dim, {whole - Size(extent - length), 1, 0});
  }
  const Size start = range.from_end ? whole - Size(extent - range.start) : Size(range.start);
  return call.yield(cut(call, x, axis, part, scale(call.loops().flat(part), Size(step)) + Index(start)));
}

// Parts one after the other; equal parts share their dim, and the whole is their sum.
Status split_into(Call& call, const Value& x, int axis, const std::vector<int64_t>& lengths) {
  Size start(0);
  std::map<int64_t, DimId> dims;
  for (size_t i = 0; i < lengths.size(); ++i) {
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

std::vector<int64_t> parts_of(int64_t extent, int64_t size) {
  std::vector<int64_t> out;
  for (int64_t done = 0; done < extent; done += size) out.push_back(std::min(size, extent - done));
  return out;
}

Status split(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t size, call.integer("split_size"));
  if (size < 1) return call.unsupported("parts of size 0");
  return split_into(call, x, axis, parts_of(x.extent(axis), size));
}

Status split_with_sizes(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const std::vector<int64_t> sizes, call.integers("split_sizes"));
  return split_into(call, x, axis, sizes);
}

Status chunk(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t chunks, call.integer("chunks"));
  if (chunks < 1) return call.unsupported("no chunks");
  return split_into(call, x, axis, parts_of(x.extent(axis), (x.extent(axis) + chunks - 1) / chunks));
}

Status unbind(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  for (int64_t i = 0; i < x.extent(axis); ++i) {
    Value out = cut(call, x, axis, {}, Index(i));
    out.axes.erase(out.axes.begin() + axis);
    SOLSTICE_CHECK(call.yield(static_cast<size_t>(i), std::move(out)));
  }
  return success();
}

Status narrow(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
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
  SOLSTICE_TRY(const std::vector<int64_t> shifts, call.integers("shifts"));
  SOLSTICE_TRY(const std::vector<int64_t> axes, call.integers("dims"));
  if (axes.size() != shifts.size()) return call.unsupported("rolling the flattened tensor");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    const int64_t extent = x.extent(axis);
    const int64_t by = ((-shifts[i]) % extent + extent) % extent;
    if (by == 0) continue;
    const Axis rolled = call.loops().align(x.axis(axis));
    const Index position = modulo(call.loops().flat(rolled) + Index(by), call.loops().size(rolled), call.dims());
    x = cut(call, x, axis, rolled, position);
  }
  return call.yield(std::move(x));
}

// The main diagonal of two axes, as the last axis of the result.
Status diagonal(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t offset, call.integer("offset"));
  SOLSTICE_TRY(const int a, call.axis("dim1", x.rank()));
  SOLSTICE_TRY(const int b, call.axis("dim2", x.rank()));
  const Axis along = call.loops().fresh_axis(call.out_shape().back());
  x = cut(call, x, a, along, call.loops().flat(along) + Index(std::max<int64_t>(-offset, 0)));
  x = cut(call, x, b, along, call.loops().flat(along) + Index(std::max<int64_t>(offset, 0)));
  x.axes.erase(x.axes.begin() + std::max(a, b));
  x.axes.erase(x.axes.begin() + std::min(a, b));
  x.axes.push_back(along);
  return call.yield(std::move(x));
}

}  // namespace

const RuleGroup kViewRules = {
    "view",
    {
        {"aten.clone.default", identity},
        {"aten.detach.default", identity},
        {"aten.alias.default", identity},
        {"aten.contiguous.default", identity},
        {"aten.lift_fresh_copy.default", identity},
        {"aten._to_copy.default", to_dtype},
        {"aten.to.dtype", to_dtype},
        {"aten.view.default", view},
        {"aten._unsafe_view.default", view},
        {"aten.reshape.default", view},
        {"aten.flatten.using_ints", view},
        {"aten.unflatten.int", view},
        {"aten.permute.default", permute},
        {"aten.transpose.int", transpose},
        {"aten.t.default", t},
        {"aten.unsqueeze.default", unsqueeze},
        {"aten.squeeze.default", squeeze},
        {"aten.squeeze.dim", squeeze},
        {"aten.squeeze.dims", squeeze},
        {"aten.expand.default", expand},
        {"aten.broadcast_tensors.default", broadcast_tensors},
        {"aten.channel_shuffle.default", channel_shuffle},
        {"aten.native_channel_shuffle.default", channel_shuffle},
        {"aten.pixel_shuffle.default", pixel_shuffle},
        {"aten._assert_tensor_metadata.default", nothing},
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
    },
};

}  // namespace solstice::ir::importer
