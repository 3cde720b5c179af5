// Index: an integer expression over loops, sum(coefficient * atom) + offset. An atom is a loop, a floor division or
// remainder that could not be simplified away, or an integer tensor read (a gather). Ranges of loops are used to
// simplify: (D*h+d) // D is h where d < D.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "import/shape/dims.h"

namespace solstice::importer {

struct Term;
using TermRef = std::shared_ptr<const Term>;

// One index of an equation, or a placeholder of a value's axis. `hint` is its preferred name, "" for the dim's.
struct Loop {
  int id = -1;
  DimId dim = -1;
  int64_t extent = 1;
  std::string hint;
};

struct Atom;
using AtomRef = std::shared_ptr<const Atom>;

struct IndexTerm {
  Size coefficient;
  AtomRef atom;
};

struct Index {
  std::vector<IndexTerm> terms;
  Size offset;

  Index() = default;
  Index(Size constant) : offset(std::move(constant)) {}  // NOLINT: a size is an index
  Index(int64_t constant) : offset(constant) {}          // NOLINT: a number is an index
  bool is_constant() const { return terms.empty(); }
  const Loop* bare() const;  // the loop that this index is, or null
};

enum class AtomKind { kLoop, kDiv, kMod, kRead };

struct Atom {
  AtomKind kind = AtomKind::kLoop;
  Loop loop;
  Index inner;
  Size divisor;
  TermRef read;
  int64_t read_extent = 0;  // a gathered index lies in [0, read_extent)
};

struct IndexRange {
  int64_t low = 0;
  int64_t high = 0;  // inclusive
};

Index index_of(const Loop& loop);
Index index_of_read(TermRef read, int64_t extent);
Index operator+(const Index& a, const Index& b);
Index scale(const Index& a, const Size& factor);
Index floor_div(const Index& a, const Size& divisor, const Dims& dims);
Index modulo(const Index& a, const Size& divisor, const Dims& dims);
IndexRange range_of(const Index& index);

using Substitution = std::map<int, Index>;  // loop id -> what stands for it
Index substitute(const Index& index, const Substitution& by, const Dims& dims);

// Visits every loop of an index, those inside divisions and gathers included.
void collect_loops(const Index& index, std::map<int, Loop>& out);

}  // namespace solstice::importer
