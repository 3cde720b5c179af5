// Writes through indices, element by element of the result: what is written there, if anything is.
//   y[n] = x[n] + sum[k where i[k] == n](s[k])
//   last[n] = max[k](select(i[k] == n, k, -1)); y[n] = select(last[n] >= 0, s[last[n]], x[n])
// If several write one element the last one counts, as on PyTorch's CPU; PyTorch leaves it open.
#include <algorithm>

#include "import/call/conversion.h"
#include "import/graph/damage.h"
#include "import/rules.h"
#include "import/rules/index.h"
#include "import/rules/loss.h"

namespace solstice::importer {
namespace {

// Writers of the element of the result at the loops' position.
struct Hits {
  Value x;
  Axes axes;     // of the result
  Axes writers;  // axes that the indices run over
  TermRef here;  // a writer points to the element
};

// The value that a writer writes there, by its position in `writers`.
using Written = std::function<TermRef(const Indices&)>;

TermRef own(Call& call, const Hits& h) { return read_at(h.x, flat_all(h.axes, call.loops()), call.loops()); }

Status yield_element(Call& call, const Hits& h, TermRef element) {
  return call.yield(call.draft().define(call.wish(), h.axes, std::move(element), h.x.dtype));
}

// What was there and what a reducer makes of all that is written.
TermRef with_own_value(const std::string& reducer, const TermRef& before, const TermRef& all) {
  if (reducer == "any" || reducer == "all") return binary(reducer == "any" ? "or" : "and", before, all);
  if (reducer == "prod") return before * all;
  return reducer == "max" || reducer == "min" ? apply(reducer, {before, all}) : before + all;
}

Status add_written(Call& call, const Hits& h, const Written& written) {
  const std::string reducer = reducer_of("sum", h.x.dtype);
  const TermRef all = reduce(reducer, all_digits(h.writers), written(flat_all(h.writers, call.loops())), h.here);
  return yield_element(call, h, with_own_value(reducer, own(call, h), all));
}

// One value, whoever writes.
Status fill_written(Call& call, const Hits& h, const TermRef& value) {
  return yield_element(call, h, importer::select(reduce("any", all_digits(h.writers), h.here), value, own(call, h)));
}

Status last_written(Call& call, const Hits& h, const Written& written) {
  const Indices at = flat_all(h.writers, call.loops());
  Index position(0);
  int64_t count = 1;
  for (size_t i = 0; i < at.size(); ++i) {
    position = scale(position, call.loops().size(h.writers[i])) + at[i];
    count *= h.writers[i].extent();
  }
  const TermRef mine = importer::select(h.here, index_value(position), integer(-1));
  const Value last = call.draft().define("last", h.axes, reduce("max", all_digits(h.writers), mine), DType::kI64);
  Indices parts(at.size());
  Index rest = index_of_read(last.term, count);
  for (size_t i = at.size(); i-- > 0;) {
    const Size extent = call.loops().size(h.writers[i]);
    parts[i] = i == 0 ? rest : modulo(rest, extent, call.dims());
    rest = floor_div(rest, extent, call.dims());
  }
  return yield_element(call, h, importer::select(binary(">=", last.term, integer(0)), written(parts), own(call, h)));
}

// An index of x's rank: index[.., k, ..] is where x's axis is written; the other axes go together, as far as it
// reaches.
Result<Hits> hits_along(Call& call, int& axis) {
  Hits out;
  SOLSTICE_TRY(out.x, call.tensor("self"));
  SOLSTICE_TRY(Value index, call.tensor("index"));
  SOLSTICE_TRY(axis, call.axis("dim", out.x.rank()));
  if (out.x.rank() == 0 || index.rank() != out.x.rank()) return call.unsupported("writing to a single number");
  std::vector<int> shorter;
  for (int i = 0; i < out.x.rank(); ++i) {
    if (i != axis && index.extent(i) != out.x.extent(i)) shorter.push_back(i);
  }
  if (!shorter.empty()) index = call.draft().paddable(index, shorter);
  out.writers = {call.loops().align(index.axis(axis))};
  Indices at;
  for (int i = 0; i < out.x.rank(); ++i) {
    const bool together = i != axis && index.extent(i) == out.x.extent(i);
    out.axes.push_back(together ? call.loops().align({&out.x.axis(i), &index.axis(i)})
                                : call.loops().align(out.x.axis(i)));
    at.push_back(call.loops().flat(i == axis ? out.writers[0] : out.axes.back()));
  }
  const TermRef target =
      shorter.empty() ? read_at(index, at, call.loops()) : call.draft().read_padded(index, at, integer(-1));
  out.here = binary("==", target, index_value(call.loops().flat(out.axes[static_cast<size_t>(axis)])));
  return out;
}

// src[.., k, ..] next to the element.
Written source_along(Call& call, const Hits& h, const Value& src, int axis) {
  std::vector<int> beyond = {axis};
  for (int i = 0; i < src.rank(); ++i) {
    if (i != axis && src.extent(i) < h.x.extent(i)) beyond.push_back(i);
  }
  const Value padded = call.draft().paddable(src, beyond);
  return [&call, &h, padded, axis](const Indices& writer) {
    Indices at = flat_all(h.axes, call.loops());
    at[static_cast<size_t>(axis)] = writer[0];
    return call.draft().read_padded(padded, at, zero_of(padded.dtype));
  };
}

Status scatter_by(Call& call, Status (*write)(Call&, const Hits&, const Written&)) {
  int axis = 0;
  SOLSTICE_TRY(const Hits h, hits_along(call, axis));
  SOLSTICE_TRY(const Value src, call.tensor("src"));
  return write(call, h, source_along(call, h, src, axis));
}
Status scatter(Call& call) { return scatter_by(call, last_written); }
Status scatter_add(Call& call) { return scatter_by(call, add_written); }

Status scatter_value(Call& call) {
  int axis = 0;
  SOLSTICE_TRY(const Hits h, hits_along(call, axis));
  SOLSTICE_TRY(const TermRef value, element_of(call, "value", h.x.dtype));
  return fill_written(call, h, value);
}

// A list of positions along one axis, as index_add has it.
Result<Hits> hits_of_list(Call& call, int& axis, bool wraps) {
  Hits out;
  SOLSTICE_TRY(out.x, call.tensor("self"));
  SOLSTICE_TRY(const Value index, call.tensor("index"));
  SOLSTICE_TRY(axis, call.axis("dim", out.x.rank()));
  if (out.x.rank() == 0) return call.unsupported("writing to a single number");
  for (const Axis& a : out.x.axes) out.axes.push_back(call.loops().align(a));
  for (const Axis& a : index.axes) out.writers.push_back(call.loops().align(a));
  const Axis& written = out.axes[static_cast<size_t>(axis)];
  TermRef target = read_at(index, flat_all(out.writers, call.loops()), call.loops());
  if (wraps) target = from_front(call, target, written);
  out.here = binary("==", target, index_value(call.loops().flat(written)));
  return out;
}

Status index_add(Call& call) {
  int axis = 0;
  SOLSTICE_TRY(const Hits h, hits_of_list(call, axis, false));
  SOLSTICE_TRY(const Value source, call.tensor("source"));
  SOLSTICE_TRY(const TermRef alpha, call.scalar("alpha", h.x.dtype));
  if (source.rank() != h.x.rank()) return call.unsupported("a single number that is added");
  const Written each = source_along(call, h, source, axis);
  return add_written(call, h, [&](const Indices& at) {
    const Indices one = at.empty() ? Indices{Index(0)} : at;
    return alpha->text == "1" ? each(one) : alpha * each(one);
  });
}

Status index_copy(Call& call) {
  int axis = 0;
  SOLSTICE_TRY(const Hits h, hits_of_list(call, axis, false));
  SOLSTICE_TRY(const Value source, call.tensor("source"));
  if (source.rank() != h.x.rank() || h.writers.empty()) return call.unsupported("a single number that is copied");
  return last_written(call, h, source_along(call, h, source, axis));
}

Status index_fill(Call& call) {
  int axis = 0;
  SOLSTICE_TRY(const Hits h, hits_of_list(call, axis, true));
  SOLSTICE_TRY(const TermRef value, element_of(call, "value", h.x.dtype));
  return fill_written(call, h, value);
}

// What is written, reduced, and if asked what was there with it.
struct Gathering {
  std::string reducer;  // of the language; "mean": a sum that is divided
  bool with_own = true;
};

// Integers are divided towards the lower one.
TermRef mean_of(const TermRef& sum, const TermRef& count, DType dtype) {
  if (is_float(dtype)) return sum / count;
  return binary("//", sum, apply("max", {count, integer(1)}));
}

Status yield_gathered(Call& call, const Hits& h, const Gathering& g, const TermRef& written) {
  const std::vector<Loop> writers = all_digits(h.writers);
  const bool is_mean = g.reducer == "mean";
  const std::string reducer = reducer_of(is_mean ? "sum" : g.reducer, h.x.dtype);
  const TermRef before = own(call, h), all = reduce(reducer, writers, written, h.here);
  const TermRef whole = g.with_own ? with_own_value(reducer, before, all) : all;
  const TermRef some = reduce("any", writers, h.here);
  if (!is_mean) return yield_element(call, h, g.with_own ? whole : importer::select(some, whole, before));
  const TermRef count = reduce("sum", writers, integer(1), h.here);
  const TermRef mean = mean_of(whole, g.with_own ? count + integer(1) : count, h.x.dtype);
  return yield_element(call, h, g.with_own ? mean : importer::select(some, mean, before));
}

std::string reducer_named(const std::string& how) {
  if (how == "amax" || how == "amin") return how.substr(1);
  if (how == "add") return "sum";
  return how == "multiply" ? "prod" : how;
}

// torch.scatter(.., reduce=) and scatter_reduce.
Status scatter_reduce(Call& call) {
  int axis = 0;
  SOLSTICE_TRY(const Hits h, hits_along(call, axis));
  SOLSTICE_TRY(const std::string how, call.text("reduce"));
  Gathering gathering{reducer_named(how), true};
  if (call.has("include_self")) {
    SOLSTICE_TRY(gathering.with_own, call.flag("include_self"));
  }
  if (call.has("value")) {
    SOLSTICE_TRY(const TermRef value, element_of(call, "value", h.x.dtype));
    return yield_gathered(call, h, gathering, value);
  }
  SOLSTICE_TRY(const Value src, call.tensor("src"));
  return yield_gathered(call, h, gathering, source_along(call, h, src, axis)(flat_all(h.writers, call.loops())));
}

Status index_reduce(Call& call) {
  int axis = 0;
  SOLSTICE_TRY(const Hits h, hits_of_list(call, axis, false));
  SOLSTICE_TRY(const Value source, call.tensor("source"));
  SOLSTICE_TRY(const std::string how, call.text("reduce"));
  SOLSTICE_TRY(const bool with_own, call.flag("include_self"));
  if (source.rank() != h.x.rank() || h.writers.empty()) return call.unsupported("a single number that is written");
  const TermRef written = source_along(call, h, source, axis)(flat_all(h.writers, call.loops()));
  return yield_gathered(call, h, {reducer_named(how), with_own}, written);
}

// x[i[k], j[k]] = values[k, ..], or += them.
Status index_put(Call& call) {
  SOLSTICE_TRY(const auto indices, call.maybe_tensors("indices"));
  if (has_mask(indices)) return put_where(call);
  Hits h;
  SOLSTICE_TRY(h.x, call.tensor("self"));
  SOLSTICE_TRY(const Pointers to, pointers_of(call, h.x));
  SOLSTICE_TRY(const Value values, call.tensor("values"));
  SOLSTICE_TRY(const bool adds, call.flag("accumulate"));
  h.writers = to.axes;
  Indices rest;  // of the axes that the indices leave
  for (size_t i = 0; i < h.x.axes.size(); ++i) {
    h.axes.push_back(call.loops().align(h.x.axes[i]));
    const Index at = call.loops().flat(h.axes.back());
    if (!to.positions[i]) {
      rest.push_back(at);
      continue;
    }
    h.here = also(h.here, binary("==", to.positions[i], index_value(at)));
  }
  const auto place = static_cast<size_t>(to.place);
  const size_t rank = rest.size() + to.axes.size();
  if (values.axes.size() > rank) return call.unsupported("values of a higher rank than the indices select");
  std::vector<int> beyond;
  for (int own_axis = 0; own_axis < values.rank(); ++own_axis) {
    const size_t at = static_cast<size_t>(own_axis) + rank - values.axes.size();
    if (at >= place && at < place + to.axes.size() && values.extent(own_axis) > 1) beyond.push_back(own_axis);
  }
  const Value padded = beyond.empty() ? values : call.draft().paddable(values, beyond);
  const Written written = [&](const Indices& writer) {
    Indices whole = rest, at;
    whole.insert(whole.begin() + to.place, writer.begin(), writer.end());
    for (size_t i = 0; i < values.axes.size(); ++i) {
      at.push_back(values.axes[i].extent() == 1 ? Index(0) : whole[i + rank - values.axes.size()]);
    }
    return beyond.empty() ? read_at(padded, at, call.loops())
                          : call.draft().read_padded(padded, at, zero_of(padded.dtype));
  };
  if (adds) return add_written(call, h, written);
  if (beyond.empty()) return fill_written(call, h, written(Indices(to.axes.size())));
  return last_written(call, h, written);
}

// `src` in place of one position, or of a range, along an axis.
Status replace_range(Call& call, int axis, int64_t start, int64_t step, int64_t count, bool keeps_axis) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(Value src, call.tensor("src"));
  if (src.rank() != x.rank() - (keeps_axis ? 0 : 1)) return call.unsupported("a part of another rank");
  if (!keeps_axis) src.axes.insert_at(axis, Axis{});
  Axes axes;
  Indices at;
  for (int i = 0; i < x.rank(); ++i) {
    axes.push_back(i == axis ? call.loops().align(x.axis(i)) : call.loops().align({&x.axis(i), &src.axis(i)}));
    at.push_back(call.loops().flat(axes.back()));
  }
  const TermRef before = read_at(x, at, call.loops());
  Index& along = at[static_cast<size_t>(axis)];
  const Index distance = along + Index(-start);
  TermRef inside;
  const auto require = [&](const TermRef& condition) { inside = also(inside, condition); };
  if (count == 1) {
    require(binary("==", index_value(along), integer(start)));
  } else {
    if (start > 0) require(binary(">=", index_value(along), integer(start)));
    if (sum_of(start, product_of(count, step)) < x.extent(axis))
      require(binary("<", index_value(along), integer(start + (count - 1) * step + 1)));
    if (step > 1) require(binary("==", index_value(modulo(distance, Size(step), call.dims())), integer(0)));
  }
  along = count == 1 ? Index(0) : floor_div(distance, Size(step), call.dims());
  const Value padded = count == 1 ? src : call.draft().paddable(src, {axis});
  const TermRef after =
      count == 1 ? read_at(src, at, call.loops()) : call.draft().read_padded(padded, at, zero_of(padded.dtype));
  return call.yield(
      call.draft().define(call.wish(), axes, inside ? importer::select(inside, after, before) : after, x.dtype));
}

Status select_scatter(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t index, call.integer("index"));
  return replace_range(call, axis, index < 0 ? index + x.extent(axis) : index, 1, 1, false);
}

