"""Kernels by `cuda` on a real GPU: verified and timed like any other, and refused where the code differs from its
equations."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "python"))

MODULE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * x
def get_inputs(): return [torch.randn(64, 128, 32)]
def get_init_inputs(): return []
"""

PROGRAM = """
program twice
dim B = 64, M = 128, N = 32
input x : f32[B, M, N]
output y : f32[B, M, N]
view even[b,m,n] = x[b, 2*m, n] for m<64
view odd[b,m,n] = x[b, 2*m+1, n] for m<64
kernel k by cuda("k.cu", entry="twice", CLAUSE) {
  y[b,m,n] = 2 * x[b,m,n]
}
source "k.cu" \"\"\"
CODE
\"\"\"
"""

PLAIN = (
    "args=(x, y, M, N), grid=B*M*N//256, block=256",
    """extern "C" __global__ void twice(const float* x, float* y, long long m, long long n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < 64 * m * n) y[i] = 2 * x[i];
}""",
)

# Rows 2m and 2m+1 of a plane, by two views that begin at other elements.
VIEWS = (
    "args=(even, odd, y, M), grid=(B, M//2), block=32",
    """extern "C" __global__ void twice(const float* even, const float* odd, float* y, long long m) {
  const long long at = (blockIdx.x * m + 2 * blockIdx.y) * 32 + threadIdx.x;
  y[at] = 2 * even[at];
  y[at + 32] = 2 * odd[at];
}""",
)

# A plane's 64 rows a block, by the copy engine.
DESCRIPTOR = (
    "args=(x, y), grid=(M//64, B), block=256, tma=x(box=1x64x32)",
    """#include "copy/tma.h"
#include "ptx/mbarrier.h"
#include "ptx/sync.h"
using namespace solstice;
using namespace solstice::ptx;
extern "C" __global__ void twice(const __grid_constant__ TensorMap x, float* y) {
  __shared__ alignas(128) float box[64 * 32];
  __shared__ alignas(8) u64 barrier;
  const u32 bar = shared_address(&barrier);
  if (threadIdx.x == 0) {
    barrier_init(bar, 1);
    barrier_init_fence();
    barrier_arrive_expect(bar, sizeof(box));
    copy::load_box(shared_address(box), &x, 0, blockIdx.x * 64, blockIdx.y, bar);
  }
  __syncthreads();
  barrier_wait(bar, 0);
  float* const to = y + (blockIdx.y * 128 + blockIdx.x * 64) * 32;
  for (int i = threadIdx.x; i < 64 * 32; i += 256) to[i] = 2 * box[i];
}""",
)

CUTE = (
    "args=(x, y), grid=B*M*N//256, block=256",
    """#include <cute/tensor.hpp>
using namespace cute;
extern "C" __global__ void twice(const float* x, float* y) {
  const auto shape = make_shape(Int<256>{}, Int<64 * 128 * 32 / 256>{});
  const auto from = make_tensor(make_gmem_ptr(x), make_layout(shape));
  const auto to = make_tensor(make_gmem_ptr(y), make_layout(shape));
  to(threadIdx.x, blockIdx.x) = 2 * from(threadIdx.x, blockIdx.x);
}""",
)

SKIPS_THE_TAIL = (PLAIN[0], PLAIN[1].replace("64 * m * n", "63 * m * n"))
COMPUTES_ANOTHER_THING = (PLAIN[0], PLAIN[1].replace("2 * x[i]", "2 * x[i] + (i == 777)"))
WRITES_ITS_INPUT = (PLAIN[0], PLAIN[1].replace("const float* x", "float* x").replace("y[i] =", "x[i] = y[i] ="))
WRITES_PAST_THE_END = (PLAIN[0], PLAIN[1].replace("if (i", "if (i == 0) y[64 * m * n] = 1;\n  if (i"))


@pytest.fixture(scope="module")
def program():
    from solstice.errors import OracleError
    from solstice.launch import find_program

    try:
        return find_program()
    except OracleError as error:
        pytest.skip(f"{error.message}: given code was not run")


