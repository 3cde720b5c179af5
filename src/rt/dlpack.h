// DLPack 1.x's DLTensor (the stable 48-byte view), and how it is checked against a plan's buffer.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "record/plan.h"

struct DLTensor {
  void* data;
  struct {
    int32_t type;  // 2: CUDA, 13: CUDA managed
    int32_t id;
  } device;
  int32_t rank;
  struct {
    uint8_t code;  // 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 e4m3fn, 12 e5m2
    uint8_t bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;  // elements; null: row-major
  uint64_t byte_offset;
};
static_assert(sizeof(DLTensor) == 48);

namespace solstice::rt {

// The address of the first element, once dtype, shape, strides and device fit. Error bad_argument.
Result<void*> checked_address(const DLTensor& tensor, const PlanBuffer& buffer);

}  // namespace solstice::rt
