// A program while it is written: declarations, reads in every style that the language has, expressions over them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "property/kernels/sample.h"
#include "property/kernels/term.h"

namespace solstice::random_kernels {

struct Axis {
  std::string name;  // of the index
  int64_t extent = 1;
};
using Axes = std::vector<Axis>;

int64_t points_of(const Axes& axes);
std::vector<int64_t> shape_of(const Axes& axes);
std::string names_of(const Axes& axes);   // "i,j"
std::string ranges_of(const Axes& axes);  // "i<7, j<5"

// A tensor with all axes of an iteration space, in some order.
struct Whole {
  std::string tensor;
  std::vector<size_t> order;
  int64_t offset = 0;  // of the last one
  int merged = -1;     // this axis and the next are one dimension
};

// Something that an expression is made of.
using Leaf = std::function<Term()>;

class Draft {
 public:
  Draft(Random& numbers, const Sizes& most, bool is_exact, std::string name)
      : random(numbers), sizes(most), exact(is_exact), name_(std::move(name)) {}

  // Extents of so many axes, of at most `points` together.
  Axes axes(int count, int64_t points, const std::string& letters = "ijkl");
  int64_t extent(int64_t most);

  // Declares an input or param of this shape in a layout and format of its own; or a tensor that a kernel before fills.
  std::string input(const std::vector<int64_t>& shape);
  std::string integers(const std::vector<int64_t>& shape);  // i32 or i64
  std::string mask(const std::vector<int64_t>& shape);      // bool
  // Declares an output that holds `value`, which it clamps where the format is short of range. `turned`: in any order
  // of strides.
  std::string output(const std::vector<int64_t>& shape, Term& value, bool turned = true);
  // Writes the kernels that fill what the equations read.
  void finish();
  void declare(const std::string& line) { head += line + "\n"; }
  std::string fresh(const char* letter) { return letter + std::to_string(names_++); }

  // A read over some of these axes: broadcast, transposed, shifted, strided, reversed, padded, gathered ...
  Term read(const Axes& over);
  Whole whole(const Axes& over);
  Term read(const Whole& tensor, const Axes& over) const;
  Term whole_read(const Axes& over) { return read(whole(over), over); }
  // An input's value: what a read of one is known to be.
  Term stored(std::string text) const { return {std::move(text), true, 2, exact ? 1 : kAnyStep, false}; }

  std::string condition(const Leaf& leaf, const Axes& over);
  std::string index(const Axes& over);  // an integer
  Term real(int depth, const Leaf& leaf, const Axes& over);
  Term combined(Term a, Term b);
  // A reduction of a small window of an input that moves with these axes.
  Term window(const Axes& over);

  void define(const std::string& target, const std::string& at, const std::string& value, const Axes& over);

  Random& random;
  const Sizes sizes;
  const bool exact;  // inexact terms are not made
  std::string head, before, body;
  bool plain_layouts = false;  // the last axis of every tensor is contiguous, in the order of its dimensions

 private:
  struct Known {
    std::string name;
    std::vector<int64_t> shape;
  };
  std::string layout(const std::vector<int64_t>& shape, bool overlaps, bool turned);
  // The extent of a tensor that is read at `text` along one of its dimensions.
  std::pair<int64_t, std::string> place(const Axis& axis);
  Term padded_read(const Axes& over);
  bool fits(const Term& t) const { return (!exact || t.exact) && t.above <= kLargest; }

  // A tensor that a kernel of its own fills.
  struct Filled {
    std::string name, declarations, kernel;
    bool once = false;
  };
  std::string filled(const std::vector<int64_t>& shape);

  const std::string name_;
  std::vector<Known> known_;
  std::vector<Filled> filled_;
  int names_ = 0;
};

}  // namespace solstice::random_kernels
