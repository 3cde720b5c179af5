// Moves from a candidate: the schedules of its kernels to try next, given all that was tried.
#pragma once

#include <vector>

#include "propose/formulation/formulation.h"
#include "search/tree.h"

namespace solstice::propose {

// Another option for kernels that are alike.
struct Move {
  std::vector<size_t> axes;
  size_t option = 0;
  bool repeats = false;      // it gained elsewhere; now it is tried with what else changed since
  bool remembered = false;   // memory of other problems has met the option ...
  double expected = 0;       // ... and expects the kernels to gain so much, log2
  std::string advised = {};  // the finding that advises it, for people (moves/counsel.h) ...
  double promised = 0;       // ... and the gain of the whole program that it promises, log2

  Choice applied_to(Choice choice) const;
};

// "kernel gemm1: gemm(math=fp16x3)", "kernel gemm1 and 15 alike: ..".
std::string text_of(const std::vector<Axis>& axes, const Move& move);

// A candidate of a formulation that was proposed.
struct Tried {
  Choice choice;
  const search::Node* node = nullptr;  // null where it was skipped
  const Choice* parent = nullptr;      // its parent, where that is of the same formulation
  std::optional<Seconds> parent_time;  // where that is usable
};

// Axes of kernels that are alike, repeated layers above all: the cost models say the same of the same schedules.
using Alike = std::vector<std::vector<size_t>>;
Alike alike(const std::vector<Axis>& axes);

// Of each option of each axis, what memory of other problems holds of it (search/memory.h); empty: there is none.
using Worth = std::vector<std::vector<double>>;
// The time of an option, as far as memory knows better than the cost models.
Seconds corrected(const Axis& axis, const std::vector<double>& worth, size_t option);
// log2 of what it is expected to gain by another option.
double expected_gain(const Axis& axis, const std::vector<double>& worth, size_t from, size_t to);

// Of each group of kernels its fastest option, where that gains more than noise; none where nothing does.
std::vector<Move> fastest_options(const std::vector<Axis>& axes, const Alike& groups, const Choice& from,
                                  const Worth& worth = {});

// From `from`, best first: what nobody tried yet, kernels in the order of what they can lose (`headroom` of each axis,
// headroom_of(); the cost models' time where it is empty) for each trial so far, options in the order of the cost
// models; then what gained where it was tried from the same option. Kernels that are alike change together: `groups` is
// alike(axes). With memory the order of the options is that of the corrected times, and moves that it expects to gain
// go first, those that save most in front.
std::vector<Move> moves_from(const std::vector<Axis>& axes, const Alike& groups, const Choice& from,
                             const std::vector<Tried>& tried, const Worth& worth = {},
                             const std::vector<Seconds>& headroom = {});

}  // namespace solstice::propose
