#include "import/text/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lang/prelude.h"
#include "lang/words.h"

namespace solstice::importer {

namespace {

const std::set<std::string> kPrimitives = {
    "exp",   "expm1",    "log",  "log1p",     "sqrt",         "rsqrt", "tanh",   "erf",    "sin",    "cos",
    "pow",   "abs",      "sign", "floor",     "ceil",         "round", "trunc",  "min",    "max",    "select",
    "isnan", "isfinite", "fmod", "remainder", "floor_divide", "atan2", "erfinv", "lgamma", "bit_and"};

std::string sanitised(const std::string& wish) {
  std::string out;
  for (const char c : wish) {
    const auto u = static_cast<unsigned char>(c);
    out += std::isalnum(u) ? static_cast<char>(std::tolower(u)) : '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "t" + out;
  // `relu[m,n] = relu(x[m,n])` is legal, but reads badly.
  const auto is_function = [&](const lang::Fn& f) { return f.name == out; };
  const bool function = std::any_of(lang::prelude().begin(), lang::prelude().end(), is_function) ||
                        kPrimitives.count(out) || lang::is_reserved(out);
  return function ? out + "_out" : out;
}

}  // namespace

void name_tensors(Draft& draft) {
  std::map<std::string, int> params, used;
  const auto is_state = [](const DraftTensor& t) {
    return t.kind == DraftKind::kParam || t.kind == DraftKind::kBuffer;
  };
  for (const DraftTensor& tensor : draft.tensors) {
    if (is_state(tensor) && tensor.def < 0) ++params[sanitised(tensor.wish)];
  }
  std::set<std::string> taken;
  const auto take = [&](DraftTensor& tensor) {
    const std::string base = sanitised(tensor.wish);
    std::string name = base;
    int& count = used[base];
    if (is_state(tensor) && params[base] > 1) name = base + std::to_string(++count);
    // `i` and a number may be a dtype.
    while (lang::is_reserved(name) || !taken.insert(name).second)
      name = base + std::to_string(count = std::max(count, 1) + 1);
    tensor.name = name;
  };
  // The interface first: its names are the ones people know.
  for (DraftTensor& tensor : draft.tensors) {
    if (tensor.kind != DraftKind::kTensor && tensor.kind != DraftKind::kLocal && tensor.def < 0) take(tensor);
  }
  for (DraftTensor& tensor : draft.tensors) {
    if (tensor.name.empty() && tensor.def < 0 && tensor.rolled < 0) take(tensor);
  }
}

namespace {

// Finds the dims that are mentioned anywhere, in order of appearance.
class DimCollector {
 public:
  explicit DimCollector(const Draft& draft) : draft_(draft) {
    for (const DraftTensor& tensor : draft.tensors) {
      if (tensor.kind == DraftKind::kLocal || tensor.def >= 0 || tensor.is_result) continue;
      for (const Size& size : tensor.shape) add(size);
    }
    for (const DraftItem& item : draft.items) {
      if (item.opaque >= 0) continue;
      if (item.call >= 0) {
        for (const Size& size : draft.calls[static_cast<size_t>(item.call)].statics) add(size);
        continue;
      }
      for (const Index& index : item.equation.lhs) add(index);
      add(item.equation.rhs);
    }
  }
  const std::vector<DimId>& dims() const { return dims_; }

 private:
  void add(DimId id) {
    id = draft_.dims().find(id);
    if (draft_.dims().is_literal(id) || !seen_.insert(id).second) return;
    dims_.push_back(id);
  }
  void add(const Size& size) {
    for (const auto& [product, coefficient] : size.terms()) {
      for (const DimId id : product) add(id);
    }
  }
  void add(const Index& index) {
    add(index.offset);
    for (const IndexTerm& term : index.terms) {
      add(term.coefficient);
      const Atom& atom = *term.atom;
      if (atom.kind == AtomKind::kLoop) add(atom.loop.dim);
      add(atom.inner);
      add(atom.divisor);
      if (atom.read) add(atom.read);
    }
  }
  void add(const TermRef& term) {
    for (const Loop& loop : term->binders) add(loop.dim);
    for (const Index& index : term->indices) add(index);
    for (const TermRef& arg : term->args) add(arg);
  }

