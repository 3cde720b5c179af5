"""`python -m solstice.calibrating`: ceilings of the current GPU, one JSON object on stdout.

Large streams, 8192-cubed products of random data and trains of tiny kernels through PyTorch, each timed with CUDA
events after a warm-up; the median of the repetitions counts. Clocks and power limits are left as they are, so the
product rates are those of a GPU that holds its power cap, as in real work.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any, Callable

import torch

STREAM_BYTES = 4 << 30
PRODUCT = 8192
TRAIN = 1000


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
        "versions": f"CUDA {torch.version.cuda}, PyTorch {torch.__version__}",
    }


def main() -> int:
    if not torch.cuda.is_available():
        print("no usable GPU", file=sys.stderr)
        return 3
    print(json.dumps(measure()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
