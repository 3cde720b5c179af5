// Value: what a node of the graph yields, as a function of its axes. An axis is a product of digits (placeholder
// loops, outermost first; none for extent 1), so a reshape that splits or merges axes regroups digits and costs no
// equation. Reading a value at given indices substitutes its placeholders.
#pragma once

#include <vector>

#include "base/dtype.h"
#include "import/draft/substitute.h"
#include "import/draft/term.h"
#include "import/shape/index.h"

namespace solstice::importer {

struct Axis {
  std::vector<Loop> digits;

  int64_t extent() const;
};

using Axes = Checked<Axis>;
using Indices = Checked<Index>;

struct Value {
  Axes axes;
  TermRef term;
  DType dtype = DType::kF32;
  TermRef imaginary = nullptr;  // of a complex number, whose `term` is the real part; `dtype` is that of each

  int rank() const { return static_cast<int>(axes.size()); }
  const Axis& axis(int i) const;  // damage where there is none, as for every function here whose operands do not fit
  int64_t extent(int i) const { return axis(i).extent(); }
  bool is_empty() const;                             // without elements: only a concatenation reads it
  bool is_stored() const { return has_read(term); }  // false: a closed form (ones, arange, masks)
};

using Operands = Checked<Value>;
using Integers = Checked<int64_t>;

// Fresh loops and the algebra of axes. One for a program.
class Loops {
 public:
  explicit Loops(Dims& dims) : dims_(dims) {}

  Loop fresh(DimId dim, std::string hint = "");
  Loop window(int64_t extent, std::string hint);  // over a literal extent
  Axis fresh_axis(int64_t extent);                // a new dim, no digits for extent 1
  Axis axis_of(DimId dim, std::string hint = "");

  // Loops that run over axes of equal extent together: their common refinement, dims joined. Where the axes have
  // none (6*9 against 9*6), the digits of the first.
  Axis align(const std::vector<const Axis*>& axes);
  Axis align(const Axis& axis) { return align({&axis}); }

  Size size(const Axis& axis) const;   // product of its dims
  Index flat(const Axis& axis) const;  // position along the axis
  // The flattened axes re-cut into new extents of the same product; `old` says what the old digits become.
  std::vector<Axis> reshape(const std::vector<Axis>& axes, const std::vector<int64_t>& shape, Substitution& old);
  // Binds the digits of `axis` to those of the position `at` along it.
  void place(const Axis& axis, const Index& at, Substitution& out) const;

  Dims& dims() { return dims_; }
  const Dims& dims() const { return dims_; }

 private:
  Dims& dims_;
  int next_ = 0;
};

// The value at one position along each axis.
// Leading axes of extent 1 are added until there are `rank`.
void lift(Value& value, size_t rank);
TermRef read_at(const Value& value, const std::vector<Index>& at, const Loops& loops);

}  // namespace solstice::importer
