// Upsampling to the nearest element, as PyTorch finds it: in f32, whatever the dtype.
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
    },
};

}  // namespace solstice::importer