Status slice_scatter(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value src, call.tensor("src"));
  SOLSTICE_TRY(const int axis, call.axis("dim", x.rank()));
  SOLSTICE_TRY(const int64_t step, call.count("step"));
  int64_t start = 0;
  if (!call.is_none("start")) {
    SOLSTICE_TRY(start, call.position("start"));
  }
  start = std::clamp<int64_t>(start < 0 ? start + x.extent(axis) : start, 0, x.extent(axis));
  return replace_range(call, axis, start, step, src.extent(axis), true);
}

}  // namespace

const RuleGroup kScatterRules = {
    "scatter",
    {
        {"aten.scatter.src", scatter},
        {"aten.scatter.value", scatter_value},
        {"aten.scatter_add.default", scatter_add},
        {"aten.scatter.reduce", scatter_reduce},
        {"aten.scatter.value_reduce", scatter_reduce},
        {"aten.scatter_reduce.two", scatter_reduce},
        {"aten.index_reduce.default", index_reduce},
        {"aten.index_add.default", index_add},
        {"aten.index_copy.default", index_copy},
        {"aten.index_fill.int_Scalar", index_fill},
        {"aten.index_put.default", index_put},
        {"aten.select_scatter.default", select_scatter},
        {"aten.slice_scatter.default", slice_scatter},
    },
};

}  // namespace solstice::importer
