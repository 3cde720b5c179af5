// The TVM-FFI entry of libsolstice_rt. TVM-FFI's own symbols are weak: without its library the entry still works, and
// an error is then only its return code. Types and numbers follow tvm/ffi/c_api.h.
#include <cstdint>
#include <string>
#include <vector>

#include "rt/dlpack.h"
#include "rt/solstice_rt.h"

namespace {

struct TVMFFIAny {
  int32_t type_index;
  uint32_t small_length;
  union {
    int64_t integer;
    void* pointer;
  };
};
static_assert(sizeof(TVMFFIAny) == 16);

constexpr int32_t kNone = 0, kInt = 1, kOpaquePointer = 4, kDLTensorPointer = 7, kTensorObject = 70;
constexpr size_t kObjectHeader = 24;  // reference counts, type index, deleter

}  // namespace

extern "C" {
[[gnu::weak]] void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
[[gnu::weak]] void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);
int __tvm_ffi_solstice_rt_launch(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);
}

namespace {

int raise(const char* kind, const char* message) {
  if (TVMFFIErrorSetRaisedFromCStr) TVMFFIErrorSetRaisedFromCStr(kind, message);
  return -1;
}

const DLTensor* tensor_of(const TVMFFIAny& any) {
  if (any.type_index == kDLTensorPointer) return static_cast<const DLTensor*>(any.pointer);
  if (any.type_index == kTensorObject)
    return reinterpret_cast<const DLTensor*>(static_cast<char*>(any.pointer) + kObjectHeader);
  return nullptr;
}

void* workspace_of(const TVMFFIAny& any) {
  if (const DLTensor* tensor = tensor_of(any)) return static_cast<char*>(tensor->data) + tensor->byte_offset;
  return any.type_index == kNone ? nullptr : any.pointer;
}

}  // namespace

int __tvm_ffi_solstice_rt_launch(void*, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  if (count < 2 || (args[0].type_index != kOpaquePointer && args[0].type_index != kInt)) {
    return raise("TypeError", "solstice_rt_launch(plan, workspace, tensor...): the plan must be an opaque pointer");
  }
  std::vector<const DLTensor*> tensors;
  for (int32_t i = 2; i < count; ++i) {
    const DLTensor* tensor = tensor_of(args[i]);
    if (!tensor)
      return raise("TypeError", ("solstice_rt_launch: argument " + std::to_string(i) + " is no tensor").c_str());
    tensors.push_back(tensor);
  }
  void* stream = nullptr;
  if (TVMFFIEnvGetStream && !tensors.empty())
    stream = TVMFFIEnvGetStream(tensors[0]->device.type, tensors[0]->device.id);
  char message[1024] = {};
  const int failed = solstice_rt_launch_dl(static_cast<solstice_rt_plan*>(args[0].pointer), tensors.data(),
                                           tensors.size(), workspace_of(args[1]), stream, message, sizeof message);
  if (failed) return raise(failed == 1 ? "ValueError" : "RuntimeError", message);
  result->type_index = kNone;
  result->small_length = 0;
  result->integer = 0;
  return 0;
}
