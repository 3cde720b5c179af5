// CUDA IPC handles as text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/cuda_types.h"

namespace solstice::rt {

std::string to_hex(const cu::IpcMemHandle& handle);
Result<cu::IpcMemHandle> handle_from_hex(std::string_view text);  // error bad_record

}  // namespace solstice::rt
