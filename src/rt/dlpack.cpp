#include "rt/dlpack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace solstice::rt {
namespace {

// DLDataTypeCode and bits of a storage format.
std::pair<int, int> dl_type(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
      return {2, size_of(dtype) * 8};
    case DType::kBF16:
      return {4, 16};
    case DType::kE4M3:
      return {10, 8};
    case DType::kE5M2:
      return {12, 8};
    case DType::kU8:
      return {1, 8};
    case DType::kBool:
      return {6, 8};
    default:
      return {0, size_of(dtype) * 8};
  }
}

std::vector<int64_t> strides_of(const DLTensor& tensor) {
  std::vector<int64_t> out(static_cast<size_t>(tensor.rank), 1);
  if (tensor.strides) return {tensor.strides, tensor.strides + tensor.rank};
  for (size_t i = out.size(); i-- > 1;) out[i - 1] = out[i] * tensor.shape[i];
  return out;
}

// The stride of an extent of 1 means nothing.
bool same_layout(const std::vector<int64_t>& shape, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

Result<void*> checked_address(const DLTensor& tensor, const PlanBuffer& buffer) {
  const auto wrong = [&](const std::string& what) {
    return fail(Code::bad_argument, fmt::format("tensor `{}`: {}", buffer.name, what));
  };
  if (tensor.device.type != 2 && tensor.device.type != 13) return wrong("is not on a CUDA device");
  const auto [code, bits] = dl_type(buffer.dtype);
  if (tensor.dtype.code != code || tensor.dtype.bits != bits || tensor.dtype.lanes != 1) {
    return wrong(fmt::format("has DLPack type ({}, {} bits), the plan was made for {}", tensor.dtype.code,
                             tensor.dtype.bits, name_of(buffer.dtype)));
  }
  const std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.rank);
  if (shape != buffer.shape) {
    return wrong(fmt::format("has shape [{}], the plan was made for [{}]", fmt::join(shape, ", "),
                             fmt::join(buffer.shape, ", ")));
  }
  const std::vector<int64_t> strides = strides_of(tensor);
  if (!same_layout(shape, strides, buffer.strides)) {
    return wrong(fmt::format("has strides [{}], the plan was made for [{}]", fmt::join(strides, ", "),
                             fmt::join(buffer.strides, ", ")));
  }
  return static_cast<void*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
}

}  // namespace solstice::rt
