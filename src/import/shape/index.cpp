#include "import/shape/index.h"

#include <algorithm>

#include "base/integer.h"
#include "import/graph/damage.h"

namespace solstice::importer {

namespace {

IndexRange range_of(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::kLoop:
      return {0, atom.loop.extent - 1};
    case AtomKind::kMod:
      return {0, atom.divisor.value() - 1};
    case AtomKind::kRead:
      return {0, atom.read_extent - 1};
    case AtomKind::kDiv: {
      const IndexRange inner = importer::range_of(atom.inner);
      return {solstice::floor_div(inner.low, atom.divisor.value()),
              solstice::floor_div(inner.high, atom.divisor.value())};
    }
  }
  return {};
}

struct Split {
  Index quotient;   // the part that the divisor divides, divided
  Index remainder;  // the rest
};

// Moves every term that the divisor divides, and the floor of the constant, to the quotient.
Split split_by(const Index& a, const Size& divisor, const Dims& dims) {
  Split out;
  for (const IndexTerm& term : a.terms) {
    if (auto exact = divide(term.coefficient, divisor, dims)) {
      out.quotient.terms.push_back({*exact, term.atom});
    } else {
      out.remainder.terms.push_back(term);
    }
  }
  if (auto exact = divide(a.offset, divisor, dims)) {
    out.quotient.offset = *exact;
  } else {
    const Size whole(solstice::floor_div(a.offset.value(), divisor.value()));
    out.quotient.offset = whole;
    out.remainder.offset = a.offset - whole * divisor;
  }
  return out;
}

bool within(const Index& index, const Size& divisor) {
  const IndexRange range = importer::range_of(index);
  return range.low >= 0 && range.high < divisor.value();
}

bool same_atom(const Atom& a, const Atom& b) {
  return a.kind == AtomKind::kLoop && b.kind == AtomKind::kLoop && a.loop.id == b.loop.id;
}

}  // namespace

Index index_of(AtomRef atom) {
  Index out;
  out.terms.push_back({Size(1), std::move(atom)});
  return out;
}

Index index_of(const Loop& loop) {
  if (loop.extent == 1) return Index(0);
  auto atom = std::make_shared<Atom>();
  atom->loop = loop;
  return index_of(atom);
}

Index index_of_read(TermRef read, int64_t extent) {
  if (read->kind == TermKind::kIndex) return read->indices[0];  // a loop alone is seen as one, and gets its range
  auto atom = std::make_shared<Atom>();
  atom->kind = AtomKind::kRead;
  atom->read = std::move(read);
  atom->read_extent = extent;
  return index_of(atom);
}

Index operator+(const Index& a, const Index& b) {
  Index out = a;
  out.offset = a.offset + b.offset;
  for (const IndexTerm& term : b.terms) {
    const auto found = std::find_if(out.terms.begin(), out.terms.end(),
                                    [&](const IndexTerm& t) { return same_atom(*t.atom, *term.atom); });
    if (found == out.terms.end()) {
      out.terms.push_back(term);
    } else {
      found->coefficient = found->coefficient + term.coefficient;
    }
  }
  return out;
}

Index scale(const Index& a, const Size& factor) {
  Index out;
  for (const IndexTerm& term : a.terms) out.terms.push_back({term.coefficient * factor, term.atom});
  out.offset = a.offset * factor;
  return out;
}

Index floor_div(const Index& a, const Size& divisor, const Dims& dims) {
  if (divisor.value() == 1) return a;
  if (divisor.value() < 1) damaged("a position divided by what is not positive");
  const Split split = split_by(a, divisor, dims);
  if (within(split.remainder, divisor)) return split.quotient;
  auto atom = std::make_shared<Atom>();
  atom->kind = AtomKind::kDiv;
  atom->inner = split.remainder;
  atom->divisor = divisor;
  return split.quotient + index_of(atom);
}

Index modulo(const Index& a, const Size& divisor, const Dims& dims) {
  if (divisor.value() == 1) return Index(0);
  if (divisor.value() < 1) damaged("a position divided by what is not positive");
  if (within(a, divisor)) return a;
  const Split split = split_by(a, divisor, dims);
  if (within(split.remainder, divisor)) return split.remainder;
  auto atom = std::make_shared<Atom>();
  atom->kind = AtomKind::kMod;
  atom->inner = split.remainder;
  atom->divisor = divisor;
  return index_of(atom);
}

IndexRange range_of(const Index& index) {
  IndexRange out{index.offset.value(), index.offset.value()};
  for (const IndexTerm& term : index.terms) {
    const IndexRange atom = range_of(*term.atom);
    const int64_t c = term.coefficient.value();
    const auto [low, high] = std::minmax({product_of(c, atom.low), product_of(c, atom.high)});
    out.low = sum_of(out.low, low);
    out.high = sum_of(out.high, high);
  }
  return out;
}

}  // namespace solstice::importer
