#include "rt/tensor_map.h"

#include <fmt/format.h>

#include <array>

namespace solstice::rt {
namespace {

// CUtensorMapDataType.
int type_of(const TensorMap& map) {
  if (map.tf32) return 11;
  switch (map.dtype) {
    case DType::kF64:
      return 8;
    case DType::kF32:
      return 7;
    case DType::kF16:
      return 6;
    case DType::kBF16:
      return 9;
    case DType::kI64:
      return 5;
    case DType::kI32:
      return 3;
    case DType::kI16:
      return 1;
    default:
      return 0;
  }
}

int swizzle_of(int bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }
int promotion_of(int bytes) { return bytes == 256 ? 3 : bytes == 128 ? 2 : bytes == 64 ? 1 : 0; }

}  // namespace

Status encode_tensor_map(const Driver& driver, const TensorMap& map, cu::DevicePtr base, cu::TensorMap& out) {
  std::array<uint64_t, 5> extents{}, strides{};
  std::array<uint32_t, 5> box{}, steps{1, 1, 1, 1, 1};
  const size_t rank = map.extents.size();
  for (size_t i = 0; i < rank; ++i) {
    extents[i] = static_cast<uint64_t>(map.extents[i]);
    box[i] = static_cast<uint32_t>(map.box[i]);
    if (i < map.strides.size()) strides[i] = static_cast<uint64_t>(map.strides[i]);
    if (i < map.element_strides.size()) steps[i] = static_cast<uint32_t>(map.element_strides[i]);
  }
  const cu::DevicePtr address = base + static_cast<uint64_t>(map.offset);
  if (address % 16 != 0) {
    return fail(Code::bad_argument,
                fmt::format("`{}` lies at {:#x}, and a TMA descriptor needs 16-byte alignment", map.buffer, address),
                "pass a copy of it, in memory of its own");
  }
  return driver.check(
      driver.cuTensorMapEncodeTiled(&out, type_of(map), static_cast<unsigned>(rank), reinterpret_cast<void*>(address),
                                    extents.data(), strides.data(), box.data(), steps.data(), 0,
                                    swizzle_of(map.swizzle), promotion_of(map.l2_promotion), map.nan_fill ? 1 : 0),
      fmt::format("encode the TMA descriptor of `{}`", map.buffer));
}

}  // namespace solstice::rt
