#include "run/oracle_tensors.h"

#include <fmt/format.h>

namespace solstice::run {

Result<DeviceTensor> import_tensor(IpcImports& imports, const OracleTensor& tensor) {
  const auto wrong = [&](Code code, const std::string& what) {
    return fail(code, fmt::format("the oracle's {} `{}` {}", tensor.kind, tensor.name, what));
  };
  if (!tensor.is_tensor()) return wrong(Code::bad_record, "is no tensor");
  const std::optional<DType> dtype = storage_dtype(*tensor.dtype);
  if (!dtype) return wrong(Code::not_yet, "is complex, which is not supported yet");
  if (tensor.shape.size() != tensor.stride.size())
    return wrong(Code::bad_record, "has another number of strides than extents");
  DeviceTensor out{0, *dtype, tensor.shape, tensor.stride, tensor.physical_bytes};
  if (tensor.physical_bytes == 0) return out;
  if (tensor.handle_offset < 0 || tensor.handle_offset + tensor.physical_bytes > tensor.allocation_bytes) {
    return wrong(Code::bad_record, "does not lie inside its allocation");
  }
  SOLSTICE_TRY(const cu::DevicePtr base,
               imports.open(tensor.handle).context(fmt::format("importing `{}`", tensor.name)));
  out.address = base + static_cast<uint64_t>(tensor.handle_offset);
  return out;
}

}  // namespace solstice::run
