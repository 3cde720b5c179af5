#include "rt/solstice_rt.h"

#include <algorithm>
#include <cstring>

#include "rt/dlpack.h"
#include "rt/executor.h"

using solstice::Error;
using solstice::ErrorKind;
using solstice::PlanBuffer;
using solstice::Result;
using solstice::Status;
using solstice::rt::Executor;

struct solstice_rt_plan {
  std::unique_ptr<Executor> executor;
  std::vector<std::string> kinds, dtypes;  // C strings of the interface buffers
};

namespace {

int answer(const Error& error, char* err, size_t err_len) {
  const std::string text = error.text();
  if (err && err_len > 0) {
    const size_t n = std::min(text.size(), err_len - 1);
    std::memcpy(err, text.data(), n);
    err[n] = '\0';
  }
  return error.kind() == ErrorKind::kInput ? 1 : error.kind() == ErrorKind::kEnvironment ? 2 : 3;
}

int answer(const Status& status, char* err, size_t err_len) {
  return status.ok() ? 0 : answer(status.error(), err, err_len);
}

Result<std::unique_ptr<solstice_rt_plan>> load(const char* path) {
  SOLSTICE_TRY(const solstice::rt::Driver* const driver, solstice::rt::cuda_driver());
  SOLSTICE_TRY(solstice::rt::LoadedPlan loaded, solstice::rt::load_plan(path));
  auto out = std::make_unique<solstice_rt_plan>();
  SOLSTICE_TRY(out->executor, Executor::create(*driver, std::move(loaded), 0, solstice::rt::profiler()));
  for (size_t i = 0; i < out->executor->tensor_count(); ++i) {
    const PlanBuffer& buffer = out->executor->tensor(i);
    out->kinds.emplace_back(enum_name(buffer.kind));
    out->dtypes.emplace_back(name_of(buffer.dtype));
  }
  return out;
}

const PlanBuffer* tensor(const solstice_rt_plan* plan, size_t i) {
  return plan && i < plan->executor->tensor_count() ? &plan->executor->tensor(i) : nullptr;
}

Result<std::vector<void*>> addresses(const solstice_rt_plan& plan, const DLTensor* const* tensors, size_t count) {
  std::vector<void*> out;
  for (size_t i = 0; i < count && i < plan.executor->tensor_count(); ++i) {
    SOLSTICE_TRY(void* const address, solstice::rt::checked_address(*tensors[i], plan.executor->tensor(i)));
    out.push_back(address);
  }
  out.resize(count);  // too many or too few: the executor says so
  return out;
}

}  // namespace

int solstice_rt_abi(void) { return SOLSTICE_RT_ABI; }

int solstice_rt_load(const char* plan_path, solstice_rt_plan** out, char* err, size_t err_len) {
  auto loaded = load(plan_path);
  *out = nullptr;
  if (!loaded.ok()) return answer(loaded.error(), err, err_len);
  *out = loaded->release();
  return 0;
}

void solstice_rt_free(solstice_rt_plan* plan) { delete plan; }

size_t solstice_rt_tensor_count(const solstice_rt_plan* plan) { return plan->executor->tensor_count(); }
const char* solstice_rt_tensor_name(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? tensor(plan, i)->name.c_str() : nullptr;
}
const char* solstice_rt_tensor_kind(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? plan->kinds[i].c_str() : nullptr;
}
const char* solstice_rt_tensor_path(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? tensor(plan, i)->path.c_str() : nullptr;
}
const char* solstice_rt_tensor_dtype(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? plan->dtypes[i].c_str() : nullptr;
}
int64_t solstice_rt_tensor_bytes(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? tensor(plan, i)->bytes : -1;
}
int64_t solstice_rt_tensor_alignment(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? tensor(plan, i)->alignment : -1;
}
int solstice_rt_tensor_rank(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? static_cast<int>(tensor(plan, i)->shape.size()) : -1;
}
const int64_t* solstice_rt_tensor_shape(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? tensor(plan, i)->shape.data() : nullptr;
}
const int64_t* solstice_rt_tensor_strides(const solstice_rt_plan* plan, size_t i) {
  return tensor(plan, i) ? tensor(plan, i)->strides.data() : nullptr;
}
size_t solstice_rt_workspace_bytes(const solstice_rt_plan* plan) {
  return static_cast<size_t>(plan->executor->workspace_bytes());
}

int solstice_rt_prepare(solstice_rt_plan* plan, void* const* tensors, void* workspace, void* stream, char* err,
                        size_t err_len) {
  return answer(plan->executor->prepare({tensors, plan->executor->tensor_count()}, workspace,
                                        static_cast<solstice::cu::Stream>(stream)),
                err, err_len);
}

int solstice_rt_launch(solstice_rt_plan* plan, void* const* tensors, void* workspace, void* stream, char* err,
                       size_t err_len) {
  return answer(plan->executor->launch({tensors, plan->executor->tensor_count()}, workspace,
                                       static_cast<solstice::cu::Stream>(stream)),
                err, err_len);
}

int solstice_rt_relaunch(const solstice_rt_call* call, void* const* moved) {
  for (size_t i = 0; i < call->moving_count; ++i) call->tensors[call->moving[i]] = moved[i];
  return solstice_rt_launch(call->plan, call->tensors, call->workspace, call->stream, call->err, call->err_len);
}

int solstice_rt_prepare_dl(solstice_rt_plan* plan, const DLTensor* const* tensors, size_t count, void* workspace,
                           void* stream, char* err, size_t err_len) {
  const auto found = addresses(*plan, tensors, count);
  if (!found.ok()) return answer(found.error(), err, err_len);
  return answer(plan->executor->prepare(*found, workspace, static_cast<solstice::cu::Stream>(stream)), err, err_len);
}

int solstice_rt_launch_dl(solstice_rt_plan* plan, const DLTensor* const* tensors, size_t count, void* workspace,
                          void* stream, char* err, size_t err_len) {
  const auto found = addresses(*plan, tensors, count);
  if (!found.ok()) return answer(found.error(), err, err_len);
  return answer(plan->executor->launch(*found, workspace, static_cast<solstice::cu::Stream>(stream)), err, err_len);
}
