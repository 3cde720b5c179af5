// Tensors that the oracle exported through CUDA IPC, as the judge reads them.
#pragma once

#include "record/oracle_messages.h"
#include "run/device_memory.h"

namespace solstice::run {

// Opens the tensor's allocation through `imports` (which keeps it open). Complex dtypes: error not_yet.
Result<DeviceTensor> import_tensor(IpcImports& imports, const OracleTensor& tensor);

}  // namespace solstice::run
