// The clause of `by cuda(...)` against the kernel's equations and the machine: its rules as data (docs/legality.md).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "families/family.h"

namespace solstice::families::cuda {

// `grid`, `block` or `cluster` as written: a number, or a tuple of up to three.
struct Extents {
  bool given = false;
  bool integers = true;
  std::vector<int64_t> values = {1};

  int64_t count() const;
};

struct CudaLaunch {
  const Context* context = nullptr;
  std::vector<ir::KnobValue> args;
  bool has_args = false;
  std::set<int> needed;   // tensors that device code must be given
  std::set<int> allowed;  // and those that it may be
  Extents grid, block, cluster;
  int64_t shared = 0;  // bytes
  std::vector<ir::KnobValue> tma;
  std::string source, entry;
  bool has_entry = false;

  std::vector<std::pair<std::string, std::string>> knobs() const;
  int64_t most_shared() const { return static_cast<int64_t>(context->machine.shared_per_block.value); }
};

const std::vector<Rule<CudaLaunch>>& launch_rules();
CudaLaunch launch_of(const Context& context, const ir::Kernel& kernel);

}  // namespace solstice::families::cuda
