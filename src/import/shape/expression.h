// Terms and indices: the two kinds of expression that an equation is built of, immutable and shared.
//
// An index is an integer expression over loops, sum(coefficient * atom) + offset. An atom is a loop, a floor division
// or remainder that could not be simplified away, or an integer tensor read (a gather). A term is a right side; it
// reads tensors at indices, and a gather's index reads a term.
#pragma once

#include <cstdint>
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
  bool is_storage = false;  // a cast by PyTorch's storage, written only where a jump reads it (closed/rounding.h)

  bool has_else() const { return kind == TermKind::kRead && !args.empty(); }
};

}  // namespace solstice::importer
