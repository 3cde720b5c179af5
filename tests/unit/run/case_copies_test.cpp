#include "run/case_copies.h"

#include <gtest/gtest.h>

namespace solstice::run {
namespace {

DeviceTensor tensor_at(cu::DevicePtr address, int64_t bytes) { return {address, DType::kF32, {bytes / 4}, {1}, bytes}; }

TEST(CaseCopies, EveryTensorOnceWithItsLargestExtent) {
  JudgeCase first, second;
  first.given = {{"x", tensor_at(0x100, 64)}, {"w", tensor_at(0x500, 128)}};
  second.given = {{"x", tensor_at(0x200, 64)}, {"w", tensor_at(0x500, 256)}};
  first.expected["y"].oracle = tensor_at(0x300, 512);
  first.expected["y"].eager = tensor_at(0x100, 32);
  first.expected["y"].room = tensor_at(0x400, 16);
  second.expected["y"].oracle = tensor_at(0, 0);  // without elements
  std::vector<std::pair<cu::DevicePtr, int64_t>> found;
  for (const DeviceTensor& tensor : tensors_of({first, second})) found.emplace_back(tensor.address, tensor.bytes);
  EXPECT_EQ(found, (std::vector<std::pair<cu::DevicePtr, int64_t>>{
                       {0x100, 64}, {0x200, 64}, {0x300, 512}, {0x400, 16}, {0x500, 256}}));
}

}  // namespace
}  // namespace solstice::run