  const Draft& draft_;
  std::set<DimId> seen_;
  std::vector<DimId> dims_;
};

// Joins dims whose formula is just another dim, and dims with the same sum of products.
void join_aliases(Dims& dims) {
  std::map<std::map<std::vector<DimId>, int64_t>, DimId> seen;
  for (DimId id = 0; id < dims.count(); ++id) {
    const auto& formula = dims.formula(id);
    if (!formula || formula->divisor != 1 || formula->plus != 0) continue;
    const Size size = formula->size.canonical(dims);
    if (size.is_constant() || size.value() != dims.value(id)) continue;
    const auto& [product, coefficient] = *size.terms().begin();
    if (size.terms().size() == 1 && coefficient == 1 && product.size() == 1) {
      const DimId other = product[0];
      dims.drop_formula(id);
      dims.unify(id, other);
      continue;
    }
    const auto [same, is_new] = seen.emplace(size.terms(), id);
    if (!is_new) dims.unify(same->second, id);
  }
}

// Orders dims so that each follows those of its formula; formulas that would run in a circle are dropped.
class DimOrder {
 public:
  explicit DimOrder(Dims& dims) : dims_(dims) {}
  void visit(DimId id) {
    id = dims_.find(id);
    if (dims_.is_literal(id) || state_.count(id)) return;
    state_[id] = false;
    if (dims_.formula(id) && !usable(id)) dims_.drop_formula(id);
    if (dims_.formula(id)) {
      const Size size = dims_.formula(id)->size.canonical(dims_);
      for (const auto& [product, coefficient] : size.terms()) {
        for (const DimId part : product) visit(part);
      }
    }
    state_[id] = true;
    order.push_back(id);
  }
  std::vector<DimId> order;

 private:
  // No part may be waiting for this dim, the value must be right, and something other than a number must remain.
  bool usable(DimId id) {
    const Formula& formula = *dims_.formula(id);
    const Size size = formula.size.canonical(dims_);
    if (size.is_constant() || size.value() / formula.divisor + formula.plus != dims_.value(id)) return false;
    return !reaches(size, id, 0);
  }
  bool reaches(const Size& size, DimId id, int depth) {
    if (depth > 64) return true;
    for (const auto& [product, coefficient] : size.terms()) {
      for (const DimId part : product) {
        if (part == id || (state_.count(part) && !state_[part])) return true;
        const auto& formula = dims_.formula(part);
        if (formula && !state_.count(part) && reaches(formula->size.canonical(dims_), id, depth + 1)) return true;
      }
    }
    return false;
  }
  Dims& dims_;
  std::map<DimId, bool> state_;
};

std::string free_name(const std::vector<std::string>& hints, std::set<std::string>& taken) {
  for (const std::string& hint : hints) {
    if (!hint.empty() && taken.insert(hint).second) return hint;
  }
  const std::string base = hints.empty() || hints[0].empty() ? "N" : hints[0];
  for (int n = hints.empty() ? 1 : 2;; ++n) {
    const std::string name = n == 1 ? base : base + std::to_string(n);
    if (taken.insert(name).second) return name;
  }
}

// The letter usually used for a dim: H and W become p and q where `w` is a tensor.
std::vector<std::string> index_names(const std::string& dim, const std::set<std::string>& taken) {
  std::string base = dim;
  while (!base.empty() && std::isdigit(static_cast<unsigned char>(base.back()))) base.pop_back();
  for (char& c : base) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (base == "cg") return {"c"};
  if (base == "kg") return {"k"};
  const bool w_taken = taken.count("w") > 0;
  if (base == "h") return w_taken ? std::vector<std::string>{"p", "h"} : std::vector<std::string>{"h", "p"};
  if (base == "w") return {"w", "q"};
  if (base == "b") return {"b", "n"};
  if (base == "g") return {"g", "q"};
  return {base};
}

}  // namespace

DimNames name_dims(Draft& draft, const std::vector<DimId>& given) {
  Dims& dims = draft.dims();
  join_aliases(dims);
  DimOrder order(dims);
  const DimCollector mentioned(draft);
  for (const DimId id : given) order.visit(id);
  for (const DimId id : mentioned.dims()) order.visit(id);
  DimNames out;
  std::set<std::string> names;
  for (const DimId id : order.order) {
    const bool inlined = dims.is_inlined(id) && dims.formula(id);
    out.names.dims[id] = inlined ? formula_text(*dims.formula(id), out.names, dims) : free_name(dims.hints(id), names);
  }
  for (const DraftTensor& tensor : draft.tensors) {
    if (tensor.def < 0 && tensor.rolled < 0) out.names.taken.insert(tensor.name);
  }
  for (const auto& [id, name] : out.names.dims) {
    if (dims.is_inlined(id)) continue;
    out.names.indices[id] = index_names(name, out.names.taken);
    out.names.taken.insert(name);
  }
  out.order = order.order;
  for (const DimId id : order.order) {
    if (dims.is_given(id) || dims.is_inlined(id)) continue;
    const auto& formula = dims.formula(id);
    if (!formula || formula->divisor != 1 || formula->plus != 0) continue;
    const Size size = formula->size.canonical(dims);
    const auto& [product, coefficient] = *size.terms().begin();
    if (size.terms().size() == 1 && coefficient == 1) out.names.products.emplace(product, id);
  }
  return out;
}

}  // namespace solstice::importer
