// Convolutions, forward and transposed, in one to three dimensions.
//   forward     y[n, D*g+k, p] = sum[c,r](x[n, C*g+c, s*p+d*r-pad else 0] * w[D*g+k, c, r]) + b[D*g+k]
//   transposed  y[n, D*g+k, u] = sum[c,i,r where u == s*i+d*r-pad](x[n, C*g+c, i] * w[C*g+c, k, r]) + b[D*g+k]
#include "import/graph/damage.h"
#include "import/rules.h"
#include "import/rules/plane.h"

namespace solstice::importer {
namespace {

constexpr const char* kTapNames[] = {"t", "r", "s"};
constexpr const char* kSource[] = {"l", "i", "j"};
constexpr const char* kSpaceDims[] = {"D", "H", "W"};

struct Conv {
  int space = 0;  // spatial dimensions
  bool batched = true;
  Integers stride, padding_low, padding_high, dilation;
  int64_t groups = 1;

  // Names are those of the last `space` dimensions: one-dimensional ones use the last.
  const char* name(const char* const (&names)[3], int i) const { return names[3 - space + i]; }
};

Result<Conv> read_conv(Call& call, const Value& w) {
  Conv out;
  out.space = w.rank() - 2;
  if (out.space < 1 || out.space > 3) return call.unsupported("only 1 to 3 spatial dimensions have equations");
  const size_t n = static_cast<size_t>(out.space);
  SOLSTICE_TRY(out.stride, call.counts("stride", n));
  SOLSTICE_TRY(out.dilation, call.counts("dilation", n));
  SOLSTICE_TRY(out.groups, call.count("groups"));
  if (!call.argument("padding").is_string()) {
    SOLSTICE_TRY(out.padding_low, call.integers("padding", n));
    out.padding_high = out.padding_low;
    return out;
  }
  for (size_t i = 0; i < n; ++i) {  // "same": an odd rest goes to the right; "valid": none
    const bool same = call.argument("padding").as_string() == "same";
    const int64_t total = same ? product_of(out.dilation[i], w.extent(2 + static_cast<int>(i)) - 1) : 0;
    out.padding_low.push_back(total / 2);
    out.padding_high.push_back(total - total / 2);
  }
  return out;
}

// An input without a batch axis gets one of extent 1.
Value batched(const Value& x, const Conv& conv) {
  if (x.rank() == conv.space + 2) return x;
  Value out = x;
  out.axes.insert(out.axes.begin(), Axis{});
  return out;
}

// Splits an axis of `value` into [groups, rest] and returns it with one more axis.
Value split_groups(Call& call, const Value& value, int axis, int64_t groups) {
  Substitution old;
  const Axis whole = value.axis(axis);
  const Axes parts = call.loops().reshape({whole}, {groups, whole.extent() / groups}, old);
  Value out = value;
  out.term = substitute(value.term, old, call.dims());
  out.axes[static_cast<size_t>(axis)] = parts[0];
  out.axes.insert_at(axis + 1, parts[1]);
  return out;
}

void hint_space(Call& call, const Value& x, const Value& w, const Conv& conv) {
  hint(call, x.axis(0), "B");
  hint(call, x.axis(1), "C");
  for (int i = 0; i < conv.space; ++i) {
    hint(call, x.axis(2 + i), conv.space == 1 ? "L" : conv.name(kSpaceDims, i));
    for (const Loop& digit : w.axis(2 + i).digits) call.dims().set_literal(digit.dim);
  }
}

Axis joined(const Axis& a, const Axis& b) {
  Axis out = a;
  out.digits.insert(out.digits.end(), b.digits.begin(), b.digits.end());
  return out;
}

TermRef with_bias(Call& call, const std::optional<Value>& bias, TermRef sum, const Axis& channels) {
  if (!bias) return sum;
  call.loops().align({&bias->axis(0), &channels});
  return std::move(sum) + read_at(*bias, {call.loops().flat(channels)}, call.loops());
}

// Output positions along one dimension: its dim follows from the input's.
Axis output_axis(Call& call, const Conv& conv, int i, const Axis& input, int64_t window, int64_t extent) {
  const size_t at = static_cast<size_t>(i);
  if (extent == 1) return {};
  const int64_t cut = conv.padding_low[at] + conv.padding_high[at] - product_of(conv.dilation[at], window - 1) - 1;
  const Size formula = call.loops().size(input) + Size(cut);
  const DimId dim = call.dims().fresh(extent);
  if (conv.stride[at] == 1 && cut == -1 && input.digits.size() == 1) {
    call.dims().unify(dim, input.digits[0].dim);
  } else {
    call.dims().hint(dim, conv.space == 1 ? "P" : conv.name(kOutDims, i), 10);
    call.dims().derive(dim, {formula, conv.stride[at], 1});
  }
  return call.loops().axis_of(dim, conv.name(kOut, i));
}

// The loops of one convolution, and its operands read there.
struct ConvLoops {
  Axis n, g, k, c;
  Axes space;        // of the result
  Axes window;       // of the filter
  Indices position;  // in the input, along each spatial axis
};

Axis named(Axis axis, const char* hint) {
  for (Loop& digit : axis.digits) digit.hint = hint;
  return axis;
}

// Batch, group and channel loops; `filters` has its axis 0 split into groups.
ConvLoops channel_loops(Call& call, const Value& x, const Value& filters, int in_axis, int out_axis, int64_t groups) {
  const Value grouped = split_groups(call, x, 1, groups);
  Loops& loops = call.loops();
  ConvLoops out;
  out.n = loops.align(x.axis(0));
  out.g = loops.align({&grouped.axis(1), &filters.axis(0)});
  out.c = loops.align({&grouped.axis(2), &filters.axis(in_axis)});
  out.k = loops.align(filters.axis(out_axis));
  return out;
}

Status yield_conv(Call& call, const ConvLoops& l, TermRef sum, bool has_batch) {
  SOLSTICE_TRY(const std::optional<Value> bias, call.maybe_tensor("bias"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const Axis channels = joined(l.g, l.k);
  sum = with_bias(call, bias, std::move(sum), channels);
  Axes axes;
  if (has_batch) axes.push_back(l.n);
  axes.push_back(channels);
  axes.insert(axes.end(), l.space.begin(), l.space.end());
  return call.yield(call.draft().define_merged(call.wish("conv"), axes, std::move(sum), dtype));
}

// Adds the loops of one spatial axis: position = stride*p + dilation*r - padding.
void add_space(Call& call, const Conv& conv, int i, const Value& x, const Value& filters, ConvLoops& l) {
  const size_t at = static_cast<size_t>(i);
  Loops& loops = call.loops();
  const int64_t window = filters.extent(3 + i);
  l.space.push_back(output_axis(call, conv, i, x.axis(2 + i), window, call.out_extent(i - conv.space)));
  l.window.push_back(named(loops.align(filters.axis(3 + i)), conv.name(kTapNames, i)));
  l.position.push_back(scale(loops.flat(l.space.back()), Size(conv.stride[at])) +
                       scale(loops.flat(l.window.back()), Size(conv.dilation[at])) + Index(-conv.padding_low[at]));
}

Indices filter_at(Call& call, const Axis& first, const Axis& second, const ConvLoops& l) {
  Indices out{call.loops().flat(l.g), call.loops().flat(first), call.loops().flat(second)};
  for (const Axis& axis : l.window) out.push_back(call.loops().flat(axis));
  return out;
}

std::vector<Loop> summed_loops(const std::vector<const Axes*>& lists, const Axis& first) {
  std::vector<Loop> out = first.digits;
  for (const auto* list : lists) {
    for (const Axis& axis : *list) out.insert(out.end(), axis.digits.begin(), axis.digits.end());
  }
  return out;
}

struct ConvOperands {
  Value x, w;
  Conv conv;
  bool has_batch = true;  // as given; x has one
};

Result<ConvOperands> read_operands(Call& call) {
  ConvOperands out;
  SOLSTICE_TRY(out.x, call.tensor("input"));
  SOLSTICE_TRY(out.w, call.tensor("weight"));
  SOLSTICE_TRY(out.conv, read_conv(call, out.w));
  out.has_batch = out.x.rank() == out.conv.space + 2;
  out.x = batched(out.x, out.conv);
  hint_space(call, out.x, out.w, out.conv);
  return out;
}

Status conv_forward(Call& call) {
  SOLSTICE_TRY(ConvOperands given, read_operands(call));
  auto& [x, w, conv, has_batch] = given;
  const Value filters = split_groups(call, w, 0, conv.groups);
  ConvLoops l = channel_loops(call, x, filters, 2, 1, conv.groups);
  const bool depthwise = l.c.digits.empty() && l.k.digits.empty();
  hint(call, w.axis(0), "K");
  if (conv.groups > 1) {
    hint(call, l.g, depthwise ? "C" : "G");
    hint(call, l.c, "CG");
    hint(call, l.k, "KG");
  }
  Indices source{call.loops().flat(l.n), call.loops().flat(joined(l.g, l.c))};
  std::vector<int> padded;
  for (int i = 0; i < conv.space; ++i) {
    add_space(call, conv, i, x, filters, l);
    const IndexRange range = range_of(l.position.back());
    if (range.low < 0 || range.high >= x.extent(2 + i)) padded.push_back(2 + i);
    source.push_back(l.position.back());
  }
  if (!padded.empty()) x = call.draft().paddable(x, padded);
  const TermRef input =
      padded.empty() ? read_at(x, source, call.loops()) : call.draft().read_padded(x, source, integer(0));
  const TermRef filter = read_at(filters, filter_at(call, l.k, l.c, l), call.loops());
  return yield_conv(call, l, reduce("sum", summed_loops({&l.window}, l.c), input * filter), has_batch);
}

// The dim of a transposed convolution's output: (input-1)*stride - 2*padding + dilation*(window-1) + out_padding + 1.
Axis reached_axis(Call& call, const Conv& conv, int i, const Axis& input, int64_t extent) {
  if (extent == 1) return {};
  const char* const dims[3] = {"T", "U", "V"};
  const char* const names[3] = {"t", "u", "v"};
  const int64_t stride = conv.stride[static_cast<size_t>(i)];
  const DimId dim = call.dims().fresh(extent);
  call.dims().hint(dim, conv.space == 1 ? "U" : conv.name(dims, i), 10);
  call.dims().derive(
      dim, {call.loops().size(input) * Size(stride) + Size(extent - product_of(input.extent(), stride)), 1, 0});
  return call.loops().axis_of(dim, conv.space == 1 ? "u" : conv.name(names, i));
}

Status conv_transposed(Call& call) {
  SOLSTICE_TRY(ConvOperands given, read_operands(call));
  auto& [x, w, conv, has_batch] = given;
  hint(call, w.axis(1), "K");
  const Value filters = split_groups(call, w, 0, conv.groups);
  ConvLoops l = channel_loops(call, x, filters, 1, 2, conv.groups);
  if (conv.groups > 1) {
    hint(call, l.g, "G");
    hint(call, l.c, "CG");
    hint(call, l.k, "KG");
  }
  Indices source{call.loops().flat(l.n), call.loops().flat(joined(l.g, l.c))};
  Axes from;
  TermRef where;
  for (int i = 0; i < conv.space; ++i) {
    const size_t at = static_cast<size_t>(i);
    const char* const windows[3] = {"m", "r", "s"};
    l.space.push_back(reached_axis(call, conv, i, x.axis(2 + i), call.out_extent(i - conv.space)));
    from.push_back(named(call.loops().align(x.axis(2 + i)), conv.name(kSource, i)));
    l.window.push_back(named(call.loops().align(filters.axis(3 + i)), conv.name(windows, i)));
    const Index reached = scale(call.loops().flat(from.back()), Size(conv.stride[at])) +
                          scale(call.loops().flat(l.window.back()), Size(conv.dilation[at])) +
                          Index(-conv.padding_low[at]);
    where = also(where, binary("==", index_value(call.loops().flat(l.space.back())), index_value(reached)));
    source.push_back(call.loops().flat(from.back()));
  }
  const TermRef input = read_at(x, source, call.loops());
  const TermRef filter = read_at(filters, filter_at(call, l.c, l.k, l), call.loops());
  return yield_conv(call, l, reduce("sum", summed_loops({&from, &l.window}, l.c), input * filter, where), has_batch);
}

}  // namespace

const RuleGroup kConvRules = {
    "conv",
    {
        {"aten.conv1d.default", conv_forward},
        {"aten.conv2d.default", conv_forward},
        {"aten.conv3d.default", conv_forward},
        {"aten.conv1d.padding", conv_forward},
        {"aten.conv2d.padding", conv_forward},
        {"aten.conv3d.padding", conv_forward},
        {"aten.conv_transpose1d.default", conv_transposed},
        {"aten.conv_transpose2d.input", conv_transposed},
        {"aten.conv_transpose3d.input", conv_transposed},
    },
};

}  // namespace solstice::importer
