// Reads and writes between equations, and where they leave the tensors of a group.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"

namespace solstice::propose {

struct Dataflow {
  std::vector<DType> formats;  // by tensor, in memory (storage.h)
  std::vector<std::optional<DType>> declared;
  std::vector<std::vector<int>> reads;    // equation -> tensors
  std::vector<std::vector<int>> readers;  // tensor -> equations
  std::vector<std::vector<int>> writers;  // tensor -> equations (pieces)

  explicit Dataflow(const ir::Program& program);
};

bool is_intermediate(const ir::Tensor& tensor);

// Tensors of `group` stay on chip where nobody outside reads them, the others go to memory.
void place_tensors(ir::Program& program, const Dataflow& flow, const std::vector<int>& group, int kernel);

}  // namespace solstice::propose
