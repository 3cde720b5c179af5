/* A stand-in for libsolstice_rt that works on host memory: y[i] = relu(x[i] * w[0]), n = 6.
 * Interface buffers: x, w, y. A plan whose text says "prepack" reads w at prepare, any other at launch.
 * It counts its calls, so that tests see what ran. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan {
  int prepack;
  float weight;
};

static int launches, prepares, live_plans;

int solstice_rt_abi(void) { return 1; }
int fake_launches(void) { return launches; }
int fake_prepares(void) { return prepares; }
int fake_live_plans(void) { return live_plans; }

int solstice_rt_load(const char* path, void** out, char* err, size_t err_len) {
  char text[4096] = "";
  FILE* file = fopen(path, "r");
  if (!file || fread(text, 1, sizeof text - 1, file) == 0) {
    strncpy(err, "no plan there", err_len);
    return 1;
  }
  fclose(file);
  struct plan* plan = calloc(1, sizeof *plan);
  plan->prepack = strstr(text, "prepack") != NULL;
  ++live_plans;
  *out = plan;
  return 0;
}
void solstice_rt_free(void* plan) {
  --live_plans;
  free(plan);
}
size_t solstice_rt_tensor_count(const void* plan) { return plan ? 3 : 0; }
size_t solstice_rt_workspace_bytes(const void* plan) { return plan ? 512 : 0; }

int solstice_rt_prepare(struct plan* plan, void* const* tensors, void* workspace, void* stream, char* err, size_t err_len) {
  (void)workspace, (void)stream, (void)err, (void)err_len;
  ++prepares;
  plan->weight = *(const float*)tensors[1];
  return 0;
}

int solstice_rt_launch(struct plan* plan, void* const* tensors, void* workspace, void* stream, char* err, size_t err_len) {
  (void)workspace, (void)stream;
  const float* x = tensors[0];
  const float w = plan->prepack ? plan->weight : *(const float*)tensors[1];
  float* y = tensors[2];
  ++launches;
  if (x[0] > 1e30f) {
    strncpy(err, "the kernel failed", err_len);
    return 2;
  }
  for (int i = 0; i < 6; ++i) y[i] = x[i] * w > 0 ? x[i] * w : 0;
  return 0;
}

/* solstice_rt_call */
struct call {
  struct plan* plan;
  void** tensors;
  void *workspace, *stream;
  const size_t* moving;
  size_t moving_count;
  char* err;
  size_t err_len;
};

int solstice_rt_relaunch(const struct call* call, void* const* moved) {
  for (size_t i = 0; i < call->moving_count; ++i) call->tensors[call->moving[i]] = moved[i];
  return solstice_rt_launch(call->plan, call->tensors, call->workspace, call->stream, call->err, call->err_len);
}
