#include "families/tensor_core/launch.h"

#include <algorithm>
#include <utility>

#include "families/emission.h"

namespace solstice::families::tensor_core {

Argument map_argument(TensorMap map) {
  Argument out;
  out.kind = ArgumentKind::kTensorMap;
  out.map = std::move(map);
  return out;
}

TensorMap operand_map(MappedTensor tensor, const std::vector<int64_t>& box) {
  constexpr int64_t kRow = 128;  // bytes: of a swizzled row of shared memory
  TensorMap map;
  map.buffer = std::move(tensor.buffer);
  map.offset = tensor.offset;
  map.dtype = tensor.dtype;
  map.box.assign(tensor.extents.size(), 1);
  map.box[0] = kRow / size_of(tensor.dtype);
  std::copy(box.begin(), box.end(), map.box.begin() + 1);
  map.extents = std::move(tensor.extents);
  map.strides = std::move(tensor.strides);
  map.swizzle = kRow;
  map.l2_promotion = 256;
  return map;
}

TensorMap output_map(const ir::Program& program, const Product& c, const Epilogue& epilogue) {
  const codegen::EpilogueStore& store = epilogue.code.stores.front();
  const DType dtype = *program.tensor(store.tensor).dtype;
  const int64_t bytes = size_of(dtype);
  TensorMap map;
  map.buffer = program.tensor(store.tensor).name;
  map.offset = store.base * bytes;
  map.dtype = dtype;
  const int64_t row = (c.m > 1 ? (*store.strides)[1] : (c.n + 7) / 8 * 8) * bytes;
  map.extents = {c.n, c.m, c.batches};
  map.strides = {row, c.batches > 1 ? (*store.strides)[0] * bytes : row * c.m};
  map.box = {32, 16, 1};
  map.swizzle = bytes == 4 ? 128 : bytes == 2 ? 64 : 0;
  return map;
}

void add_epilogue_pointers(const ir::Program& program, const codegen::EpilogueCode& epilogue, Step& step) {
  add_pointers(program, epilogue.reads, step);
  for (const codegen::EpilogueStore& store : epilogue.stores)
    step.arguments.push_back(pointer_to(program.tensor(store.tensor).name));
}

}  // namespace solstice::families::tensor_core
