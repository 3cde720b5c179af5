// Adaptive pooling: as many windows as the result has elements.
#include "import/rules.h"
#include "import/rules/index.h"
#include "import/rules/plane.h"
#include "import/rules/pool.h"

namespace solstice::importer {

void hint_plane(Call& call, const Value& x, int space) {
  if (x.rank() != space + 2) return;
  const char* const names[3] = {"D", "H", "W"};
  hint(call, x.axis(0), "B");
  hint(call, x.axis(1), "C");
  for (int i = 0; i < space; ++i) hint(call, x.axis(2 + i), space == 1 ? "L" : names[3 - space + i]);
}

Value greatest(Call& call, const Value& x, const PoolWindows& windows, const TermRef& element) {
  Axis all;  // the window as one loop, which an arg-reduction wants
  Substitution at;
  for (const Loop& loop : windows.window) {
    if (loop.extent > 1) all.digits.push_back(loop);
    if (loop.extent == 1) at[loop.id] = Index(0);
  }
  Substitution chosen = at;
  const Axis one = single(call, all);
  call.loops().place(all, call.loops().flat(one), at);
  const TermRef where = windows.where ? substitute(windows.where, at, call.dims()) : nullptr;
  const TermRef body = substitute(as_stored(call, x, element), at, call.dims());
  const Value first =
      call.draft().define_merged("arg", windows.axes, reduce("argmax", one.digits, body, where), DType::kI64);
  const TermRef position = read_at(first, flat_all(windows.axes, call.loops()), call.loops());
  if (!all.digits.empty()) call.loops().place(all, index_of_read(position, all.extent()), chosen);
  Index flat(0);
  const size_t leading = x.axes.size() - windows.position.size();
  for (size_t i = 0; i < windows.position.size(); ++i) {
    flat = scale(flat, call.loops().size(x.axes[leading + i])) + substitute(windows.position[i], chosen, call.dims());
  }
  return call.draft().define_merged("indices", windows.axes, index_value(flat), DType::kI64);
}

namespace {

// Window o of O over L elements is [o*L//O, ((o+1)*L+O-1)//O): equal windows where O divides L.
struct Adaptive {
  Axis out;
  Loop run;
  Index position;
  TermRef where;  // null: the window is all of `run`
};

Adaptive adaptive_axis(Call& call, const Axis& input, int64_t extent, int i) {
  Adaptive out;
  const int64_t length = input.extent();
  const char* const names[3] = {"i", "j", "k"};
  if (extent == 1) {
    const DimId dim = input.digits.size() == 1 ? input.digits[0].dim : call.dims().fresh(length);
    out.run = call.loops().fresh(dim);
    out.position = index_of(out.run);
    return out;
  }
  const DimId dim = call.dims().fresh(extent);
  call.dims().hint(dim, kOutDims[i], 10);
  out.out = call.loops().axis_of(dim, kOut[i]);
  const Index o = call.loops().flat(out.out);
  if (length % extent == 0) {
    out.run = call.loops().window(length / extent, names[i]);
    out.position = scale(o, Size(length / extent)) + index_of(out.run);
    return out;
  }
  const Size size = call.loops().size(input);
  const Size outs = call.loops().size(out.out);
  out.run = call.loops().fresh(input.digits.size() == 1 ? input.digits[0].dim : call.dims().fresh(length), names[i]);
  out.position = index_of(out.run);
  const Index low = floor_div(scale(o, size), outs, call.dims());
  const Index high = floor_div(scale(o + Index(1), size) + Index(outs - Size(1)), outs, call.dims());
  out.where = binary("and", binary("<=", index_value(low), index_value(out.position)),
                     binary("<", index_value(out.position), index_value(high)));
  return out;
}

Status adaptive_pool(Call& call, const char* reducer, int space) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  hint_plane(call, x, space);
  const int first = x.rank() - space;
  PoolWindows w;
  Indices at;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < first) {
      w.axes.push_back(call.loops().align(x.axis(i)));
      at.push_back(call.loops().flat(w.axes.back()));
      continue;
    }
    const int64_t extent = call.out_extent(i);
    if (extent < 1) return call.unsupported("a result without elements");
    const Adaptive a = adaptive_axis(call, x.axis(i), extent, 3 - space + i - first);
    w.axes.push_back(a.out);
    at.push_back(a.position);
    w.position.push_back(a.position);
    w.window.push_back(a.run);
    if (a.where) w.where = also(w.where, a.where);
  }
  const TermRef element = read_at(x, at, call.loops());
  const TermRef y = reduce(reducer, w.window, element, w.where);
  SOLSTICE_CHECK(call.yield(call.draft().define_merged(call.wish("pool"), w.axes, y, x.dtype)));
  return call.out_used(1) ? call.yield(1, greatest(call, x, w, element)) : success();
}

template <int Space>
Status adaptive_avg_pool(Call& call) {
  return adaptive_pool(call, "mean", Space);
}

template <int Space>
Status adaptive_max_pool(Call& call) {
  return adaptive_pool(call, "max", Space);
}

}  // namespace

const RuleGroup kAdaptiveRules = {
    "adaptive",
    {
        {"aten.adaptive_avg_pool1d.default", adaptive_avg_pool<1>},
        {"aten.adaptive_avg_pool2d.default", adaptive_avg_pool<2>},
        {"aten.adaptive_avg_pool3d.default", adaptive_avg_pool<3>},
        {"aten.adaptive_max_pool1d.default", adaptive_max_pool<1>},
        {"aten.adaptive_max_pool2d.default", adaptive_max_pool<2>},
        {"aten.adaptive_max_pool3d.default", adaptive_max_pool<3>},
    },
};

}  // namespace solstice::importer
