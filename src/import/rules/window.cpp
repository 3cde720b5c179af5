// Pooling: reductions over windows of the last axes.
//   max   y[.., p] = max[i<k](x[.., s*p+d*i-pad else -inf])
//   mean  y[.., p] = mean[i<k](x[.., s*p+i]), with the divisors that padding and ceil_mode imply
#include <algorithm>

#include "import/rules.h"
#include "import/rules/plane.h"
#include "import/rules/pool.h"

namespace solstice::importer {
namespace {

constexpr const char* kWindowNames[] = {"i", "j", "k"};

struct Pool {
  int space = 0;
  Integers kernel, stride, padding, dilation;
};

Result<Pool> read_pool(Call& call, int space) {
  Pool out;
  out.space = space;
  const size_t n = static_cast<size_t>(space);
  SOLSTICE_TRY(out.kernel, call.counts("kernel_size", n));
  out.stride = out.kernel;
  const Json& stride = call.argument("stride");
  if (stride.is_int() || stride.size() > 0) {
    SOLSTICE_TRY(out.stride, call.counts("stride", n));
  }
  SOLSTICE_TRY(out.padding, call.integers("padding", n));
  out.dilation.assign(n, 1);
  if (call.has("dilation")) {
    SOLSTICE_TRY(out.dilation, call.counts("dilation", n));
  }
  return out;
}

// The loops of a pooling: leading axes as they are, positions and windows along the last ones.
struct Windows {
  Axes axes;   // of the result
  Indices at;  // in x
  std::vector<Loop> window;
  Indices position;         // of the spatial axes
  std::vector<int> beyond;  // axes that are read beyond their ends
};

Axis pooled_axis(Call& call, const Pool& pool, int i, const Axis& input, int64_t extent) {
  if (extent == 1) return {};
  const size_t at = static_cast<size_t>(i);
  const int64_t span = pool.dilation[at] * (pool.kernel[at] - 1) + 1;
  const DimId dim = call.dims().fresh(extent);
  call.dims().hint(dim, kOutDims[3 - pool.space + i], 10);
  const Formula formula{call.loops().size(input) + Size(2 * pool.padding[at] - span), pool.stride[at], 1};
  // With ceil_mode the extent may be one more than the formula says; it is a number then.
  if (formula.size.value() / formula.divisor + formula.plus == extent) call.dims().derive(dim, formula);
  return call.loops().axis_of(dim, kOut[3 - pool.space + i]);
}

Windows windows_of(Call& call, const Pool& pool, const Value& x) {
  Windows out;
  const int first = x.rank() - pool.space;
  for (int i = 0; i < first; ++i) {
    out.axes.push_back(call.loops().align(x.axis(i)));
    out.at.push_back(call.loops().flat(out.axes.back()));
  }
  for (int i = 0; i < pool.space; ++i) {
    const size_t at = static_cast<size_t>(i);
    const int64_t extent = call.out_extent(first + i);
    out.axes.push_back(pooled_axis(call, pool, i, x.axis(first + i), extent));
    const Loop window = call.loops().window(pool.kernel[at], kWindowNames[i]);
    out.window.push_back(window);
    out.position.push_back(scale(call.loops().flat(out.axes.back()), Size(pool.stride[at])) +
                           scale(index_of(window), Size(pool.dilation[at])) + Index(-pool.padding[at]));
    const IndexRange range = range_of(out.position.back());
    if (range.low < 0 || range.high >= x.extent(first + i)) out.beyond.push_back(first + i);
    out.at.push_back(out.position.back());
  }
  return out;
}

TermRef inside(Call& call, const Windows& w, const Value& x, int space) {
  TermRef out;
  const int first = x.rank() - space;
  for (const int axis : w.beyond) {
    const Index& at = w.position[static_cast<size_t>(axis - first)];
    const TermRef low = binary("<=", integer(0), index_value(at));
    const TermRef high = binary("<", index_value(at), size_value(call.loops().size(x.axis(axis))));
    out = also(out, binary("and", low, high));
  }
  return out;
}

template <int Space>
Status max_pool(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const Pool pool, read_pool(call, Space));
  if (!is_float(x.dtype)) return call.unsupported("integers have no -inf for the padding");
  hint_plane(call, x, Space);
  const Windows w = windows_of(call, pool, x);
  if (!w.beyond.empty()) x = call.draft().paddable(x, w.beyond);
  const TermRef element =
      w.beyond.empty() ? read_at(x, w.at, call.loops()) : call.draft().read_padded(x, w.at, negate(literal("inf")));
  const TermRef y = reduce("max", w.window, element);
  SOLSTICE_CHECK(call.yield(call.draft().define_merged(call.wish("pool"), w.axes, y, x.dtype)));
  if (!call.out_used(1)) return success();
  const TermRef read = read_at(x, w.at, call.loops());
  return call.yield(1, greatest(call, x, {w.axes, w.window, w.position, inside(call, w, x, Space)}, read));
}

// Elements of the window that count where padding counts: cut off at the padded end, which ceil_mode may pass.
TermRef padded_count(Call& call, const Pool& pool, const Windows& w, const Value& x) {
  TermRef out;
  const int first = x.rank() - pool.space;
  for (int i = 0; i < pool.space; ++i) {
    const size_t at = static_cast<size_t>(i);
    const Index start = scale(call.loops().flat(w.axes[static_cast<size_t>(first + i)]), Size(pool.stride[at]));
    const int64_t room = x.extent(first + i) + 2 * pool.padding[at];
    TermRef count = integer(pool.kernel[at]);
    if (range_of(start).high + pool.kernel[at] > room) {
      const Size end = call.loops().size(x.axis(first + i)) + Size(2 * pool.padding[at]);
      count = apply("min", {count, size_value(end) - index_value(start)});
    }
    out = out ? out * count : count;
  }
  return out;
}

template <int Space>
Status avg_pool(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (!is_float(dtype)) return call.unsupported("a mean of integers, which PyTorch truncates");
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const Pool pool, read_pool(call, Space));
  SOLSTICE_TRY(const bool count_padding, call.flag("count_include_pad"));
  hint_plane(call, x, Space);
  const Windows w = windows_of(call, pool, x);
  const bool overridden = call.has("divisor_override") && !call.is_none("divisor_override");
  TermRef y;
  if (w.beyond.empty()) {
    y = reduce(overridden ? "sum" : "mean", w.window, read_at(x, w.at, call.loops()));
  } else if (!count_padding && !overridden) {
    y = reduce("mean", w.window, read_at(x, w.at, call.loops()), inside(call, w, x, Space));
  } else {
    x = call.draft().paddable(x, w.beyond);
    y = reduce("sum", w.window, call.draft().read_padded(x, w.at, integer(0)));
    if (!overridden) y = y / padded_count(call, pool, w, x);
  }
  if (overridden) {
    SOLSTICE_TRY(const int64_t divisor, call.integer("divisor_override"));
    y = y / integer(divisor);
  }
  return call.yield(call.draft().define_merged(call.wish("pool"), w.axes, y, x.dtype));
}

}  // namespace

const RuleGroup kWindowRules = {
    "window",
    {
        {"aten.max_pool1d.default", max_pool<1>},
        {"aten.max_pool2d.default", max_pool<2>},
        {"aten.max_pool3d.default", max_pool<3>},
        {"aten.max_pool1d_with_indices.default", max_pool<1>},
        {"aten.max_pool2d_with_indices.default", max_pool<2>},
        {"aten.max_pool3d_with_indices.default", max_pool<3>},
        {"aten.avg_pool1d.default", avg_pool<1>},
        {"aten.avg_pool2d.default", avg_pool<2>},
        {"aten.avg_pool3d.default", avg_pool<3>},
    },
};

}  // namespace solstice::importer
