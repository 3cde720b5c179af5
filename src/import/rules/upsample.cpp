// Resizing to the nearest element, as PyTorch finds it: in f32, whatever the dtype; and with an antialiasing filter.
//   y[.., o] = x[.., min(i64(f32(o * scale)), N-1)], as o//2 where that is the same
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "import/rules.h"
#include "import/rules/index.h"
#include "import/rules/plane.h"
#include "import/rules/pool.h"

namespace solstice::importer {
namespace {

struct Nearest {
  int64_t in = 1;
  int64_t out = 1;
  double factor = 0;  // 0: the extents say it
  float offset = 0;   // 0.5: from the middle of an element
  float scale() const {
    return factor > 0 ? static_cast<float>(1 / factor) : static_cast<float>(in) / static_cast<float>(out);
  }
  int64_t unbounded(int64_t o) const {
    return static_cast<int64_t>(std::floor((static_cast<float>(o) + offset) * scale()));
  }
  int64_t at(int64_t o) const { return std::min(unbounded(o), in - 1); }
};

// (up*o + plus) // down
struct Ratio {
  int64_t up = 1;
  int64_t plus = 0;
  int64_t down = 1;
};

bool yields(const Ratio& ratio, const Nearest& nearest) {
  for (int64_t o = 0; o < nearest.out; ++o) {
    if ((ratio.up * o + ratio.plus) / ratio.down != nearest.at(o)) return false;
  }
  return true;
}

// The integers that yield the same positions.
std::optional<Ratio> ratio_of(const Nearest& nearest) {
  const double whole = std::max(nearest.factor, 1 / nearest.factor);
  const bool given = nearest.factor > 0 && whole == std::floor(whole) && whole < 1e6;
  int64_t up = given && nearest.factor <= 1 ? static_cast<int64_t>(whole) : given ? 1 : nearest.in;
  int64_t down = given && nearest.factor > 1 ? static_cast<int64_t>(whole) : given ? 1 : nearest.out;
  const int64_t common = std::gcd(up, down);
  up /= common, down /= common;
  for (const Ratio& ratio : {Ratio{up, 0, down}, Ratio{up, up / 2, down}, Ratio{2 * up, up, 2 * down}}) {
    if (yields(ratio, nearest)) return ratio;
  }
  return std::nullopt;
}

Index position_of(Call& call, const Nearest& nearest, const Axis& from, const Axis& to) {
  const Index o = call.loops().flat(to);
  if (const auto ratio = ratio_of(nearest)) {
    return floor_div(scale(o, Size(ratio->up)) + Index(ratio->plus), Size(ratio->down), call.dims());
  }
  TermRef real_position = index_value(o);
  if (nearest.offset > 0) real_position = real_position + real(static_cast<double>(nearest.offset));
  TermRef position = apply("i64", {as_marked(DType::kF32, real_position * real(static_cast<double>(nearest.scale())))});
  if (nearest.unbounded(nearest.out - 1) >= nearest.in)
    position = apply("min", {position, size_value(call.loops().size(from) - Size(1))});
  return index_at(call, position, from);
}

// If the factor is a whole number, or one part of that many, the extent follows from the other.
Axis upsampled(Call& call, const Nearest& nearest, const Axis& from, const char* name) {
  if (nearest.out == 1) return {};
  const DimId dim = call.dims().fresh(nearest.out);
  call.dims().hint(dim, name, 10);
  const double part = 1 / nearest.factor;
  if (nearest.factor >= 1 && nearest.factor == std::floor(nearest.factor)) {
    call.dims().derive(dim, {call.loops().size(from) * Size(static_cast<int64_t>(nearest.factor)), 1, 0});
  } else if (nearest.factor > 0 && part == std::floor(part)) {
    call.dims().derive(dim, {call.loops().size(from), static_cast<int64_t>(part), 0});
  }
  return call.loops().axis_of(dim);
}

// Images of two spatial axes are copied along an axis that keeps its extent, whatever the factor; PyTorch's CPU kernels
// also halve the position where the extent doubles, its CUDA kernels do not.
template <int Space, bool Middle>
void settle_plain_ratio(const Call& call, Nearest& nearest) {
  if (Space != 2 || Middle) return;
  const bool doubles = nearest.out == 2 * nearest.in && call.node().outs[0]->device == "cpu";
  if (doubles) nearest.factor = 2;
  if (nearest.out == nearest.in) nearest.factor = 1;
}

// The factor of a spatial axis; 0 where the result's extent was given.
Result<double> factor_of(Call& call, int axis) {
  if (!call.has("scale_factors") || call.is_none("scale_factors")) return 0.0;
  const Json& given = call.argument("scale_factors");
  const Json* factor =
      given.is_array() && axis < static_cast<int>(given.size()) ? &given.at(static_cast<size_t>(axis)) : nullptr;
  if (!factor || !factor->is_number() || factor->as_double() <= 0)
    return call.unsupported("factors that are no positive numbers");
  return factor->as_double();
}

template <int Space, bool Middle>
Status nearest(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("input"));
  if (x.rank() != Space + 2) return call.unsupported("an image of another rank");
  hint_plane(call, x, Space);
  Axes axes;
  Indices at;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < 2) {
      axes.push_back(call.loops().align(x.axis(i)));
      at.push_back(call.loops().flat(axes.back()));
      continue;
    }
    Nearest found{x.extent(i), call.out_extent(i), 0, Middle ? 0.5F : 0.0F};
    SOLSTICE_TRY(found.factor, factor_of(call, i - 2));
    settle_plain_ratio<Space, Middle>(call, found);
    axes.push_back(upsampled(call, found, x.axis(i), kOutDims[3 - Space + i - 2]));
    at.push_back(position_of(call, found, x.axis(i), axes.back()));
  }
  TermRef element = read_at(x, at, call.loops());
  if (!x.is_stored()) return call.yield({std::move(axes), std::move(element), x.dtype});
  return call.yield(call.draft().define(call.wish(), axes, std::move(element), x.dtype));
}

// With an antialiasing filter: rows of weights of each axis, and sums over them, axis by axis.
//   w[p,h] = f(((h + 0.5) - s*(p + 0.5)) / max(s, 1)) / sum[h](..)
//   y[.., p, q] = sum[h](w[p,h] * sum[w](v[q,w] * x[.., h, w]))

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
  for (int i = 0; i < x.rank(); ++i)
    loops.push_back(i == axis ? single(call, x.axis(i)) : call.loops().align(x.axis(i)));
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

const RuleGroup kUpsampleRules = {
    "upsample",
    {
        {"aten.upsample_nearest1d.vec", nearest<1, false>},
        {"aten.upsample_nearest2d.vec", nearest<2, false>},
        {"aten.upsample_nearest3d.vec", nearest<3, false>},
        {"aten._upsample_nearest_exact1d.vec", nearest<1, true>},
        {"aten._upsample_nearest_exact2d.vec", nearest<2, true>},
        {"aten._upsample_nearest_exact3d.vec", nearest<3, true>},
        {"aten._upsample_bilinear2d_aa.vec", antialiased<false>},
        {"aten._upsample_bicubic2d_aa.vec", antialiased<true>},
    },
};

}  // namespace solstice::importer
