/* libsolstice_rt: loads a plan made by Solstice and runs it. C ABI; needs the CUDA driver (12.0 or newer) and nothing
 * else of CUDA.
 *
 * Every function that can fail returns 0, or a positive error class (1 bad input, 2 environment, 3 internal) with a
 * message of at most err_len - 1 bytes in err. Pointers of tensors are device addresses of the plan's interface
 * buffers in plan order; solstice_rt_tensor_name and its neighbours describe them. The caller owns outputs and
 * workspace and keeps them alive until the work is over. All calls use the CUDA context that is current in the
 * calling thread; a plan serves several contexts and may be called from several threads.
 *
 * prepare may allocate, runs what is done once (frozen weights) and returns when it is over. launch neither allocates
 * nor synchronises; it puts the work on `stream` (a CUstream, NULL: the legacy default stream) and may be captured in
 * a graph. A tensor that prepare used, or a workspace that keeps content, may not move without another prepare.
 * Under a profiler (NVTX_INJECTION64_PATH) each call and each of its steps is a range with its name.
 */
#ifndef SOLSTICE_RT_H
#define SOLSTICE_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOLSTICE_RT_ABI 1

typedef struct solstice_rt_plan solstice_rt_plan;
struct DLTensor; /* DLPack 1.x */

int solstice_rt_abi(void);

/* Reads plan.json and the cubins beside it. Needs a driver but no context yet. */
int solstice_rt_load(const char* plan_path, solstice_rt_plan** out, char* err, size_t err_len);
void solstice_rt_free(solstice_rt_plan* plan);

size_t solstice_rt_tensor_count(const solstice_rt_plan* plan);
/* NULL, or -1, where i is out of range. Strings live as long as the plan. */
const char* solstice_rt_tensor_name(const solstice_rt_plan* plan, size_t i);
const char* solstice_rt_tensor_kind(const solstice_rt_plan* plan, size_t i);  /* input, output, param, state */
const char* solstice_rt_tensor_path(const solstice_rt_plan* plan, size_t i);  /* "linear.weight", "" of others */
const char* solstice_rt_tensor_dtype(const solstice_rt_plan* plan, size_t i); /* "f32" */
int64_t solstice_rt_tensor_bytes(const solstice_rt_plan* plan, size_t i);
int64_t solstice_rt_tensor_alignment(const solstice_rt_plan* plan, size_t i);
int solstice_rt_tensor_rank(const solstice_rt_plan* plan, size_t i);
const int64_t* solstice_rt_tensor_shape(const solstice_rt_plan* plan, size_t i);
const int64_t* solstice_rt_tensor_strides(const solstice_rt_plan* plan, size_t i); /* elements */
size_t solstice_rt_workspace_bytes(const solstice_rt_plan* plan);                  /* 256-byte aligned, may be 0 */

int solstice_rt_prepare(solstice_rt_plan* plan, void* const* tensors, void* workspace, void* stream, char* err,
                        size_t err_len);
int solstice_rt_launch(solstice_rt_plan* plan, void* const* tensors, void* workspace, void* stream, char* err,
                       size_t err_len);

/* launch with all that stays the same laid down once, for callers to whom every argument is dear. The caller owns it
 * and what it points to, and calls with it from one thread at a time. */
typedef struct {
  solstice_rt_plan* plan;
  void** tensors; /* of the whole interface, in plan order */
  void* workspace;
  void* stream;
  const size_t* moving; /* places in `tensors` whose address comes with each launch */
  size_t moving_count;
  char* err;
  size_t err_len;
} solstice_rt_call;
/* Puts moved[i] into tensors[moving[i]] for all moving_count of them, then launches. */
int solstice_rt_relaunch(const solstice_rt_call* call, void* const* moved);

/* The same with DLPack tensors, whose dtype, shape, strides and device are checked against the plan. */
int solstice_rt_prepare_dl(solstice_rt_plan* plan, const struct DLTensor* const* tensors, size_t count, void* workspace,
                           void* stream, char* err, size_t err_len);
int solstice_rt_launch_dl(solstice_rt_plan* plan, const struct DLTensor* const* tensors, size_t count, void* workspace,
                          void* stream, char* err, size_t err_len);

/* TVM-FFI's calling convention: __tvm_ffi_solstice_rt_launch(plan, workspace, tensor...) with the plan as an opaque
 * pointer, the workspace as a tensor, an opaque pointer or None, and the interface tensors in plan order, on TVM-FFI's
 * current stream of their device. Works in any host; errors reach TVM-FFI where its library is loaded. */

#ifdef __cplusplus
}
#endif
#endif
