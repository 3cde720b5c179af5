// Term: the right side of an equation being built. Rules compose terms with the builders below; print.h writes them.
// Terms are immutable and shared.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/checked.h"
#include "import/shape/index.h"

namespace solstice::importer {

enum class TermKind {
  kLiteral,  // text
  kIndex,    // indices[0] used as a value
  kRead,     // tensor[indices], else args[0] if there is one
  kApply,    // text(args)
  kBinary,   // args[0] text args[1]
  kPrefix,   // text args[0]: "-", "not"
  kReduce,   // text[binders where args[1]](args[0]); of a ranking text[binders; args[1]](args[0])
};

struct Term {
  TermKind kind = TermKind::kLiteral;
  std::string text;
  int tensor = -1;
  std::vector<Index> indices;
  std::vector<Loop> binders;
  std::vector<TermRef> args;
  bool is_storage = false;  // a cast that PyTorch's storage implies; written only where a jump reads it (rounding.h)

  bool has_else() const { return kind == TermKind::kRead && !args.empty(); }
};

using Terms = Checked<TermRef>;

TermRef literal(std::string text);
TermRef integer(int64_t value);
TermRef real(double value);  // shortest text that reads back to the same double; inf; whole numbers as such
TermRef index_value(Index index);
TermRef size_value(const Size& size);
TermRef read(int tensor, std::vector<Index> at, TermRef otherwise = nullptr);
TermRef apply(std::string function, std::vector<TermRef> args);
TermRef binary(std::string op, TermRef a, TermRef b);
TermRef also(const TermRef& known, const TermRef& condition);  // `known and condition`; `known` may be null
TermRef negate(TermRef a);
TermRef logical_not(TermRef a);
TermRef reduce(std::string reducer, std::vector<Loop> binders, TermRef body, TermRef where = nullptr);
// argtop[binder; rank](body), or argbot: the index of that rank.
TermRef ranked(std::string ranking, Loop binder, TermRef body, Index rank);
bool is_ranking(const Term& term);
TermRef select(TermRef condition, TermRef yes, TermRef no);

TermRef operator+(const TermRef& a, const TermRef& b);
TermRef operator-(const TermRef& a, const TermRef& b);
TermRef operator*(const TermRef& a, const TermRef& b);
TermRef operator/(const TermRef& a, const TermRef& b);

TermRef substitute(const TermRef& term, const Substitution& by, const Dims& dims);
void collect_loops(const TermRef& term, std::map<int, Loop>& out);  // binders included
bool has_read(const TermRef& term);
bool is_truth(const Term& term);                 // a condition, not a number
bool is_number(const Term& term);                // a literal of digits, or minus one
bool is_longer(const TermRef& term, int nodes);  // written out, where shared parts count each time

template <class F>
bool any_read(const Index& index, const F& f) {
  for (const IndexTerm& part : index.terms) {
    if ((part.atom->read && f(part.atom->read)) || any_read(part.atom->inner, f)) return true;
  }
  return false;
}

// Whether f holds of one of the terms right below: arguments, and what indices read.
template <class F>
bool any_child(const Term& term, const F& f) {
  for (const TermRef& arg : term.args) {
    if (f(arg)) return true;
  }
  for (const Index& index : term.indices) {
    if (any_read(index, f)) return true;
  }
  return false;
}

}  // namespace solstice::importer