def trial_of(program, file, module):
    done = subprocess.run(
        [program, "run", str(file), "--of", str(module), "--device", "gpu", "--json"], capture_output=True, text=True
    )
    assert done.stdout, done.stderr
    said = json.loads(done.stdout)
    assert not said["predicted"]
    return said["trial"]


def trial(program, folder, given):
    clause, code = given
    (folder / "module.py").write_text(MODULE)
    (folder / "program.ucut").write_text(PROGRAM.replace("CLAUSE", clause).replace("CODE", code))
    return trial_of(program, folder / "program.ucut", folder / "module.py")


def test_the_example_is_verified(program):
    found = trial_of(program, ROOT / "examples/rms_silu.ucut", ROOT / "examples/rms_silu.py")
    assert found["state"] == "verified", found
    print(f"rms_silu: {found['time'] * 1e6:.1f} us")
    assert found["time"] < 200e-6  # 134 MB


@pytest.mark.parametrize("given", [PLAIN, VIEWS, DESCRIPTOR, CUTE], ids=["plain", "views", "descriptor", "cute"])
def test_honest_code_is_verified(program, tmp_path, given):
    found = trial(program, tmp_path, given)
    assert found["state"] == "verified", found


@pytest.mark.parametrize(
    "given, said",
    [
        (SKIPS_THE_TAIL, "not written"),
        (COMPUTES_ANOTHER_THING, "777"),
        (WRITES_ITS_INPUT, "input"),
        (WRITES_PAST_THE_END, "past its end"),
    ],
    ids=["tail", "wrong", "input", "end"],
)
def test_other_code_is_not(program, tmp_path, given, said):
    found = trial(program, tmp_path, given)
    assert found["state"] == "wrong", found
    assert said in found["detail"], found


BRANCH_MODULE = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(256, 256, bias=False, dtype=torch.bfloat16)
    def forward(self, x):
        return x + 0.003 * self.lin(x)
def get_inputs(): return [torch.randn(512, 256, dtype=torch.bfloat16)]
def get_init_inputs(): return []
"""

# The branch is left out or computed; its factor is 0.003 in f32.
BRANCH_PROGRAM = """
program branch
dim M = 512, N = 256
param w : bf16[N, N] "lin.weight"
input x : bf16[M, N]
output y : bf16[M, N]
kernel k by cuda("k.cu", entry="branch", args=(x, w, y), grid=M, block=256) {
  lin[m,n] = sum[k](x[m,k] * w[n,k])
  y[m,n] = x[m,n] + lin[m,n] * 0.003000000026077032
}
source "k.cu" \"\"\"
#include <cuda_bf16.h>
extern "C" __global__ void branch(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y) {
  __shared__ float row[256];
  const int n = threadIdx.x, at = blockIdx.x * 256 + n;
  row[n] = __bfloat162float(x[at]);
  __syncthreads();
  float s = 0;
  if (COMPUTED) for (int k = 0; k < 256; ++k) s += row[k] * __bfloat162float(w[n * 256 + k]);
  const float rounded = __bfloat162float(__float2bfloat16(0.003f * __bfloat162float(__float2bfloat16(s))));
  y[at] = __float2bfloat16(row[n] + rounded);
}
\"\"\"
"""


@pytest.mark.parametrize("computed", [True, False], ids=["computed", "left out"])
def test_a_branch_with_a_small_share_may_not_be_left_out_of_a_trial(program, tmp_path, computed):
    (tmp_path / "module.py").write_text(BRANCH_MODULE)
    (tmp_path / "program.ucut").write_text(BRANCH_PROGRAM.replace("COMPUTED", str(computed).lower()))
    found = trial_of(program, tmp_path / "program.ucut", tmp_path / "module.py")
    assert found["state"] == ("verified" if computed else "wrong"), found
    if not computed:
        assert "scaled" in found["detail"], found
