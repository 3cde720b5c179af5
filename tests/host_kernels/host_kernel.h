// Runs an Emission on the host: generated sources are compiled with g++ against kernels/host/emulator.h, loaded and
// launched step by step.
#pragma once

#include <map>
#include <string>

#include "families/family.h"
#include "host_kernels/evaluate.h"

namespace solstice::testing {

// Fills inputs (those missing in `values`) with values in their dtype, runs `emission`, and gives the stored tensors
// widened to double. Tensors that are to be written start as a poison. Error: what the compiler said.
Result<Tensors> run_on_host(const ir::Program& program, const families::Emission& emission, const Tensors& values);

// Random inputs: reals from a normal distribution of this scale, rounded to their dtype; integers in [0, integers).
Tensors random_inputs(const ir::Program& program, unsigned seed, double scale = 1.0, int64_t integers = 4);

// Compares the outputs of both: NaN where and only where expected, Inf likewise, else |a-b| <= tolerance * (1 + |b|).
// "" if equal, else what differs first.
std::string difference(const ir::Program& program, const Tensors& got, const Tensors& expected, double tolerance);

}  // namespace solstice::testing
