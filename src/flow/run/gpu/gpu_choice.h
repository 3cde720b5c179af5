// --devices: which GPUs of this host measure candidates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solstice::flow {

// Numbers as the CUDA driver counts, that is, of those that CUDA_VISIBLE_DEVICES leaves.
struct GpuChoice {
  bool all = false;
  std::vector<int> ordinals = {};  // empty and not `all`: the module's alone
  bool given() const { return all || !ordinals.empty(); }
  std::string text() const;  // as it is parsed; "" where none is given
  bool operator==(const GpuChoice&) const = default;
};

// "0,1,3" or "all". Error bad_argument: empty, no number, or the same twice.
Result<GpuChoice> parse_gpu_choice(std::string_view text);

// The kind of a GPU: times of two GPUs of one kind may be compared.
struct GpuKind {
  std::string name;
  int multiprocessors = 0;
  bool operator==(const GpuKind&) const = default;
};

// The chosen ones beside `first`, on which PyTorch and the module are. Error no_gpu: one is not there, `first` is not
// among them, or one is of another kind.
Result<std::vector<int>> further_gpus(const GpuChoice& choice, int first, const std::vector<GpuKind>& visible);

}  // namespace solstice::flow
