// Views and identities: index maps that cost no equation.
#include <algorithm>
#include <set>

#include "import/call/conversion.h"
#include "import/graph/damage.h"
#include "import/rules.h"
#include "import/rules/complex.h"

namespace solstice::importer {
namespace {

Status identity(Call& call) {
  SOLSTICE_TRY(Value x, call.any_number("self"));
  return call.yield(std::move(x));
}

Status to_dtype(Call& call) {
  if (yields_complex(call)) return as_complex(call);
  SOLSTICE_TRY(Value x, call.any_number("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (x.imaginary) return call.unsupported("the real part of complex numbers: `.real` says what is meant");
  if (!changes_values(call, x, dtype)) {
    x.dtype = dtype;
    return call.yield(std::move(x));
  }
  return yield_pointwise(call, {x}, dtype, [&](const auto& t) { return converted(call, x, t[0], dtype); });
}

Value reshaped(Call& call, const Value& x, const Integers& shape) {
  Value out = x;
  Substitution old;
  out.axes = call.loops().reshape(x.axes, shape, old);
  out.term = substitute(x.term, old, call.dims());
  if (x.imaginary) out.imaginary = substitute(x.imaginary, old, call.dims());
  return out;
}

// [N, C, ..] with the channels read as [C/groups, groups] instead of [groups, C/groups].
Status channel_shuffle(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t groups, call.count("groups"));
  Integers split = call.out_shape();
  const int64_t channels = call.out_extent(1);
  split[1] = groups;
  split.insert_at(2, channels / groups);
  Value out = reshaped(call, x, split);
  std::swap(out.axes[1], out.axes[2]);
  return call.yield(reshaped(call, out, call.out_shape()));
}

// [N, C*r*r, H, W] to [N, C, H*r, W*r]
Status pixel_shuffle(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t r, call.count("upscale_factor"));
  if (x.rank() != 4) return call.unsupported("only four axes have equations");
  Value out = reshaped(call, x, {x.extent(0), x.extent(1) / (r * r), r, r, x.extent(2), x.extent(3)});
  out.axes = {out.axes[0], out.axes[1], out.axes[4], out.axes[2], out.axes[5], out.axes[3]};
  return call.yield(reshaped(call, out, call.out_shape()));
}

Status view(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  return call.yield(reshaped(call, x, call.out_shape()));
}

Status permute(Call& call) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  SOLSTICE_TRY(const std::vector<int> order, call.listed_axes("dims", x.rank()));
  if (std::set<int>(order.begin(), order.end()).size() != x.axes.size()) damaged("axes that are no permutation");
  Value out = x;
  for (size_t i = 0; i < x.axes.size(); ++i) out.axes[i] = x.axis(order.at(i));
  return call.yield(std::move(out));
}

Status transpose(Call& call) {
  SOLSTICE_TRY(Value x, call.any_number("self"));
  SOLSTICE_TRY(const int a, call.axis("dim0", x.rank()));
  SOLSTICE_TRY(const int b, call.axis("dim1", x.rank()));
  if (x.rank() > 0) std::swap(x.axes[static_cast<size_t>(a)], x.axes[static_cast<size_t>(b)]);
  return call.yield(std::move(x));
}

Status t(Call& call) {
  SOLSTICE_TRY(Value x, call.any_number("self"));
  if (x.rank() == 2) std::swap(x.axes[0], x.axes[1]);
  return call.yield(std::move(x));
}

Status unsqueeze(Call& call) {
  SOLSTICE_TRY(Value x, call.any_number("self"));
  SOLSTICE_TRY(const int at, call.axis("dim", x.rank() + 1));
  x.axes.insert_at(at, Axis{});
  return call.yield(std::move(x));
}

Status squeeze(Call& call) {
  SOLSTICE_TRY(Value x, call.any_number("self"));
  std::vector<int> axes;
  if (call.has("dim")) {
    SOLSTICE_TRY(axes, call.axes("dim", x.rank()));
  } else {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  for (size_t i = axes.size(); i-- > 0;) {
    if (x.extent(axes[i]) == 1) x.axes.erase_at(axes[i]);
  }
  return call.yield(std::move(x));
}

// All operands with the common shape.
Status broadcast_tensors(Call& call) {
  SOLSTICE_TRY(const Operands operands, call.tensors("tensors"));
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, operands));
  for (size_t i = 0; i < operands.size(); ++i) {
    SOLSTICE_CHECK(call.yield(i, {shape.axes, read_at(operands[i], shape.at[i], call.loops()), operands[i].dtype}));
  }
  return success();
}

// A check that PyTorch makes while tracing.
Status nothing(Call&) { return success(); }

// A check of values: a program yields values and raises nothing.
Status check_of_values(Call& call) {
  std::string message = "a check of values is left out; where PyTorch raises, the program goes on";
  if (call.has("assert_msg")) {
    SOLSTICE_TRY(const std::string text, call.text("assert_msg"));
    message += ": " + text;
  }
  call.note(std::move(message));
  return success();
}

// Broadcast axes get loops that the term does not use.
Status expand(Call& call) {
  SOLSTICE_TRY(Value x, call.any_number("self"));
  const Integers shape = call.out_shape();
  lift(x, shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (x.axes[i].extent() != shape[i]) x.axes[i] = call.loops().fresh_axis(shape[i]);
  }
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
        {"aten._assert_async.default", check_of_values},
        {"aten._assert_async.msg", check_of_values},
    },
};

}  // namespace solstice::importer
