// The left side of an equation: its indices, their ranges, and where the elements go.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/elaborate.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

void collect_names(const lang::ExprRef& e, std::vector<std::pair<std::string, Span>>& out) {
  if (!e) return;
  if (e->kind == lang::ExprKind::kName) out.emplace_back(e->text, e->span);
  for (const lang::ExprRef& a : e->args) collect_names(a, out);
}

}  // namespace

int Elaborator::new_index(const std::string& name, Span span, std::optional<int64_t> extent) {
  const int id = static_cast<int>(draft_.equation.indices.size());
  draft_.equation.indices.push_back({name, extent.value_or(-1), ""});
  draft_.index_spans.push_back(span);
  draft_.given.push_back(extent.has_value());
  names_.emplace_back(name, id);
  return id;
}

// An index may not take the name of a tensor or dim in sight.
bool Elaborator::hides(const std::string& name, Span span) {
  const bool tensor = scope_.symbols.count(name) || binder_.upcoming_.count(name);
  const bool dim = scope_.dims.count(name) > 0;
  if (!tensor && !dim) return false;
  error("E008", span, fmt::format("index `{0}` hides the {1} `{0}`", name, tensor ? "tensor" : "dim"),
        "one name has one meaning in a scope: rename the index");
  return true;
}

std::optional<int64_t> Elaborator::given_extent(const lang::Range& range) {
  const auto extent = binder_.value_of(range.extent, scope_);
  if (!extent || *extent > 0) return extent;
  error("E022", range.span, fmt::format("the range of `{}` is {}", range.name, *extent), "an extent is 1 or more");
  return std::nullopt;
}

void Elaborator::left_side(const lang::Equation& equation, Span span) {
  std::map<std::string, const lang::Range*> ranges;
  for (const lang::Range& r : equation.ranges) {
    if (ranges.emplace(r.name, &r).second) continue;
    error("E008", r.span, fmt::format("`{}` has two ranges", r.name), "keep one");
    draft_.failed = true;
  }
  std::vector<std::pair<std::string, Span>> names;
  for (const lang::ExprRef& e : equation.lhs) collect_names(e, names);
  for (const auto& [name, where] : names) {
    bool known = scope_.dims.count(name) > 0 || name == "inf" || name == "pi";
    for (const auto& [other, id] : names_) known |= other == name;
    if (known) continue;
    if (hides(name, where)) draft_.failed = true;
    std::optional<int64_t> extent;
    const auto range = ranges.find(name);
    if (range != ranges.end()) {
      extent = given_extent(*range->second);
      draft_.failed = draft_.failed || !extent;
    }
    const int id = new_index(name, where, extent);
    if (extent) draft_.equation.indices.back().dim = lang::print_tight(binder_.outer(range->second->extent, scope_));
    draft_.equation.free.push_back(id);
    ranges.erase(name);
  }
  for (const auto& [name, range] : ranges) {
    const bool written = std::any_of(names.begin(), names.end(), [&, n = name](const auto& w) { return w.first == n; });
    if (written) continue;
    error("E004", range->span, fmt::format("`{}` has a range but does not stand on the left", name),
          "a range belongs to an index of the left side; a reduced index takes its own: `sum[k<4](...)`");
    draft_.failed = true;
  }
  for (const lang::ExprRef& e : equation.lhs) {
    ExprRef bound = index(e);
    if (bound && !as_affine(bound)) {
      error("E005", e->span.end ? e->span : span,
            fmt::format("left index `{}` is not affine in the indices", lang::print_tight(e)),
            "a left side places elements: sums of constants times indices, as in `y[n, D*g+k]`");
      bound = nullptr;
    }
    if (!bound) draft_.failed = true;
    draft_.equation.lhs.push_back(bound ? bound : make_int(0));
  }
  reductions_from_ = names_.size();
}

}  // namespace solstice::ir
