#include "import/draft/substitute.h"

#include "import/shape/index.h"

namespace solstice::importer {
namespace {

Index substitute_atom(const AtomRef& atom, const Substitution& by, const Dims& dims) {
  switch (atom->kind) {
    case AtomKind::kLoop: {
      const auto found = by.find(atom->loop.id);
      return found == by.end() ? index_of(atom) : found->second;
    }
    case AtomKind::kDiv:
      return floor_div(substitute(atom->inner, by, dims), atom->divisor, dims);
    case AtomKind::kMod:
      return modulo(substitute(atom->inner, by, dims), atom->divisor, dims);
    case AtomKind::kRead:
      return index_of_read(substitute(atom->read, by, dims), atom->read_extent);
  }
  return {};
}

}  // namespace

Index substitute(const Index& index, const Substitution& by, const Dims& dims) {
  Index out(index.offset);
  for (const IndexTerm& term : index.terms) {
    out = out + scale(substitute_atom(term.atom, by, dims), term.coefficient);
  }
  return out;
}

void collect_loops(const Index& index, std::map<int, Loop>& out) {
  for (const IndexTerm& term : index.terms) {
    const Atom& atom = *term.atom;
    if (atom.kind == AtomKind::kLoop) out.emplace(atom.loop.id, atom.loop);
    if (atom.kind == AtomKind::kRead) collect_loops(atom.read, out);
    collect_loops(atom.inner, out);
  }
}

TermRef substitute(const TermRef& term, const Substitution& by, const Dims& dims) {
  if (by.empty() || (term->indices.empty() && term->args.empty())) return term;
  Term out = *term;
  for (Index& index : out.indices) index = substitute(index, by, dims);
  for (TermRef& arg : out.args) arg = substitute(arg, by, dims);
  return std::make_shared<const Term>(std::move(out));
}

void collect_loops(const TermRef& term, std::map<int, Loop>& out) {
  for (const Loop& binder : term->binders) out.emplace(binder.id, binder);
  for (const Index& index : term->indices) collect_loops(index, out);
  for (const TermRef& arg : term->args) collect_loops(arg, out);
}

}  // namespace solstice::importer
