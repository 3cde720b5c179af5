// The kernels under test, instantiated by nvcc, and how a plan would launch them.
#pragma once

#include <vector>

#include "bench/gemm/problem.h"

struct Timing {
  bool split_a = true, split_b = true;  // false: planes left by an earlier run
  bool main = true, fallback = true;
};

// Planes, scales and guard words of one problem and one tile configuration; launch() is what a plan does per
// call.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void launch(const Timing& what, cudaStream_t stream) = 0;
};

struct Variant {
  const char* name;
  int tile_m, tile_n;
  Runner* (*make)(Data&);
};
const std::vector<Variant>& variants();
Runner* make_simt(Data& data);
