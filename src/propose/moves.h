// Which schedule of which kernels to try next from a candidate, given all that was tried.
#pragma once

#include <vector>

#include "propose/formulation.h"
#include "search/tree.h"

namespace solstice::propose {

// Another option for kernels that are alike.
struct Move {
  std::vector<size_t> axes;
  size_t option = 0;
  bool repeats = false;  // it gained elsewhere; now it is tried with what else changed since
  double expected = 0;   // log2 of what the kernels gain, by memory of other problems; 0: it does not speak

  Choice applied_to(Choice choice) const;
};

// A candidate of a formulation that was proposed.
struct Tried {
  Choice choice;
  const search::Node* node = nullptr;  // null where it was skipped
  const Choice* parent = nullptr;      // what it was derived from, where that is of the same formulation
  std::optional<Seconds> parent_time;  // where that is usable
};

// Axes of kernels that are alike, repeated layers above all: the cost models say the same of the same schedules.
using Alike = std::vector<std::vector<size_t>>;
Alike alike(const std::vector<Axis>& axes);

// Of each option of each axis, what memory of other problems holds of it (search/memory.h); empty: there is none.
using Worth = std::vector<std::vector<double>>;
// log2 of what an axis is expected to gain by another option: 0 where that is within noise, or memory never met that option.
double expected_gain(const Worth& worth, size_t axis, size_t from, size_t to);

// From `from`, best first: what nobody tried yet, kernels in the order of their predicted time for each trial so far, options in
// the order of the cost models; then what gained where it was tried from the same option. Kernels that are alike change together:
// `groups` is alike(axes). Of what nobody tried, moves that gain by memory go first, those that save most by the cost models' time
// in front; moves that lose by memory go last, behind those that gained elsewhere.
std::vector<Move> moves_from(const std::vector<Axis>& axes, const Alike& groups, const Choice& from, const std::vector<Tried>& tried,
                             const Worth& worth = {});

}  // namespace solstice::propose
