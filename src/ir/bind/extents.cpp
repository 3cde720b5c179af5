// Extents of indices: given, else from the reads where the index stands alone, else from the dimension it
// writes.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/binder.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

std::string use_text(const BareUse& use, int64_t extent) {
  return fmt::format("{} in `{}` (dimension {})", extent, use.name, use.dimension);
}

}  // namespace

int64_t Binder::extent_of(const Symbol& symbol, size_t dimension) const {
  if (symbol.view >= 0) return views_[static_cast<size_t>(symbol.view)].shape[dimension];
  return program_.tensor(symbol.tensor).shape[dimension + symbol.fixed.size()];
}

// Finds what can be found now; the shape of a local may still be open in a recurrence.
void Binder::solve(Draft& d) {
  if (d.failed || d.extents_known) return;
  for (const BareUse& use : d.bare) {
    Index& index = d.equation.indices[static_cast<size_t>(use.index)];
    const int64_t extent = extent_of(use.symbol, use.dimension);
    if (index.extent >= 0 || extent < 0) continue;
    index.extent = extent;
    if (use.dimension < use.symbol.dims.size()) index.dim = use.symbol.dims[use.dimension];
    if (use.symbol.tensor >= 0 && index.dim.empty()) {
      index.dim = program_.tensor(use.symbol.tensor).dims[use.dimension + use.symbol.fixed.size()];
    }
  }
  const bool declared = d.equation.target >= 0 && program_.target_of(d.equation).kind != TensorKind::kLocal;
  for (size_t i = 0; declared && i < d.equation.lhs.size(); ++i) {
    if (d.equation.lhs[i]->op != Op::kIndex) continue;
    Index& index = d.equation.indices[static_cast<size_t>(d.equation.lhs[i]->id)];
    if (index.extent >= 0) continue;
    index.extent = program_.target_of(d.equation).shape[i];
    index.dim = program_.target_of(d.equation).dims[i];
  }
  settle_local(d);
  d.extents_known =
      std::all_of(d.equation.indices.begin(), d.equation.indices.end(), [](const Index& i) { return i.extent >= 0; });
}

// A local takes its shape from the extents of its indices.
void Binder::settle_local(Draft& d) {
  if (d.equation.target < 0) return;
  Tensor& t = program_.tensors[static_cast<size_t>(d.equation.target)];
  if (t.kind != TensorKind::kLocal) return;
  for (size_t i = 0; i < d.equation.lhs.size(); ++i) {
    if (d.equation.lhs[i]->op != Op::kIndex || t.shape[i] >= 0) continue;
    const Index& index = d.equation.indices[static_cast<size_t>(d.equation.lhs[i]->id)];
    t.shape[i] = index.extent;
    t.dims[i] = index.dim;
  }
  if (std::find(t.shape.begin(), t.shape.end(), -1) != t.shape.end()) return;
  if (!check_size(t.name, t.shape, sizeof(double), d.equation.span)) {
    d.failed = states_[static_cast<size_t>(d.equation.target)].poisoned = true;
    return;
  }
  t.strides.assign(t.shape.size(), 1);
  for (size_t i = t.shape.size(); i-- > 1;) t.strides[i - 1] = t.strides[i] * t.shape[i];
}

void Binder::solve_pending() {
  for (bool progress = true; progress;) {
    progress = false;
    for (Draft& d : drafts_) {
      const bool open = !d.failed && !d.extents_known;
      if (!open) continue;
      const auto known = [&] {
        return std::count_if(d.equation.indices.begin(), d.equation.indices.end(),
                             [](const Index& i) { return i.extent >= 0; });
      };
      const auto before = known();
      solve(d);
      progress |= known() > before;
    }
  }
}

// E002 and W002 for one index without a given range.
void Binder::check_uses(Draft& d, int index) {
  const BareUse* first = nullptr;
  std::string first_dim;
  for (const BareUse& use : d.bare) {
    if (use.index != index) continue;
    const int64_t extent = extent_of(use.symbol, use.dimension);
    if (extent < 0) continue;
    const std::string dim = use.dimension < use.symbol.dims.size() ? use.symbol.dims[use.dimension] : "";
    if (!first) {
      first = &use;
      first_dim = dim;
      continue;
    }
    const std::string& name = d.equation.indices[static_cast<size_t>(index)].name;
    const int64_t expected = extent_of(first->symbol, first->dimension);
    if (extent != expected) {
      error("E002", use.span,
            fmt::format("`{}` runs over {} and over {}", name, use_text(*first, expected), use_text(use, extent)),
            fmt::format("swap the indices of one read; or, to read only a part, give the range: `{}<{}` "
                        "where it is bound",
                        name, std::min(extent, expected)));
      d.failed = true;
      return;
    }
    if (!dim.empty() && !first_dim.empty() && dim != first_dim) {
      warning("W002", use.span,
              fmt::format("`{}` runs over `{}` in `{}` and over `{}` in `{}`: equal now ({}), not the same dim", name,
                          first_dim, first->name, dim, use.name, extent),
              fmt::format("swap the indices of `{}`, or declare one dim for both", use.name));
      return;
    }
  }
}

void Binder::check_extents(Draft& d) {
  if (d.failed) return;
  for (size_t i = 0; i < d.equation.indices.size(); ++i) {
    const Index& index = d.equation.indices[i];
    if (!d.given[i]) check_uses(d, static_cast<int>(i));
    if (index.extent >= 0) continue;
    const bool poisoned = std::any_of(d.bare.begin(), d.bare.end(), [&](const BareUse& u) {
      return u.index == static_cast<int>(i) && u.symbol.tensor >= 0 &&
             states_[static_cast<size_t>(u.symbol.tensor)].poisoned;
    });
    d.failed = true;
    if (poisoned) continue;
    const bool free =
        std::find(d.equation.free.begin(), d.equation.free.end(), static_cast<int>(i)) != d.equation.free.end();
    error("E003", d.index_spans[i], fmt::format("`{}` stands alone in no read, so it has no extent", index.name),
          free ? fmt::format("give it at the end of the equation: `... for {}<EXTENT`", index.name)
               : fmt::format("give it where it is bound: `[{}<EXTENT]`", index.name));
  }
  if (d.failed && d.equation.target >= 0) states_[static_cast<size_t>(d.equation.target)].poisoned = true;
}

// Stored values must fit the tensor's kind.
void Binder::check_kinds(Draft& d) {
  if (d.failed || d.equation.target < 0) return;
  const Tensor& t = program_.target_of(d.equation);
  if (t.kind != TensorKind::kLocal && d.equation.rhs->kind > t.value) {
    const bool real = d.equation.rhs->kind == ValueKind::kReal;
    error(
        "E021", d.equation.span,
        fmt::format("`{}` is {} but its value is {}", t.name, name_of(*t.dtype), real ? "real" : "an integer"),
        t.value == ValueKind::kBool ? "compare it: `... != 0`" : fmt::format("round it: `{}(...)`", name_of(*t.dtype)));
    d.failed = true;
  }
  for (const TensorRead& r : d.reads) {  // a local of a recurrence was taken for real before it was defined
    const Tensor& read = program_.tensor(r.read->id);
    if (read.kind != TensorKind::kLocal || read.value == r.read->kind || r.read->has_else) continue;
    if (r.read->kind < read.value) {
      error("E021", r.span, fmt::format("the kind of `{}` is not known where it is read", read.name),
            fmt::format("declare it: `tensor {} : ...`", read.name));
      d.failed = true;
    }
  }
}

}  // namespace solstice::ir
