// Resizing with an antialiasing filter: the rows of weights of each axis, and sums over them, axis by axis.
//   w[p,h] = f(((h + 0.5) - s*(p + 0.5)) / max(s, 1)) / sum[h](..)
//   y[.., p, q] = sum[h](w[p,h] * sum[w](v[q,w] * x[.., h, w]))
#include <algorithm>

#include "import/rules.h"
#include "import/rules/index.h"
#include "import/rules/plane.h"
#include "import/rules/pool.h"

namespace solstice::importer {
namespace {

// 1 at 0, falling to 0 at 1.
TermRef triangle(const TermRef& x) { return apply("max", {integer(1) - apply("abs", {x}), integer(0)}); }

// Keys' cubic of a = -0.5, which PyTorch takes where it antialiases, 0 from 2 on.
TermRef cubic(const TermRef& x) {
  const TermRef t = apply("abs", {x});
  const TermRef near = (real(1.5) * t - real(2.5)) * t * t + integer(1);
  const TermRef far = ((real(-0.5) * t + real(2.5)) * t - integer(4)) * t + integer(2);
  return importer::select(binary("<", t, integer(1)), near,
                          importer::select(binary("<", t, integer(2)), far, integer(0)));
}

// Elements of the operand for one step of the result.
Result<double> scale_of(Call& call, int axis, int64_t in, int64_t out) {
  SOLSTICE_TRY(const bool corners, call.flag("align_corners"));
  if (corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
  if (call.has("scale_factors") && !call.is_none("scale_factors")) {
    const Json& given = call.argument("scale_factors");
    if (given.is_array() && axis < static_cast<int>(given.size()) && given.at(static_cast<size_t>(axis)).is_number())
      return 1 / given.at(static_cast<size_t>(axis)).as_double();
  }
  return static_cast<double>(in) / static_cast<double>(out);
}

// The weights of one axis: what each place of the result takes of each element.
Value weights(Call& call, const Axis& to, const Axis& from, double scale, bool is_cubic, DType dtype) {
  const TermRef centre = real(scale) * (index_value(call.loops().flat(to)) + real(0.5));
  TermRef distance = index_value(call.loops().flat(from)) + real(0.5) - centre;
  if (scale > 1) distance = distance / real(scale);
  const TermRef raw = is_cubic ? cubic(distance) : triangle(distance);
  const Value unscaled = call.draft().define("taps", {to, from}, raw, dtype);
  const Axis all = call.loops().align(from);
  const TermRef each = read_at(unscaled, {call.loops().flat(to), call.loops().flat(all)}, call.loops());
  const TermRef whole = all.digits.empty() ? each : reduce("sum", all.digits, each);
  return call.draft().define("weights", {to, from}, unscaled.term / whole, dtype);
}

// The operand resized along one axis.
Result<Value> resized(Call& call, const Value& x, int axis, bool is_cubic) {
  const int64_t extent = call.out_extent(axis);
  SOLSTICE_TRY(const double scale, scale_of(call, axis - 2, x.extent(axis), extent));
  Axes axes, loops;
  for (int i = 0; i < x.rank(); ++i) loops.push_back(i == axis ? single(call, x.axis(i)) : call.loops().align(x.axis(i)));
  axes = loops;
  axes[static_cast<size_t>(axis)] = call.loops().fresh_axis(extent);
  hint(call, axes[static_cast<size_t>(axis)], kOutDims[axis - 1]);
  const Axis& from = loops[static_cast<size_t>(axis)];
  const Value taps = weights(call, axes[static_cast<size_t>(axis)], from, scale, is_cubic, x.dtype);
  const TermRef each = read_at(x, flat_all(loops, call.loops()), call.loops()) * taps.term;
  return call.draft().define(call.wish(), axes, from.digits.empty() ? each : reduce("sum", from.digits, each), x.dtype);
}

// PyTorch resizes the last axis first.
template <bool Cubic>
Status antialiased(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("input"));
  if (x.rank() != 4) return call.unsupported("an image of another rank");
  if (!is_float(x.dtype)) return call.unsupported("an image of integers, whose weights PyTorch rounds to integers too");
  hint_plane(call, x, 2);
  for (const int axis : {3, 2}) {
    SOLSTICE_TRY(x, resized(call, x, axis, Cubic));
  }
  return call.yield(std::move(x));
}

}  // namespace

const RuleGroup kResizeRules = {
    "resize",
    {
        {"aten._upsample_bilinear2d_aa.vec", antialiased<false>},
        {"aten._upsample_bicubic2d_aa.vec", antialiased<true>},
    },
};

}  // namespace solstice::importer
