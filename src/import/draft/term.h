// Builders of terms, the right sides of equations. Rules compose terms with them; text/print.h writes them.
#pragma once

#include <string>
#include <vector>

#include "import/graph/checked.h"
#include "import/shape/expression.h"

namespace solstice::importer {

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

// f holds of one of the terms right below: arguments, and terms that indices read.
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
