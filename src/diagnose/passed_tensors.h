// Tensors that kernels of a program write for others of it, and what another cut saves by them.
#pragma once

#include <string>
#include <vector>

#include "diagnose/tool.h"

namespace solstice::diagnose {

struct PassedTensor {
  const TensorFacts* tensor = nullptr;
  const KernelView* writer = nullptr;
  std::vector<const KernelView*> readers;  // one at least
  double bytes_read_by_both = 0;           // of tensors that the readers read and the writer has read already
  // To memory and back, with what both read.
  double moved() const;
};

// Intermediates that run through memory on each call.
std::vector<PassedTensor> passed_tensors(const ProgramView& view);

// What is saved at most without these bytes of DRAM and L2, and without the readers' launches: the time of writer and
// readers beyond what the rest of their work takes by its bounds. Nothing where a time or a bound is not known.
std::optional<Seconds> most_saved(const PassedTensor& passed, double bytes);

// Of the program; open where it is not known.
GainBound gain_without_passing(const ProgramView& view, const PassedTensor& passed, double bytes, std::string because);

}  // namespace solstice::diagnose
