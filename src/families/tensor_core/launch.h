// Arguments of launches on the tensor cores: tensor maps of any rank for the copy engine, and the epilogue's pointers.
#pragma once

#include <string>
#include <vector>

#include "families/family.h"
#include "families/tensor_core/epilogue.h"

namespace solstice::families::tensor_core {

Argument map_argument(TensorMap map);

// A tensor as the copy engine walks it: extents in elements, innermost first, strides in bytes of all but the
// innermost.
struct MappedTensor {
  std::string buffer;
  int64_t offset = 0;  // bytes
  DType dtype = DType::kF32;
  std::vector<int64_t> extents, strides;
};
// Tensor map of an operand, in boxes of 128 swizzled bytes by `box` elements of the further dimensions (1 where it
// names none).
TensorMap operand_map(MappedTensor tensor, const std::vector<int64_t>& box);
// Tensor map of output 0, in boxes of 16 rows x 32 columns.
TensorMap output_map(const ir::Program& program, const Product& product, const Epilogue& epilogue);

// Tensors that the epilogue reads, then those it writes.
void add_epilogue_pointers(const ir::Program& program, const codegen::EpilogueCode& epilogue, Step& step);

}  // namespace solstice::families::tensor_core
