"""`python -m solstice.calibrating`: ceilings of the current GPU, one JSON object on stdout.

Large streams, 8192-cubed products of random data and trains of tiny kernels through PyTorch, reads of a working set
that stays in L2 and barriers over all SMs through two kernels of our own, each timed with CUDA events after a warm-up;
the median of the repetitions counts. Clocks and power limits are left as they are, so the
product rates are those of a GPU that holds its power cap, as in real work.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from typing import Any, Callable, Optional

from . import bytecode

bytecode.keep()  # before PyTorch is imported
import torch  # noqa: E402

STREAM_BYTES = 4 << 30
PRODUCT = 8192
TRAIN = 1000
L2_SHARE = 4  # of the cache's size: far from its edge, and in both halves of it
PASSES = 64
BARRIERS = 2000

KERNELS = """
extern "C" __global__ void read_l2(const float4* data, long long count, int passes, float* out) {
  float sum = 0;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (int pass = 0; pass < passes; ++pass) {
    #pragma unroll 8
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
      float4 v;
      asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(data + i));
      sum += v.x + v.y + v.z + v.w;
    }
  }
  if (sum == -1.0f) *out = sum;
}

// One block on each SM, hence all of them resident.
extern "C" __global__ void barriers(unsigned* arrived, int count) {
  for (int i = 1; i <= count; ++i) {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(arrived) : "memory");
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
      } while (seen < (unsigned)i * gridDim.x);
    }
    __syncthreads();
  }
}
"""


def median_seconds(work: Callable[[], Any], repetitions: int = 20, warmups: int = 5) -> float:
    for _ in range(warmups):
        work()
    times = []
    for _ in range(repetitions):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def stream_rates(free_bytes: int) -> dict[str, float]:
    """Bytes a second; a copy counts what it reads and what it writes."""
    count = min(STREAM_BYTES, free_bytes // 4) // 4
    source, target = torch.rand(count, device="cuda"), torch.empty(count, device="cuda")
    size = 4 * count
    rates = {
        "copy": 2 * size / median_seconds(lambda: target.copy_(source)),
        "read": size / median_seconds(source.sum),
        "write": size / median_seconds(lambda: target.fill_(1.0)),
    }
    return rates


def product_rates() -> dict[str, float]:
    """Operations a second of a square product, an FMA counting two."""
    operations = 2.0 * PRODUCT**3
    rates = {}
    kinds = (
        ("simt.f32", torch.float32, False),
        ("tensor.tf32", torch.float32, True),
        ("tensor.f16", torch.float16, False),
        ("tensor.bf16", torch.bfloat16, False),
    )
    for name, dtype, tf32 in kinds:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a = torch.randn(PRODUCT, PRODUCT, device="cuda").to(dtype)
        b = torch.randn(PRODUCT, PRODUCT, device="cuda").to(dtype)
        rates[name] = operations / median_seconds(lambda: a @ b, repetitions=10)
    return rates


def launch_seconds() -> tuple[float, float]:
    """One more tiny kernel: on the device, in a graph of many; and on the host, as an eager call."""
    x = torch.zeros(32, device="cuda")
    for _ in range(100):
        x.add_(1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(TRAIN):
            x.add_(1)
    device = median_seconds(graph.replay) / TRAIN
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(TRAIN):
        x.add_(1)
    host = (time.perf_counter() - begin) / TRAIN
    torch.cuda.synchronize()
    return device, host


def kernel(name: str) -> Optional[Callable[..., None]]:
    """One of our own, compiled by PyTorch's NVRTC; None where this PyTorch does not offer that."""
    compile_kernel = getattr(torch.cuda, "_compile_kernel", None)
    return compile_kernel(KERNELS, name) if compile_kernel else None


def l2_read_rate(properties: Any) -> Optional[float]:
    """Bytes a second that all SMs together read from L2."""
    read = kernel("read_l2")
    if read is None:
        return None
    size = properties.L2_cache_size // L2_SHARE // 4096 * 4096
    data, out = torch.ones(size // 4, device="cuda"), torch.zeros(1, device="cuda")
    grid = (2 * properties.multi_processor_count, 1, 1)
    work = lambda: read(grid=grid, block=(1024, 1, 1), args=[data, size // 16, PASSES, out])
    return PASSES * size / median_seconds(work)


def grid_sync_seconds(properties: Any) -> Optional[float]:
    """One barrier over all SMs: the difference of two counts, so that the launch does not matter."""
    run = kernel("barriers")
    if run is None:
        return None
    arrived = torch.zeros(1, dtype=torch.int32, device="cuda")

    def seconds(count: int) -> float:
        def work() -> None:
            arrived.zero_()
            run(grid=(properties.multi_processor_count, 1, 1), block=(256, 1, 1), args=[arrived, count])

        return median_seconds(work, repetitions=10)

    return (seconds(2 * BARRIERS) - seconds(BARRIERS)) / BARRIERS


def measure() -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(0)
    free, _ = torch.cuda.mem_get_info()
    device, host = launch_seconds()
    streams = stream_rates(free)
    torch.cuda.empty_cache()
    return {
        "device": properties.name,
        **streams,
        "pipes": product_rates(),
        "launch": device,
        "eager_launch": host,
        "l2_read": l2_read_rate(properties),
        "grid_sync": grid_sync_seconds(properties),
        "versions": f"{driver_version()}CUDA {torch.version.cuda}, PyTorch {torch.__version__}",
    }


def rounded(value: Any) -> Any:
    """Four digits: more repeat in no second run."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def driver_version() -> str:
    try:
        with open("/proc/driver/nvidia/version") as file:
            found = re.search(r"\b(\d{3}\.\d+(\.\d+)?)\b", file.read())
    except OSError:
        return ""
    return f"driver {found.group(1)}, " if found else ""


def main() -> int:
    if not torch.cuda.is_available():
        print("no usable GPU", file=sys.stderr)
        return 3
    print(json.dumps(rounded(measure())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
