#include "families/tensor_core/launch.h"

#include "families/emission.h"

namespace solstice::families::gemm {

Argument map_argument(TensorMap map) {
  Argument out;
  out.kind = ArgumentKind::kTensorMap;
  out.map = std::move(map);
  return out;
}

TensorMap output_map(const ir::Program& program, const Problem& problem) {
  const Contraction& c = problem.product;
  const codegen::EpilogueStore& store = problem.epilogue.stores.front();
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

}  // namespace solstice::families::gemm
