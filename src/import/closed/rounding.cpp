#include "import/closed/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include "import/closed/closed.h"
#include "ir/interpret/rounding.h"

namespace solstice::importer {
namespace {

using Change = std::function<TermRef(const TermRef&)>;

Index changed(const Index& index, const Change& change) {
  Index out = index;
  for (IndexTerm& part : out.terms) {
    if (part.atom->kind == AtomKind::kLoop) continue;
    auto atom = std::make_shared<Atom>(*part.atom);
    if (atom->read) atom->read = change(atom->read);
    atom->inner = changed(atom->inner, change);
    part.atom = std::move(atom);
  }
  return out;
}

TermRef changed_children(const TermRef& term, const Change& change) {
  auto out = std::make_shared<Term>(*term);
  for (Index& index : out->indices) index = changed(index, change);
  for (TermRef& arg : out->args) arg = change(arg);
  return out;
}

bool has_mark(const TermRef& term) { return term->is_storage || any_child(*term, has_mark); }

// Casts round or truncate, so they jump.
bool jumps(const Term& term) {
  static const std::set<std::string> kJumps = {
      "floor", "ceil", "round", "trunc",  "sign",   "//",     "%",      "<",    "<=",        ">",
      ">=",    "==",   "!=",    "argmax", "argmin", "argtop", "argbot", "fmod", "remainder", "floor_divide"};
  return !term.is_storage && (kJumps.count(term.text) > 0 || dtype_from_name(term.text).has_value());
}

TermRef without_marks(const TermRef& term) {
  if (!has_mark(term)) return term;
  if (term->is_storage) return without_marks(term->args[0]);
  return changed_children(term, without_marks);
}

bool agree(const TermRef& a, const TermRef& b) {
  const auto values = evaluated({a, b});
  if (!values) return false;
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::equal((*values)[0].begin(), (*values)[0].end(), (*values)[1].begin(), same);
}

TermRef tidied_jump(const TermRef& term);

// Under a jump whose marks matter: those that round nothing go, and those of jumps within that do not change.
TermRef keep_needed_casts(const TermRef& term) {
  if (!has_mark(term)) return term;
  if (jumps(*term)) return tidied_jump(term);
  const TermRef out = changed_children(term, keep_needed_casts);
  return out->is_storage && !has_read(out) && agree(out, out->args[0]) ? out->args[0] : out;
}

// A cast to integers truncates; where it does not fit, which another branch may hide, trunc goes on.
TermRef without_range(const TermRef& term) {
  const auto dtype = dtype_from_name(term->text);
  return dtype && is_integer(*dtype) ? importer::apply("trunc", term->args) : term;
}

TermRef tidied_jump(const TermRef& term) {
  if (!has_mark(term)) return term;
  TermRef plain = without_marks(term);
  if (!has_read(term) && agree(without_range(term), without_range(plain))) return plain;
  return changed_children(term, keep_needed_casts);
}

TermRef drop_casts(const TermRef& term) {
  if (!has_mark(term)) return term;
  if (jumps(*term)) return tidied_jump(term);
  return term->is_storage ? drop_casts(term->args[0]) : changed_children(term, drop_casts);
}

// Each tensor that the term reads, and whether a jump stands in between.
using Reader = std::function<void(int tensor, bool jumped)>;

void visit_reads(const TermRef& term, bool jumped, const Reader& visit) {
  if (term->kind == TermKind::kRead) visit(term->tensor, jumped);
  any_child(*term, [&](const TermRef& below) {
    visit_reads(below, jumped || jumps(*term), visit);
    return false;
  });
}

// Tensors that depend on no input: closed forms that a concatenation or their length made tensors, and what follows.
std::vector<bool> constants_of(const Draft& draft) {
  std::vector<bool> known(draft.tensors.size(), false), out(draft.tensors.size(), false);
  for (const DraftItem& item : draft.items) {
    if (!item.is_equation()) continue;
    const auto target = static_cast<size_t>(item.equation.tensor);
    bool constant = !known[target] || out[target];
    visit_reads(item.equation.rhs, false,
                [&](int tensor, bool) { constant = constant && out[static_cast<size_t>(tensor)]; });
    known[target] = true;
    out[target] = constant;
  }
  return out;
}

// The constants that a jump reads, or that others of them are computed from: they are rounded as closed forms are.
std::vector<bool> rounded_constants(const Draft& draft) {
  const std::vector<bool> constant = constants_of(draft);
  std::vector<bool> out(draft.tensors.size(), false);
  for (auto item = draft.items.rbegin(); item != draft.items.rend(); ++item) {
    if (!item->is_equation()) continue;
    const bool passes = out[static_cast<size_t>(item->equation.tensor)];
    visit_reads(item->equation.rhs, false, [&](int tensor, bool jumped) {
      const auto id = static_cast<size_t>(tensor);
      if (constant[id] && (jumped || passes)) out[id] = true;
    });
  }
  return out;
}

// Integers are exact up to 2^(bits of the significand).
bool is_exact(const Term& term, DType dtype) {
  const double most = 1 / unit_roundoff(dtype);
  if (term.kind == TermKind::kIndex) {
    const IndexRange range = range_of(term.indices[0]);
    return range.low >= -most && range.high <= most;
  }
  if (term.kind != TermKind::kLiteral) return false;
  const double value = std::strtod(term.text.c_str(), nullptr);
  return ir::rounded(dtype, value) == value;
}

}  // namespace

TermRef as_marked(DType dtype, TermRef term) {
  if (!is_float(dtype) || dtype == DType::kF64) return term;
  if (is_exact(*term, dtype) || (term->kind == TermKind::kPrefix && is_exact(*term->args[0], dtype))) return term;
  if (term->kind == TermKind::kApply && term->text == name_of(dtype)) return term;
  // Kernels compute what they store in 16 bits in f32.
  if (size_of(dtype) < 4) term = as_marked(DType::kF32, std::move(term));
  auto mark = std::make_shared<Term>(*apply(std::string(name_of(dtype)), {std::move(term)}));
  mark->is_storage = true;
  return mark;
}

bool is_jump(const Term& term) { return jumps(term); }

void settle_rounding(Draft& draft) {
  const std::vector<bool> rounded = rounded_constants(draft);
  for (DraftItem& item : draft.items) {
    if (!item.is_equation()) continue;
    DraftEquation& equation = item.equation;
    const auto target = static_cast<size_t>(equation.tensor);
    for (Index& index : equation.lhs) index = changed(index, drop_casts);
    equation.rhs = rounded[target] ? keep_needed_casts(as_marked(draft.tensors[target].dtype, equation.rhs))
                                   : drop_casts(equation.rhs);
  }
}

}  // namespace solstice::importer
