// Cycles of a scheduler that a piece of machine code needs for one warp, by issue and by pipe: each pipe takes a warp's
// instruction for as many cycles as a quarter of an SM has too few lanes (CUDA C++ programming guide, throughput of
// arithmetic instructions; the lanes are those of the machine file).
#pragma once

#include <map>
#include <string>

#include "machine/machine.h"
#include "record/diagnosis/sass_facts.h"

namespace solstice::diagnose {

struct PipeCycles {
  double issue = 0;                          // one instruction a cycle
  std::map<std::string, double> pipes = {};  // "fma", "alu", "fp64", "xu"; others take no longer than issue
  double most() const;                       // of issue and pipes
};

PipeCycles cycles_of(const SassMix& mix, const machine::Machine& machine);
// Cycles that one instruction of this pipe takes; 1 of a pipe whose lanes the machine file does not say.
double cycles_of_pipe(const std::string& pipe, const machine::Machine& machine);

// What code gains at most by fewer instructions: `after` over `before`, by what bounds each, or by issue alone where
// nothing overlaps.
double most_gain(const PipeCycles& before, const PipeCycles& after);

}  // namespace solstice::diagnose
